# SPDX-License-Identifier: GPL-2.0-or-later
"""What is recorded of threads that are in a cgroup, always or for a while, and of the whole system.

    cgroup_test.py OFFWAIT WORKLOAD CGROUP_CHURN [test names]"""
import os
import signal
import sys
import tempfile
import time

import recording
import runner
from cgroup import Cgroup, mount
from truth import TruthCase

OFFWAIT, WORKLOAD, CHURN = sys.argv[1], sys.argv[2], sys.argv[3]

# Threads that sleep. At the end each prints a line of JSON that says when.
SLEEPERS = r"""
import json, os, sys, threading, time
def sleep():
    spans = []
    ready.wait()
    while not end.is_set():
        begin = time.monotonic_ns()
        time.sleep(0.02)
        spans.append((begin, time.monotonic_ns()))
    with lock: print(json.dumps({"tid": threading.get_native_id(), "sleeps": spans}))
lock, end, ready = threading.Lock(), threading.Event(), threading.Barrier(int(sys.argv[1]) + 1)
threads = [threading.Thread(target=sleep) for _ in range(int(sys.argv[1]))]
for thread in threads: thread.start()
ready.wait()
print(json.dumps({"ready": True, "pid": os.getpid()}), flush=True)
sys.stdin.readline()
end.set()
for thread in threads: thread.join()
print(json.dumps({"done": True}), flush=True)
"""


class Dumping:
    """A recording; `dump` is what it recorded, once it is over."""

    def __init__(self, *arguments):
        self.file = tempfile.NamedTemporaryFile(suffix=".txt")
        self.recorder = recording.start_offwait(OFFWAIT, ["dump", *arguments, "-o", self.file.name])
        self.dump = None

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        with self.file:
            self.recorder.send_signal(signal.SIGINT)
            _, errors = self.recorder.communicate()
            if kind is None:
                if self.recorder.returncode != 0:
                    raise AssertionError(f"offwait dump failed: {errors}")
                self.dump = recording.Dump(self.file.name)


def targets(dump):
    return [thread for thread in dump.threads if not thread.outside]


