# SPDX-License-Identifier: GPL-2.0-or-later
"""What a recording of mixed_waits has to say if most stacks were left out."""
import bisect
import collections
import math

import recording

NAPS = ["short_nap"] * 5 + ["long_nap"]
ASKS = ["ask_quick", "ask_slow"]


def function_of(stack):
    """The function of the workload in which the thread waits."""
    return next((name for name in NAPS + ASKS if name + "()+" in stack), None)


def where_they_were(waits, lines):
    """(the function that it was in, the wait) for waits of the main thread, by the lines that the workload printed."""
    calls = []
    for line in lines:
        times = [int(time) for time in line.split()]
        if len(times) == len(NAPS + ASKS) + 1:  # the last line may be cut
            calls += zip(times, times[1:], NAPS + ASKS)
    begins = [begin for begin, _, _ in calls]
    for wait in waits:
        at = bisect.bisect_right(begins, wait.block) - 1
        if at >= 0 and wait.block < calls[at][1]:
            yield calls[at][2], wait


class DrawnStacks:
    """Mixed into a TestCase. `least_drawn`: waits whose stacks were taken, at least."""
    least_drawn = 500

    @staticmethod
    def drawn_from(path):
        """The dump, and the numbers of its line `cost`."""
        with open(path, encoding="ascii") as lines:
            cost = next(line for line in lines if line.startswith("cost "))
        return recording.Dump(path), dict(word.split("=", 1) for word in cost.split()[1:])

    @staticmethod
    def waits_of_main(dump):
        main = min(thread.tid for thread in dump.threads if thread.tid == thread.tgid and not thread.outside)
        return [wait for wait in dump.waits if wait.tid == main and wait.wake != recording.NEVER]

    def check_most_stacks_are_left_out(self, cost):
        with_stacks, without = (int(cost[name]) for name in ("waits_with_stacks", "waits_without_stacks"))
        self.assertGreater(with_stacks, self.least_drawn)
        self.assertGreater(without, with_stacks)

    def check_time_of_each_function(self, dump, cost, placed):
        """The time of each function is as its waits were. Stacks from before the program's code was known are cut. How many there
        are depends on the machine: they are left out."""
        truth, found = collections.Counter(), collections.Counter()
        for name, wait in placed:
            if "[cut:" not in wait.stack:
                truth[name] += wait.wake - wait.block
                found[function_of(wait.stack)] += wait.wake - wait.block
        self.assertEqual(set(truth), set(NAPS + ASKS))
        # Stacks are drawn in proportion to time. So many were of these waits, about, and so far chance may err with them.
        drawn = int(cost["waits_with_stacks"]) * truth.total() / sum(
            wait.wake - wait.block for wait in dump.waits if wait.wake != recording.NEVER)
        for name, time in truth.items():
            self.assertAlmostEqual(found[name] / truth.total(), time / truth.total(), delta=max(0.1, 3 / math.sqrt(drawn)),
                                   msg=f"{name}: {found}, not {truth}; {drawn:.0f} drawn")

    def check_stack_of_open_wait(self, dump):
        last = [wait for wait in dump.waits if wait.wake == recording.NEVER and "wait_for_ever()+" in wait.stack]
        self.assertEqual(len(last), 1)

    def check_one_stack_for_each_place(self, dump):
        """A stack that was taken after the wait does not differ from one that was taken before it."""
        kernel = collections.defaultdict(set)
        for wait in dump.waits:
            if name := function_of(wait.stack):
                kernel[name].add(wait.stack.partition(";--;")[0])
        for name in set(NAPS):
            self.assertEqual(len(kernel[name]), 1, kernel[name])
