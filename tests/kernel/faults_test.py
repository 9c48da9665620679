# SPDX-License-Identifier: GPL-2.0-or-later
"""What is recorded when the recorder or the target is stopped or killed, or the clock is set:
faults_test.py OFFWAIT WORKLOAD SMALL_RING

OFFWAIT_KILLS is how often a recorder is killed, 12 by default."""
import collections
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import recording
import runner

OFFWAIT, WORKLOAD, SMALL_RING = sys.argv[1:4]
KILLS = int(os.environ.get("OFFWAIT_KILLS", "12"))
PLAIN = ["--no-stacks", "--sample-hz", "0"]
RING_BYTES, WAIT_BYTES = 16 << 20, 72


def programs():
    """The names of the loaded BPF programs that are offwait's."""
    listed = json.loads(subprocess.run(["bpftool", "prog", "show", "--json"], check=True, capture_output=True, text=True).stdout)
    return sorted(program["name"] for program in listed if program.get("name", "").startswith(("on_sched_", "on_block_")))


def pinned():
    """What is pinned in the file system of BPF objects."""
    return sorted(path for path, _, _ in os.walk("/sys/fs/bpf"))


def switches_of(pid):
    """How often the threads of a process have left their CPU, as the kernel counts it."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/status", encoding="ascii", errors="replace") as file:
            total += sum(int(line.split()[1]) for line in file if "ctxt_switches" in line)
    return total


class FaultsTest(unittest.TestCase):
    def start(self, *arguments):
        """A workload that waits for begin() or go()."""
        target = recording.Workload(WORKLOAD, list(arguments))
        self.addCleanup(target.process.wait)
        self.addCleanup(target.process.kill)
        return target

    def dump(self, file, pid, *more):
        recorder = recording.start_offwait(OFFWAIT, ["dump", "-p", str(pid), "-o", file, *more])
        self.addCleanup(recorder.wait)
        self.addCleanup(recorder.kill)
        return recorder

    def finish(self, recorder):
        recorder.send_signal(signal.SIGINT)
        _, errors = recorder.communicate()
        self.assertEqual(recorder.returncode, 0, errors)

    def check_number(self, waits, truth, dump):
        """The waits are as many as the kernel counted, but for those at the ends, and for what the host hid (truth.py)."""
        self.assertLessEqual(len(waits), truth["nvcsw"] + 5)
        self.assertGreaterEqual(len(waits), truth["nvcsw"] - dump.loss["switch_unseen"])

    def test_what_a_stopped_recorder_misses_is_counted(self):
        """Each time a thread leaves its CPU is in the recording, or among the records that were lost."""
        with tempfile.NamedTemporaryFile() as file:
            target = self.start("load", "--rate", "200000", "--seconds", "4")
            recorder = self.dump(file.name, target.pid, *PLAIN)
            truths = []
            work = threading.Thread(target=lambda: truths.extend(target.go()))
            before = switches_of(target.pid)
            os.kill(recorder.pid, signal.SIGSTOP)
            work.start()
            while work.is_alive() and switches_of(target.pid) < before + 2 * RING_BYTES // WAIT_BYTES:
                time.sleep(0.1)
            os.kill(recorder.pid, signal.SIGCONT)
            work.join()
            self.finish(recorder)
            dump = recording.Dump(file.name)
        truths = [truth for truth in truths if "nvcsw" in truth]
        switches = sum(truth["nvcsw"] + truth["nivcsw"] for truth in truths)
        seen = sum(len([one for one in dump.preemptions if one.tid == truth["tid"] and one.begin >= truth["begin_ns"]]) +
                   len(dump.waits_of(truth)) for truth in truths)
        lost = dump.loss["ringbuf_full"]
        self.assertGreater(lost, switches // 4)
        self.assertGreaterEqual(seen + lost + dump.loss["switch_unseen"], switches)
        # Records of threads outside of the target are among the lost ones, too.
        self.assertLess(seen + lost - switches, 1000)

    def test_ring_buffers_of_one_page(self):
        """Whatever the size of the ring buffers, what they have no room for is counted."""
        target = self.start("load", "--rate", "20000", "--seconds", "2")
        recorder = subprocess.Popen([SMALL_RING, str(target.pid)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(recorder.kill)
        self.assertEqual(recorder.stdout.readline(), "recording\n")
        truths = [truth for truth in target.go() if "nvcsw" in truth]
        output, _ = recorder.communicate("end\n")
        recorded = json.loads(output)
        switches = sum(truth["nvcsw"] + truth["nivcsw"] for truth in truths)
        seen = sum(recorded["intervals"].get(str(truth["tid"]), 0) for truth in truths)
        self.assertGreater(seen, 1000)
        self.assertGreaterEqual(seen + recorded["lost"], switches)
        # Records of threads outside of the target are among the lost ones, too.
        self.assertLess(seen + recorded["lost"] - switches, 1000)
        self.assertGreater(recorded["lost"], 1000)

    def test_a_stopped_target_waits_for_the_signal_to_continue(self):
        """A thread that SIGSTOP stops waits once, for whoever sends SIGCONT, and not for what its call waits for."""
        with tempfile.NamedTemporaryFile() as file:
            target = self.start("load", "--rate", "20000", "--seconds", "2")
            recorder = self.dump(file.name, target.pid, *PLAIN)
            truths = []
            work = threading.Thread(target=lambda: truths.extend(target.go()))
            work.start()
            time.sleep(0.5)
            os.kill(target.pid, signal.SIGSTOP)
            time.sleep(0.5)
            before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            os.kill(target.pid, signal.SIGCONT)
            after = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            work.join()
            self.finish(recorder)
            dump = recording.Dump(file.name)
        own = f"thread:{threading.get_native_id()}"
        truths = [truth for truth in truths if "nvcsw" in truth]
        self.assertEqual(len(truths), 4)
        for truth in truths:
            waits = dump.waits_of(truth)
            self.check_number(waits, truth, dump)
            stops = [wait for wait in waits if wait.wake - wait.block > 450_000_000]
            self.assertEqual(len(stops), 1)
            self.assertEqual((stops[0].cls, stops[0].waker, stops[0].object), ("stopped", own, None))
            self.assertLess(before, stops[0].wake)
            self.assertLess(stops[0].wake, after)

    def test_a_step_of_the_wall_clock_changes_nothing(self):
        """The clock is set back by an hour, for a moment. Then no timer of the machine goes off before its time."""
        with tempfile.NamedTemporaryFile() as file:
            target = self.start("nanosleep", "--threads", "2", "--rounds", "400", "--sleep-us", "2000")
            begin = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            recorder = self.dump(file.name, target.pid, *PLAIN)
            truths = []
            work = threading.Thread(target=lambda: truths.extend(target.go()))
            work.start()
            time.sleep(0.4)
            self.set_wall_clock_back_for_a_moment()
            work.join()
            self.finish(recorder)
            end = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            dump = recording.Dump(file.name)
        self.assertLess(begin, dump.begin)
        self.assertLess(dump.end, end)
        self.assertEqual(len(truths), 2)
        for truth in truths:
            waits = dump.waits_of(truth)
            self.check_number(waits, truth, dump)
            sleeps = [wait.wake - wait.block for wait in waits if wait.cls == "sleep"]
            self.assertGreater(len(sleeps), 380)
            self.assertLess(max(sleeps), 200_000_000)

    def set_wall_clock_back_for_a_moment(self):
        def beyond_monotonic():
            return time.clock_gettime_ns(time.CLOCK_REALTIME) - time.clock_gettime_ns(time.CLOCK_MONOTONIC)

        before = beyond_monotonic()
        try:
            time.clock_settime_ns(time.CLOCK_REALTIME, time.clock_gettime_ns(time.CLOCK_REALTIME) - 3600 * 10**9)
        except PermissionError:
            self.skipTest("the clock may not be set here")
        try:
            time.sleep(0.01)
        finally:
            time.clock_settime_ns(time.CLOCK_REALTIME, before + time.clock_gettime_ns(time.CLOCK_MONOTONIC))
        self.assertLess(abs(beyond_monotonic() - before), 10**7)

    def test_a_killed_recorder_leaves_nothing_behind(self):
        """SIGKILL at any time detaches the programs: they belong to descriptors of the process. What the file has can be read."""
        target = self.start("load", "--rate", "20000", "--seconds", "600")
        target.begin()
        before = programs(), pinned()
        ends = collections.Counter()
        with tempfile.TemporaryDirectory() as directory:
            file = os.path.join(directory, "killed.offwait")
            for _ in range(KILLS):
                recorder = subprocess.Popen([OFFWAIT, "record", "-q", "-p", str(target.pid), "-d", "1300ms", "-o", file])
                time.sleep(random.uniform(0, 3))
                recorder.kill()
                recorder.wait()
                ends[self.kind_of(file)] += 1
                if os.path.exists(file):
                    os.remove(file)
        deadline = time.monotonic() + 10  # the kernel frees programs after a grace period
        while (programs(), pinned()) != before and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertEqual((programs(), pinned()), before)
        self.assertGreater(len(ends), 1, ends)
        print(f"{KILLS} times killed:", ", ".join(f"{count} {kind}" for kind, count in sorted(ends.items())))

    def kind_of(self, file):
        """What the end of its recorder made of a file."""
        if not os.path.exists(file):
            return "no recording"
        done = subprocess.run([OFFWAIT, "dump", file, "-o", file + ".txt"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            self.assertRegex(done.stderr, ": nothing was recorded yet")
            return "before the first second"
        dump = recording.Dump(file + ".txt")
        self.assertGreater(dump.end, dump.begin)
        marked = "was interrupted" in done.stderr
        self.assertTrue(marked or len(dump.waits) > 10_000)
        return "interrupted" if marked else "complete"

    def test_two_recorders_of_one_target_see_the_same(self):
        with tempfile.NamedTemporaryFile() as one, tempfile.NamedTemporaryFile() as other:
            target = self.start("load", "--rate", "20000", "--seconds", "1")
            recorders = [self.dump(file.name, target.pid, *PLAIN) for file in (one, other)]
            truths = [truth for truth in target.go() if "nvcsw" in truth]
            for recorder in recorders:
                self.finish(recorder)
            dumps = [recording.Dump(file.name) for file in (one, other)]
        for truth in truths:
            counts = [len(dump.waits_of(truth)) for dump in dumps]
            self.assertEqual(counts[0], counts[1])
            self.assertGreater(counts[0], 4000)

    def test_the_target_is_killed(self):
        """The recording ends with the target, and has its waits up to then."""
        with tempfile.NamedTemporaryFile() as file:
            target = self.start("load", "--rate", "20000", "--seconds", "60")
            recorder = self.dump(file.name, target.pid, *PLAIN)
            target.begin()
            time.sleep(1)
            killed = time.monotonic_ns()
            target.process.kill()
            _, errors = recorder.communicate(timeout=60)
            self.assertEqual(recorder.returncode, 0, errors)
            dump = recording.Dump(file.name)
        ends = {thread.exit for thread in dump.threads if thread.tgid == target.pid}
        self.assertNotIn(recording.NEVER, ends)
        last = max(wait.run for wait in dump.waits if wait.run != recording.NEVER)
        self.assertTrue(killed - 500_000_000 < last <= max(ends), (killed, last, ends))
        self.assertGreater(len(dump.waits), 10_000)


if __name__ == "__main__":
    sys.exit(runner.run(sys.argv[4:], ["bpftool"]))
