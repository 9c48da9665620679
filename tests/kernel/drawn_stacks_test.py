# SPDX-License-Identifier: GPL-2.0-or-later
"""Stacks of waits that are drawn by their length.

    drawn_stacks_test.py OFFWAIT MIXED_WAITS"""
import collections
import os
import subprocess
import sys
import tempfile
import unittest

import recording
import runner

OFFWAIT, MIXED_WAITS = sys.argv[1:3]
NAPS = ["short_nap"] * 5 + ["long_nap"]
ASKS = ["ask_quick", "ask_slow"]


def function_of(stack):
    """The function of the workload in which the thread waits."""
    return next((name for name in NAPS + ASKS if name + "()+" in stack), None)


def where_they_were(waits):
    """The waits of the main thread with the functions that they were in, which follow from their order: six naps, and then one
    wait for an answer or two, because a quick one may be there at once. What does not fit is left out."""
    rounds, naps, asks = [], [], []
    for wait in waits:
        if wait.waker != "timer":
            asks.append(wait)
            continue
        if asks:
            rounds.append((naps, asks))
            naps, asks = [], []
        naps.append(wait)
    return [(name, wait) for naps, asks in rounds if len(naps) == len(NAPS) and len(asks) <= len(ASKS)
            for name, wait in [*zip(NAPS, naps), *zip(ASKS[-len(asks):], asks)]]


class DrawnStacksTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open("/sys/kernel/btf/vmlinux", "rb") as types:
            if b"btf_trace_sched_exit_tp" not in types.read():
                raise unittest.SkipTest("the kernel has no sched_exit_tp: all stacks are taken")
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "dump")
            # So little that most is left to chance, from the first second on.
            subprocess.run([OFFWAIT, "dump", "--max-overhead", "1%", "--sample-hz", "0", "-d", "8s", "--output", path,
                            "--", MIXED_WAITS], check=True, stdout=subprocess.DEVNULL)
            cls.dump = recording.Dump(path)
            with open(path, encoding="ascii") as lines:
                cost = next(line for line in lines if line.startswith("cost "))
        cls.cost = dict(word.split("=", 1) for word in cost.split()[1:])
        cls.tids = {thread.comm: thread.tid for thread in cls.dump.threads if not thread.outside}
        cls.main = min(thread.tid for thread in cls.dump.threads if thread.tid == thread.tgid and not thread.outside)
        waits = [wait for wait in cls.dump.waits if wait.tid == cls.main and wait.wake != recording.NEVER]
        cls.waits = where_they_were(sorted(waits, key=lambda wait: wait.block))

    def test_most_stacks_are_left_out(self):
        with_stacks, without = (int(self.cost[name]) for name in ("waits_with_stacks", "waits_without_stacks"))
        self.assertGreater(with_stacks, 500)
        self.assertGreater(without, with_stacks)

    def test_the_time_of_each_function_is_as_its_waits_were(self):
        truth, found = collections.Counter(), collections.Counter()
        for name, wait in self.waits:
            truth[name] += wait.wake - wait.block
            found[function_of(wait.stack)] += wait.wake - wait.block
        self.assertGreater(sum(truth.values()), 2_000_000_000)
        for name, time in truth.items():
            # Some hundred stacks were drawn of each, in proportion to time.
            self.assertAlmostEqual(found[name] / sum(truth.values()), time / sum(truth.values()), delta=0.1, msg=name)

    def test_the_wakers_stack_is_of_the_same_wait(self):
        answers = [wait for name, wait in self.waits if name in ASKS and function_of(wait.stack) in ASKS]
        self.assertGreater(len(answers), 1000)
        right = sum(wait.wake - wait.block for wait in answers
                    if ("ask_slow()+" in wait.stack) == ("answer_slowly()+" in wait.waker_stack))
        self.assertGreater(right / sum(wait.wake - wait.block for wait in answers), 0.99)

    def test_a_wait_that_has_not_ended_has_its_stack(self):
        last = [wait for wait in self.dump.waits if wait.wake == recording.NEVER and "wait_for_ever()+" in wait.stack]
        self.assertEqual(len(last), 1)


if __name__ == "__main__":
    sys.exit(runner.run(sys.argv[3:]))
