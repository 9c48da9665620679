# SPDX-License-Identifier: GPL-2.0-or-later
"""False wakeups of a program that counts its own.

    false_wakeups_test.py OFFWAIT WORKLOAD"""
import json
import subprocess
import sys
import unittest

import recording
import runner

OFFWAIT, WORKLOAD = sys.argv[1], sys.argv[2]


def report(dump, *options):
    return json.loads(subprocess.run([OFFWAIT, "report", dump, "--json", "-", "--no-merge", *options], check=True,
                                     stdout=subprocess.PIPE).stdout)


class FalseWakeupsTest(unittest.TestCase):
    def test_herd(self):
        with recording.recorded(OFFWAIT, WORKLOAD, ["herd"]) as (dump, truths, _):
            removed, kept = report(dump), report(dump, "--keep-false-wakeups")
        in_vain = sum(truth["in_vain"] for truth in truths)
        self.assertGreater(in_vain, 100)
        found = removed["false_wakeups"]
        # Some wakeups in vain do not show: a thread that passes the lock to the one that takes the ticket has woken another
        # thread, and a thread that is preempted in between, or finds the next ticket already called, did not wait again at once.
        self.assertLessEqual(found["count"], in_vain)
        self.assertGreaterEqual(found["count"], 0.8 * in_vain)
        names = {actor["id"]: actor["name"] for actor in removed["actors"]}
        seller = sum(edge["count"] for edge in found["edges"] if names[edge["to"]] == "seller")
        self.assertGreaterEqual(seller, 0.95 * found["count"])
        self.assertEqual((found["removed"], kept["false_wakeups"]["removed"]), (True, False))
        self.assertEqual(found["count"], kept["false_wakeups"]["count"])
        # Two waits become one, the waits for the lock between them are removed, and the states still add up to the whole time.
        self.assertLessEqual(removed["totals"]["waits"], kept["totals"]["waits"] - found["count"])
        for one in removed, kept:
            totals = one["totals"]
            self.assertAlmostEqual(sum(totals[state] for state in ("running_s", "runnable_s", "blocked_s", "unknown_s")),
                                   totals["lifetime_s"], places=6)
        self.assertAlmostEqual(kept["totals"]["running_s"] - removed["totals"]["running_s"], found["ran_s"], places=6)


if __name__ == "__main__":
    sys.exit(runner.run(sys.argv[3:]))
