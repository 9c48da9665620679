# SPDX-License-Identifier: GPL-2.0-or-later
"""Stacks of waits that are drawn by their length.

    drawn_stacks_test.py OFFWAIT MIXED_WAITS"""
import os
import subprocess
import sys
import tempfile
import unittest

import recording
import runner

OFFWAIT, MIXED_WAITS = sys.argv[1:3]
SHORT_NAPS = 5
FUNCTIONS = ("short_nap", "long_nap", "ask_quick", "ask_slow")


def function_of(stack):
    """The function of the workload in which the thread waits."""
    return next((name for name in FUNCTIONS if name + "()+" in stack), None)


class DrawnStacksTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "dump")
            # So little that most is left to chance, from the first second on.
            subprocess.run([OFFWAIT, "dump", "--max-overhead", "0.3%", "--sample-hz", "0", "-d", "8s", "--output", path,
                            "--", MIXED_WAITS], check=True, stdout=subprocess.DEVNULL)
            cls.dump = recording.Dump(path)
            with open(path, encoding="ascii") as lines:
                cost = next(line for line in lines if line.startswith("cost "))
        cls.cost = dict(word.split("=", 1) for word in cost.split()[1:])
        cls.tids = {thread.comm: thread.tid for thread in cls.dump.threads if not thread.outside}
        cls.main = min(thread.tid for thread in cls.dump.threads if thread.tid == thread.tgid and not thread.outside)
        cls.waits = [wait for wait in cls.dump.waits if wait.tid == cls.main and wait.wake != recording.NEVER]

    def test_most_stacks_are_left_out(self):
        with_stacks, without = (int(self.cost[name]) for name in ("waits_with_stacks", "waits_without_stacks"))
        self.assertGreater(with_stacks, 500)
        self.assertGreater(without, with_stacks)

    def test_the_time_of_each_function_is_as_its_waits_were(self):
        """The length of a nap tells where it was, and the order of questions tells which one it was."""
        naps = [wait for wait in self.waits if wait.waker == "timer"]
        exact = {"nap": sum(wait.wake - wait.block for wait in naps if function_of(wait.stack) in ("short_nap", "long_nap"))}
        self.assertGreater(exact["nap"], 1_000_000_000)
        limit = 170_000  # between the two, with what the timer is late
        truth = {"long_nap": sum(wait.wake - wait.block for wait in naps if wait.wake - wait.block > limit)}
        found = {name: sum(wait.wake - wait.block for wait in naps if function_of(wait.stack) == name) for name in FUNCTIONS}
        self.assertEqual(found["ask_quick"] + found["ask_slow"], 0)
        self.assertAlmostEqual(found["long_nap"] / truth["long_nap"], 1, delta=0.15)
        self.assertAlmostEqual(found["short_nap"] / (exact["nap"] - truth["long_nap"]), 1, delta=0.15)

    def test_the_wakers_stack_is_of_the_same_wait(self):
        answers = [wait for wait in self.waits if wait.waker.startswith("thread:") and "ask" in wait.stack]
        self.assertGreater(len(answers), 1000)
        right = sum(wait.wake - wait.block for wait in answers
                    if ("ask_slow()+" in wait.stack) == ("answer_slowly()+" in wait.waker_stack))
        everything = sum(wait.wake - wait.block for wait in answers)
        self.assertGreater(right / everything, 0.99)
        slow = sum(wait.wake - wait.block for wait in answers if "ask_slow()+" in wait.stack)
        truth = sum(wait.wake - wait.block for wait in answers if wait.wake - wait.block > 120_000)
        self.assertAlmostEqual(slow / truth, 1, delta=0.15)

    def test_a_wait_that_has_not_ended_has_its_stack(self):
        last = [wait for wait in self.dump.waits if wait.wake == recording.NEVER and "wait_for_ever()+" in wait.stack]
        self.assertEqual(len(last), 1)


if __name__ == "__main__":
    sys.exit(runner.run(sys.argv[3:]))
