#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""offwait export --format perfetto, decoded field by field and replayed as Perfetto's trace processor does. Needs no root."""

import collections
import json
import pathlib
import re
import shutil
import tempfile
import unittest

import harness
from export_test import ALL, UNIT, export, lines, messages, text_waits, unknown_fields
from harness import TRACES, TestCase

INTERRUPT = 0x08 | 0x10  # TRACE_FLAG_HARDIRQ, TRACE_FLAG_SOFTIRQ
IDLE = 0
STATES = {0: "R", 1: "S", 2: "D", 0x10: "X", 0x40: "P", 0x100: "R+"}


class Replay:
    """The states of threads that follow from scheduling events, as trace processor's thread_state_tracker.cc derives them.

    A number of a thread stands for a new thread after sched_process_free.
    """

    def __init__(self, trace):
        self.states = collections.defaultdict(list)  # by thread: [state, from, to or None, waker, in interrupt, io_wait, function]
        self.spurious = []
        self.mismatches = []
        self.lives = collections.Counter()
        self.on_cpu = {}
        symbols = {entry.iid: entry.str for packet in trace.packet for entry in packet.interned_data.kernel_symbols}
        self.symbols = symbols
        self.process_of = {thread.tid: thread.tgid for packet in trace.packet for thread in packet.process_tree.threads}
        events = []
        for packet in trace.packet:
            bundle = packet.ftrace_events
            times = [event.timestamp for event in bundle.event]
            assert times == sorted(times), "a bundle is in order of time"
            events += [(event.timestamp, bundle.cpu, event) for event in bundle.event]
        for at, cpu, event in sorted(events, key=lambda one: one[0]):
            getattr(self, event.WhichOneof("event"))(at, cpu, event)

    def life(self, tid):
        return (tid, self.lives[tid])

    def enter(self, tid, at, state, waker=None, interrupt=None):
        states = self.states[self.life(tid)]
        if states:
            states[-1][2] = at
        states.append([state, at, None, waker, interrupt, None, None])

    def sched_switch(self, at, cpu, event):
        switch = event.sched_switch
        if self.on_cpu.get(cpu, IDLE) != switch.prev_pid or event.pid != switch.prev_pid:
            self.mismatches.append(at)
        if switch.prev_pid != IDLE:
            self.enter(switch.prev_pid, at, STATES[switch.prev_state])
        if switch.next_pid != IDLE:
            self.enter(switch.next_pid, at, "Running")
        self.on_cpu[cpu] = switch.next_pid

    def sched_waking(self, at, _cpu, event):
        tid = event.sched_waking.pid
        states = self.states[self.life(tid)]
        if not states or states[-1][0] in ("Running", "R"):
            self.spurious.append((at, tid))
            return
        waker = self.states.get(self.life(event.pid), [])
        running = bool(waker) and waker[-1][0] == "Running"
        self.enter(tid, at, "R", (event.pid, running), bool(event.common_flags & INTERRUPT))

    def sched_blocked_reason(self, _at, _cpu, event):
        reason = event.sched_blocked_reason
        blocked = next(state for state in reversed(self.states[self.life(reason.pid)]) if state[0] in "SD")
        blocked[5] = reason.io_wait
        blocked[6] = self.symbols[reason.caller] if reason.caller else None

    def sched_process_free(self, at, _cpu, event):
        tid = event.sched_process_free.pid
        self.states[self.life(tid)][-1][2] = at
        self.lives[tid] += 1
        # A process ends with its main thread; events of its other threads would be those of strangers.
        if any(tgid == tid != other and self.life(other) in self.states for other, tgid in self.process_of.items()):
            self.mismatches.append(at)

    def sums(self, end):
        """Seconds by tid and state; what is open lasts to the end of the trace."""
        sums = collections.defaultdict(collections.Counter)
        for (tid, _), states in self.states.items():
            for state, begin, until, *_ in states:
                sums[tid][state] += (end if until is None else until) - begin
        return sums


