#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether reports name what limits simulated programs, and what a fix gains: truth_test.py OFFWAIT."""

import sys
import unittest

import judge
from families import FAMILIES

SEEDS = range(6)


class Truth(unittest.TestCase):
    """Bounds for what holds over all programs; `judge.py` shows single ones."""

    offwait = None

    @classmethod
    def setUpClass(cls):
        cls.verdicts = judge.judge_all(cls.offwait, FAMILIES, SEEDS)
        cls.figures = judge.figures(cls.verdicts)
        print(judge.describe(cls.figures), flush=True)

    def test_enough_programs_have_something_to_find(self):
        self.assertGreaterEqual(self.figures.judged, 40)

    def test_first_answers_are_right(self):
        wrong = [verdict for verdict in self.verdicts if verdict.verdict not in ("right", "flat")]
        self.assertGreaterEqual(self.figures.right, 0.95, wrong)
        self.assertLessEqual(self.figures.misleading, 0.01, wrong)

    def test_split_reports_are_few_and_show_a_right_answer(self):
        self.assertLessEqual(self.figures.split, 0.2 * self.figures.judged)
        self.assertGreaterEqual(self.figures.shown, 0.9 * self.figures.split)

    def test_predicted_gains_are_those_of_the_fix(self):
        self.assertLessEqual(self.figures.error_median, 3)
        self.assertLessEqual(self.figures.error_90, 15)

    def test_ranges_hold_the_gain(self):
        self.assertGreaterEqual(self.figures.ranges, 100)
        self.assertGreaterEqual(self.figures.held, 0.8)
        # A thread that goes on after the first of two answers (the family replication) waits for either of them;
        # a recording shows only the one that came first, and the ranges know nothing of the other.
        self.assertGreaterEqual(self.figures.large_held, 0.7)


    def test_locks_gain_no_more_than_their_bounds(self):
        self.assertGreaterEqual(self.figures.bounds, 10)
        self.assertGreaterEqual(self.figures.bounds_held, 0.9)


class Families(unittest.TestCase):
    """The simulator's programs are what they say they are."""

    def test_equal_seeds_give_equal_programs(self):
        for family in FAMILIES:
            with self.subTest(family):
                text = [self.world(family).text() for _ in range(2)]
                self.assertEqual(text[0], text[1])
                self.assertGreater(text[0].count("\nwait "), 20)

    def test_a_change_makes_only_its_part_faster(self):
        before, after = self.world("double_buffer"), self.world("double_buffer", {("disk", "vda"): 0.5})
        for disk, factor in (("vda", 0.5), ("vdb", 1)):
            with self.subTest(disk):
                self.assertAlmostEqual(mean_service(after, disk) / mean_service(before, disk), factor, delta=0.03)

    @staticmethod
    def world(family, speed=None):
        world = judge.World(judge.program(family, 0), 0, speed)
        world.run()
        return world


def mean_service(world, disk):
    lengths = [complete - issue for _, name, issue, complete in world.requests if name == disk]
    return sum(lengths) / len(lengths)


if __name__ == "__main__":
    Truth.offwait = sys.argv.pop(1)
    unittest.main(verbosity=2)