class CgroupTest(TruthCase):
    def setUp(self):
        if mount() is None:
            self.skipTest("no cgroup v2 here")
        self.cgroup = Cgroup()
        self.addCleanup(self.cgroup.remove)

    def workload(self, *arguments, cgroup=None):
        target = recording.Workload(WORKLOAD, arguments)
        self.addCleanup(target.end)
        if cgroup:
            cgroup.add(target.pid)
        return target

    def sleepers(self, threads, cgroup=None):
        target = recording.Workload(sys.executable, ["-c", SLEEPERS, str(threads)])
        self.addCleanup(target.end)
        if cgroup:
            cgroup.add(target.pid)
        return target

    def record(self, target, *arguments):
        with Dumping(*arguments) as recorded:
            self.recorder = recorded.recorder.pid
            truths = target.go()
        return recording.Run(recorded.dump, truths, target.pid)

    # --- which threads are recorded ---

    def test_all_of_the_subtree_and_nothing_else(self):
        child = Cgroup("a", in_=Cgroup("b", in_=self.cgroup))
        below = self.workload("condvar", cgroup=child)
        within = self.sleepers(1, cgroup=self.cgroup)
        with Cgroup("offwait-other") as other:
            beside = self.sleepers(1, cgroup=other)
            run = self.record(below, "-c", self.cgroup.path)
            beside.go()
            beside.process.wait()
        self.check(run)
        self.assertEqual({t.tgid for t in targets(run.dump)}, {below.pid, within.pid})
        self.assertNotIn(beside.pid, {t.tgid for t in run.dump.threads})
        within.go()

    def test_named_as_in_proc(self):
        for name in (self.cgroup.name, self.cgroup.name[1:]):
            self.check(self.record(self.workload("condvar", "--rounds", "100", cgroup=self.cgroup), "-c", name))

    def test_a_unit(self):
        service = Cgroup(f"unit-{os.getpid()}.service", in_=self.cgroup)
        for name in (f"unit-{os.getpid()}", f"unit-{os.getpid()}.service"):
            self.check(self.record(self.workload("condvar", "--rounds", "100", cgroup=service), "--unit", name))

    def test_exec(self):
        run = self.record(self.workload("exec_middle", cgroup=self.cgroup), "-c", self.cgroup.name)
        self.check(run)
        self.assertIn("after_exec", {t.comm for t in targets(run.dump)})
        self.check(self.record(self.workload("exec_middle", "--from-thread", cgroup=self.cgroup), "-c", self.cgroup.name))

    def test_short_threads(self):
        run = self.record(self.workload("fork_churn", "--count", "2000", cgroup=self.cgroup), "-c", self.cgroup.name)
        self.check(run, durations=False)
        self.check_joins(run, 2000)

    def test_the_whole_system(self):
        other = self.sleepers(2)
        run = self.record(self.workload("condvar"), "-a")
        self.check(run)
        mine = {t.tgid for t in targets(run.dump)}
        self.assertLessEqual({run.pid, other.pid, os.getpid()}, mine)
        self.assertNotIn(self.recorder, mine)
        self.assertEqual([t.comm for t in targets(run.dump) if t.comm.startswith("kworker/")], [])
        other.go()

    # --- which part of their time is recorded ---

    def check_sleeps(self, dump, truth, begin, end):
        """Checks the recording of a thread that was moved in and out; `begin` and `end` are each a pair of moments around the
        move."""
        expected, others = [], []
        for span in truth["sleeps"]:
            if begin[1] < span[0] < end[0]:
                expected.append(span)
            elif span[0] < begin[0] or span[0] > end[1]:
                others.append(span)
        self.assertGreaterEqual(len(expected), 10)
        waits = [w for w in dump.waits if w.tid == truth["tid"] and w.cls == "sleep"]
        self.assertEqual([sum(a <= w.block <= b for w in waits) for a, b in expected], [1] * len(expected))
        self.assertEqual([w for w in waits for a, b in others if a <= w.block <= b], [])
        lives = [t for t in targets(dump) if t.tid == truth["tid"]]
        self.assertEqual(len(lives), 1, lives)
        # The thread's life is from its first run in the cgroup to the run in which it was seen to have left.
        self.assertLessEqual(begin[0], lives[0].start)
        self.assertLessEqual(lives[0].start, waits[0].block)
        self.assertEqual(lives[0].exit, waits[-1].run)
        span = {"tid": truth["tid"], "begin_ns": lives[0].start, "end_ns": lives[0].exit}
        running, _, blocked, unknown = dump.states_of(span)
        self.assertGreaterEqual(running, 0)
        self.assertEqual(unknown, 0)
        self.assertGreaterEqual(blocked, sum(w.wake - w.block for w in waits))

    def moved(self, file, id_):
        """Moves a process or thread in for a while. Returns its truths, what was recorded, and the moments around each move."""
        inside = Cgroup("in", in_=self.cgroup)
        outside = Cgroup("out", in_=self.cgroup)
        if file == "cgroup.threads":
            inside.write("cgroup.type", "threaded")
            outside.write("cgroup.type", "threaded")
            inside, outside = outside, inside
        times = []

        def move(to):
            before = time.monotonic_ns()
            to.write(file, id_())
            times.append((before, time.monotonic_ns()))

        with Dumping("-c", inside.name) as recorded:
            time.sleep(0.3)
            move(inside)
            time.sleep(0.5)
            move(outside)
            time.sleep(0.3)
            truths = self.target.go()
        return truths, recorded.dump, times

    def test_a_process_moved_in_and_out(self):
        self.target = self.sleepers(3, cgroup=self.cgroup)
        truths, dump, times = self.moved("cgroup.procs", lambda: self.target.pid)
        self.assertEqual(len(truths), 3)
        for truth in truths:
            self.check_sleeps(dump, truth, *times)

    def test_a_thread_moved_in_and_out(self):
        self.target = self.sleepers(3, cgroup=self.cgroup)
        tid = max(map(int, os.listdir(f"/proc/{self.target.pid}/task")))
        truths, dump, times = self.moved("cgroup.threads", lambda: tid)
        self.assertEqual({t.tid for t in targets(dump)}, {tid})
        self.check_sleeps(dump, next(t for t in truths if t["tid"] == tid), *times)

    def test_200_processes_a_second_enter_and_leave(self):
        inside, outside = Cgroup("in", in_=self.cgroup), Cgroup("out", in_=self.cgroup)
        churn = recording.Workload(CHURN, [inside.path, outside.path, "1000", "200"])
        self.addCleanup(churn.end)
        run = self.record(churn, "-c", inside.name)
        self.check_churn(run, 5000)


if __name__ == "__main__":
    sys.exit(runner.run(sys.argv[4:]))