def window(trace):
    return tuple(map(int, re.search(r"^window (\d+) (\d+)", pathlib.Path(trace).read_text("utf-8"), re.MULTILINE).groups()))


@unittest.skipUnless(shutil.which("protoc"), "needs protoc")
class Perfetto(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.proto = messages("perfetto")

    def decode(self, trace):
        decoded = self.proto.Trace.FromString(export("perfetto", trace))
        self.assertFalse(unknown_fields(decoded))
        return decoded

    def written(self, text):
        """A trace of this text, without its first line."""
        file = tempfile.NamedTemporaryFile("w", suffix=".txt")
        self.addCleanup(file.close)
        file.write("offwait-waits 1\n" + text)
        file.flush()
        return file.name

    def test_sequences(self):
        """Each begins with a packet that clears what was numbered; every number that is used was written before."""
        for trace in ALL:
            with self.subTest(trace.name):
                known = collections.defaultdict(set)
                flags = {}
                for packet in self.decode(trace).packet:
                    sequence = packet.trusted_packet_sequence_id
                    self.assertEqual(packet.sequence_flags, 2 if sequence in flags else 1)
                    self.assertEqual(packet.first_packet_on_sequence, sequence not in flags)
                    flags[sequence] = packet.sequence_flags
                    for field, entries in packet.interned_data.ListFields():
                        for entry in entries:
                            self.assertNotIn((field.name, entry.iid), known[sequence])
                            self.assertGreater(entry.iid, 0)
                            known[sequence].add((field.name, entry.iid))
                            if hasattr(entry, "str"):
                                self.harmless(entry.str.encode())
                    used = {("callstacks", packet.perf_sample.callstack_iid), ("callstacks", packet.track_event.callstack_iid),
                            ("event_names", packet.track_event.name_iid)}
                    used |= {("event_categories", iid) for iid in packet.track_event.category_iids}
                    used |= {("debug_annotation_names", one.name_iid) for one in packet.track_event.debug_annotations}
                    used |= {("kernel_symbols", event.sched_blocked_reason.caller) for event in packet.ftrace_events.event}
                    for stack in packet.interned_data.callstacks:
                        used |= {("frames", iid) for iid in stack.frame_ids}
                    for frame in packet.interned_data.frames:
                        used |= {("function_names", frame.function_name_id), ("mappings", frame.mapping_id),
                                 ("source_paths", frame.source_path_iid)}
                        self.assertEqual(frame.HasField("mapping_id"), frame.HasField("rel_pc"))
                    self.assertLessEqual({(name, iid) for name, iid in used if iid != 0}, known[sequence])

    def test_states_are_those_of_the_report(self):
        """Sums of thread_state by thread equal the analysis, which keeps false wakeups here, within 0.1 %."""
        names = {"Running": "running_s", "R": "runnable_s", "R+": "runnable_s", "S": "blocked_s", "D": "blocked_s"}
        for trace in ALL:
            with self.subTest(trace.name):
                replay = Replay(self.decode(trace))
                self.assertEqual(replay.spurious, [], "every waking wakes a thread that is blocked")
                self.assertEqual(replay.mismatches, [], "who leaves a CPU is who ran there")
                ours = collections.defaultdict(collections.Counter)
                for actor in lines(trace, "--no-merge", "--keep-false-wakeups")["actor"]:
                    for tid in actor["tids"]:
                        for name in ("running_s", "runnable_s", "blocked_s"):
                            ours[tid][name] += actor[name]
                theirs = replay.sums(window(trace)[1])
                for tid, sums in ours.items():
                    exported = collections.Counter()
                    for state, ns in theirs[tid].items():
                        if state in names:
                            exported[names[state]] += ns / 1e9
                    for name, seconds in sums.items():
                        self.assertAlmostEqual(exported[name], seconds, delta=max(1e-3 * seconds, 2e-9), msg=f"{tid} {name}")

    def test_figure1_has_its_wakers(self):
        """A is woken by B, who runs then; B by an interrupt of the disk, which is nobody's."""
        trace = self.decode(TRACES / "figure1.txt")
        replay = Replay(trace)
        woken = {tid: [(state[3], state[4]) for state in replay.states[tid, 0] if state[3] is not None] for tid in (11, 12)}
        by_b = [one for one in woken[11] if one == ((12, True), False)]
        self.assertEqual(len(by_b), sum(wait["tid"] == "11" and wait["waker"] == "thread:12" and wait["wake"] != "-"
                                        for wait in text_waits(TRACES / "figure1.txt")))
        self.assertEqual(len(by_b), 19)
        self.assertEqual({interrupt for (waker, _), interrupt in woken[11] if waker != 12}, {True})
        self.assertEqual(set(woken[12]), {((IDLE, False), True)})
        self.assertEqual(len(woken[12]), 19)  # the twentieth wait ends with the window
        blocked = {(tid, state[0], state[5], state[6]) for tid in (11, 12) for state in replay.states[tid, 0]
                   if state[0] in "SD" and state[2] is not None}
        self.assertIn((12, "D", 1, "folio_wait_bit_common"), blocked)
        self.assertIn((11, "S", 0, "futex_wait_queue"), blocked)

    def critical_path(self, replay, tid, begin, end):
        """What kept the thread from going on: itself or, while it was blocked, the thread that woke it."""
        states = replay.states[tid, 0]
        for state, after in zip(states, states[1:]):
            since, until = max(state[1], begin), min(state[2], end)
            if since >= until:
                continue
            if state[0] in "SD" and not after[4]:
                yield from self.critical_path(replay, after[3][0], since, until)
            else:
                yield (tid, state[0]), until - since

    def test_the_critical_path_of_figure1(self):
        """Half of what keeps A from going on is B's waiting for the disk, and another 30 % is B's work."""
        replay = Replay(self.decode(TRACES / "figure1.txt"))
        path = collections.Counter()
        begin, end = 1_010_000_000, 1_190_000_000  # whole cycles, in each of which A waits
        for what, length in self.critical_path(replay, 11, begin, end):
            path[what] += length
        self.assertEqual(sum(path.values()), end - begin)
        shares = {what: round(length / (end - begin), 3) for what, length in path.items()}
        self.assertEqual(shares, {(12, "D"): 0.5, (12, "Running"): 0.298, (11, "Running"): 0.2, (11, "S"): 0.002})

    def test_a_wait_for_a_packet_is_woken_once(self):
        """Its two entries are one blocked state; the interface ends it, and the sender has a flow to it."""
        trace = self.written("window 0 1000000\n"
                             "thread 1 tgid=1 comm=reader start=0 exit=-\nthread 2 tgid=2 comm=sender start=0 exit=-\n"
                             "wait 1 block=100000 wake=400000 run=400000 waker=thread:2 class=net\n"
                             "wait 1 block=400000 wake=500000 run=600000 waker=nic:lo class=net in_flight=yes\n")
        decoded = self.decode(trace)
        replay = Replay(decoded)
        self.assertEqual([(state[0], state[1]) for state in replay.states[1, 0]],
                         [("Running", 0), ("S", 100000), ("R", 500000), ("Running", 600000)])
        self.assertEqual((replay.spurious, replay.states[1, 0][2][4]), ([], True))
        self.assertEqual([names for names, _ in self.slices(decoded)["reader"]], ["net by sender", "packet in flight"])

    def slices(self, decoded):
        """Slices by the name of their track, as (name, (begin, end or None))."""
        tracks, names, found = {}, {}, collections.defaultdict(list)
        for packet in decoded.packet:
            track = packet.track_descriptor
            if track.uuid:
                self.assertNotIn(track.uuid, tracks)
                tracks[track.uuid] = track.thread.thread_name or track.name
            names.update({entry.iid: entry.str for entry in packet.interned_data.event_names})
            event = packet.track_event
            if event.type == event.SLICE_BEGIN:
                found[tracks[event.track_uuid]].append((names[event.name_iid], (packet.timestamp, None)))
            if event.type == event.SLICE_END:
                name, (begin, end) = found[tracks[event.track_uuid]][-1]
                self.assertIsNone(end)
                found[tracks[event.track_uuid]][-1] = (name, (begin, packet.timestamp))
        return found

    def test_waits_are_slices_with_flows(self):
        for trace in ALL:
            with self.subTest(trace.name):
                decoded = self.decode(trace)
                begin, end = window(trace)
                lengths = sum((end if until is None else until) - since for slices in self.slices(decoded).values()
                              for name, (since, until) in slices if not name.startswith("unknown"))
                exits = any(re.search(r"^thread .* exit=\d", line) for line in trace.read_text("utf-8").splitlines())
                if not exits:
                    self.assertEqual(lengths, sum(wait["wait_ns"] for wait in lines(trace)["wait"]))
                events = [(packet.timestamp, packet.track_event) for packet in decoded.packet if packet.HasField("track_event")]
                out = {flow: (at, event.track_uuid) for at, event in events for flow in event.flow_ids}
                into = {flow: (at, event.track_uuid) for at, event in events for flow in event.terminating_flow_ids}
                self.assertEqual(set(out), set(into))
                self.assertEqual({flow: at for flow, (at, _) in out.items()}, {flow: at for flow, (at, _) in into.items()})
                ended = [index + 1 for index, wait in enumerate(text_waits(trace))
                         if wait["waker"] != "-" and begin <= int(wait["wake"]) < end]
                if not exits:
                    self.assertEqual(sorted(out), ended)

    def test_samples_count_time_and_weight(self):
        for trace in ALL:
            with self.subTest(trace.name):
                decoded = self.decode(trace)
                samples = collections.defaultdict(list)
                defaults = {}
                for packet in decoded.packet:
                    if packet.HasField("trace_packet_defaults"):
                        defaults[packet.trusted_packet_sequence_id] = packet.trace_packet_defaults.perf_sample_defaults
                    if packet.HasField("perf_sample"):
                        samples[packet.trusted_packet_sequence_id].append((packet.timestamp, packet.perf_sample))
                names = {sequence: (one.timebase.name, [follower.name for follower in one.followers])
                         for sequence, one in defaults.items()}
                self.assertEqual(names[3], ("off_cpu_ns", ["weight_ns"]))
                self.assertLessEqual(set(samples), set(names))
                waits = [(at, sample.timebase_count, *sample.follower_counts) for at, sample in samples[3]]
                for counter in zip(*waits):
                    self.assertEqual(list(counter), sorted(counter), "counters and times only grow")
                speedscope = json.loads(export("speedscope", trace, "--keep-false-wakeups"))["profiles"]
                if waits:
                    self.assertAlmostEqual(waits[-1][1], speedscope[0]["endValue"], delta=2)
                    self.assertAlmostEqual(waits[-1][2], speedscope[1]["endValue"], delta=2 + 1e-9 * waits[-1][2])
                if 4 in names:
                    self.assertEqual([sample.timebase_count for _, sample in samples[4]],
                                     list(range(1, len(samples[4]) + 1)))
                    self.assertEqual(names[4], ("cpu_samples", []))

    def test_stacks_are_whole(self):
        decoded = self.decode(TRACES / "figure1.txt")
        functions, frames, stacks, used = {}, {}, {}, set()
        for packet in decoded.packet:
            if packet.trusted_packet_sequence_id != 3:
                continue
            functions.update({entry.iid: entry.str for entry in packet.interned_data.function_names})
            frames.update({frame.iid: functions[frame.function_name_id] for frame in packet.interned_data.frames})
            stacks.update({stack.iid: [frames[iid] for iid in stack.frame_ids] for stack in packet.interned_data.callstacks})
            if packet.perf_sample.tid == 12:
                used.add(packet.perf_sample.callstack_iid)
        self.assertEqual([stacks[iid] for iid in used],
                         [["B_main", "fdatasync", "__x64_sys_fdatasync", "ext4_sync_file", "file_write_and_wait_range",
                           "folio_wait_bit_common", "io_schedule", "schedule", "__schedule"]])

    def test_processes_and_threads(self):
        decoded = self.decode(UNIT / "processes.txt")
        [tree] = [packet.process_tree for packet in decoded.packet if packet.HasField("process_tree")]
        threads = {thread.tid: (thread.name, thread.tgid) for thread in tree.threads}
        processes = {process.pid for process in tree.processes}
        self.assertEqual(len(tree.threads), len(threads))
        self.assertLessEqual({tgid for _, tgid in threads.values()} - {0}, processes)
        tracks = {packet.track_descriptor.thread.tid: packet.track_descriptor for packet in decoded.packet
                  if packet.track_descriptor.HasField("thread")}
        self.assertEqual(set(tracks), set(threads))
        by_uuid = {packet.track_descriptor.uuid: packet.track_descriptor for packet in decoded.packet}
        for tid, track in tracks.items():
            self.assertEqual(by_uuid[track.parent_uuid].process.pid, threads[tid][1])

    def test_exits_gaps_and_reused_numbers(self):
        trace = self.written("window 1000 2000\n"
                             "recording kernel=6.1.0\n"
                             "thread 1 tgid=1 comm=main start=0 exit=-\n"
                             "thread 2 tgid=1 comm=first start=1100 exit=1300\n"
                             "thread 2 tgid=1 comm=second start=1400 exit=-\n"
                             "wait 1 block=900 wake=1200 run=1250 waker=thread:2 class=futex\n"
                             "unknown 1 from=1300 to=1350\n"
                             "preempt 1 out=1500 run=1600\n"
                             "wait 2 block=1200 wake=- run=- waker=- class=lock\n"
                             "wait 2 block=1450 wake=1450 run=1500 waker=timer class=sleep\n")
        replay = Replay(self.decode(trace))
        self.assertEqual([state[:3] for state in replay.states[1, 0]],
                         [["Running", 1000, 1000], ["S", 1000, 1200], ["R", 1200, 1250], ["Running", 1250, 1300],
                          ["P", 1300, 1350], ["Running", 1350, 1500], ["R+", 1500, 1600], ["Running", 1600, None]])
        self.assertEqual(replay.states[1, 0][2][3:5], [(2, True), False])
        self.assertEqual([state[:2] for state in replay.states[2, 0]],
                         [["Running", 1100], ["D", 1200], ["Running", 1300], ["X", 1300]])
        self.assertEqual([state[:2] for state in replay.states[2, 1]],
                         [["Running", 1400], ["S", 1450], ["R", 1450], ["Running", 1500]])
        self.assertEqual((replay.spurious, replay.mismatches), ([], []))

    def test_a_process_ends_with_its_last_thread(self):
        trace = self.written("window 1000 2000\n"
                             "thread 1 tgid=1 comm=main start=0 exit=1200\n"
                             "thread 2 tgid=1 comm=last start=0 exit=1500\n"
                             "thread 1 tgid=1 comm=again start=1600 exit=1900\n"
                             "wait 2 block=1100 wake=1300 run=1300 waker=timer class=sleep\n")
        decoded = self.decode(trace)
        freed = [(event.timestamp, event.sched_process_free.pid) for packet in decoded.packet
                 for event in packet.ftrace_events.event if event.HasField("sched_process_free")]
        self.assertEqual(sorted(freed), [(1500, 1), (1500, 2), (1900, 1)])
        replay = Replay(decoded)
        self.assertEqual([[state[:2] for state in replay.states[who]] for who in ((1, 0), (2, 0), (1, 1))],
                         [[["Running", 1000], ["X", 1200]],
                          [["Running", 1000], ["S", 1100], ["R", 1300], ["Running", 1300], ["X", 1500]],
                          [["Running", 1600], ["X", 1900]]])
        self.assertEqual((replay.spurious, replay.mismatches), ([], []))


if __name__ == "__main__":
    harness.main(needs_root=False)
