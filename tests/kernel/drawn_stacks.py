# SPDX-License-Identifier: GPL-2.0-or-later
"""What a recording of mixed_waits has to say if most stacks were left out."""
import collections

import recording

NAPS = ["short_nap"] * 5 + ["long_nap"]
ASKS = ["ask_quick", "ask_slow"]


def function_of(stack):
    """The function of the workload in which the thread waits."""
    return next((name for name in NAPS + ASKS if name + "()+" in stack), None)


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

    def check_drawn_naps(self, dump):
        """Of naps, both are seen, and little else: stacks from before the program's code was known."""
        found = collections.Counter()
        for wait in self.waits_of_main(dump):
            if wait.waker == "timer":
                found[function_of(wait.stack)] += wait.wake - wait.block
        for name in set(NAPS):
            self.assertGreater(found[name], 0.2 * found.total(), found)
        self.assertGreater(sum(found[name] for name in set(NAPS)), 0.8 * found.total(), found)

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
