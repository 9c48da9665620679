# SPDX-License-Identifier: GPL-2.0-or-later
"""Stacks of waits that are drawn by their length.

    drawn_stacks_test.py OFFWAIT MIXED_WAITS"""
import os
import subprocess
import sys
import tempfile
import unittest

import runner
from drawn_stacks import ASKS, DrawnStacks, function_of, where_they_were

OFFWAIT, MIXED_WAITS = sys.argv[1:3]


class DrawnStacksTest(DrawnStacks, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open("/sys/kernel/btf/vmlinux", "rb") as types:
            names = types.read()
        if b"btf_trace_sched_exit_tp" not in names and b"__perf_event_task_sched_in" not in names:
            raise unittest.SkipTest("this kernel has no place at the end of a switch: all stacks are taken")
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "dump")
            with open(os.path.join(directory, "said"), "w+", encoding="ascii") as said:
                # So little that most is left to chance, from the first second on.
                subprocess.run([OFFWAIT, "dump", "--max-overhead", "0.2%", "--sample-hz", "0", "-d", "8s", "--output", path,
                                "--", MIXED_WAITS], check=True, stdout=said)
                said.seek(0)
                cls.dump, cls.cost = cls.drawn_from(path)
                cls.placed = list(where_they_were(cls.waits_of_main(cls.dump), said))

    def test_most_stacks_are_left_out(self):
        self.check_most_stacks_are_left_out(self.cost)

    def test_the_time_of_each_function_is_as_its_waits_were(self):
        self.assertGreater(sum(wait.wake - wait.block for _, wait in self.placed), 2_000_000_000)
        self.check_time_of_each_function(self.dump, self.cost, self.placed)

    def test_the_wakers_stack_is_of_the_same_wait(self):
        answers = [wait for name, wait in self.placed if name in ASKS and function_of(wait.stack) in ASKS]
        self.assertGreater(len(answers), 1000)
        right = sum(wait.wake - wait.block for wait in answers
                    if ("ask_slow()+" in wait.stack) == ("answer_slowly()+" in wait.waker_stack))
        self.assertGreater(right / sum(wait.wake - wait.block for wait in answers), 0.99)

    def test_a_wait_that_has_not_ended_has_its_stack(self):
        self.check_stack_of_open_wait(self.dump)

    def test_each_place_has_one_stack(self):
        self.check_one_stack_for_each_place(self.dump)


if __name__ == "__main__":
    sys.exit(runner.run(sys.argv[3:]))
