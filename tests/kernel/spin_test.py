# SPDX-License-Identifier: GPL-2.0-or-later
"""Busy waiting in a program that knows how long it spun for which thread, with --spin probes and with annotations.

    spin_test.py OFFWAIT WORKLOAD"""
import subprocess
import sys
import unittest

import recording
import runner

OFFWAIT, WORKLOAD = sys.argv[1], sys.argv[2]
# The time that a probe takes from its breakpoint to its record, and back.
PROBE_NS = 10_000


def left_out(run):
    """How many spins may be missing. After a switch that the host hides, the state of the thread is unknown until one of its
    probes fires, so the spin around the switch is lost and no later one. The end of the recording may cut one more."""
    return run.dump.loss["switch_unseen"] + 1


class SpinTest(unittest.TestCase):
    def check(self, run, stack):
        truths = [truth for truth in run.truths if truth["truth"] == "spinner"]
        self.assertEqual(len(truths), 2)
        for truth, other in zip(truths, reversed(truths)):
            waits = [wait for wait in run.dump.waits_of(truth) if wait.cls == "spin"]
            expected, recorded = truth["wait_ns"], sum(wait.wake - wait.block for wait in waits)
            with self.subTest(tid=truth["tid"], waits=len(waits), recorded=recorded, truth=truth):
                self.assertEqual({wait.waker for wait in waits}, {f"thread:{other['tid']}"})
                self.assertLessEqual(len(waits), truth["waits"] + 1)
                self.assertGreaterEqual(len(waits), truth["waits"] - left_out(run))
                self.assertLessEqual(recorded, 1.03 * expected + PROBE_NS * truth["waits"])
                # The recorded spins are as long as the program says.
                mean, expected_mean = recorded / len(waits), expected / truth["waits"]
                self.assertLessEqual(abs(mean - expected_mean), 0.05 * expected_mean + PROBE_NS)
                self.assertEqual({stack in wait.stack for wait in waits}, {True})
                # Apart from spinning, the thread runs while it holds the lock and while it is outside.
                states = run.dump.states_of(truth)
                self.assertEqual(sum(states), truth["end_ns"] - truth["begin_ns"])
                self.assertGreaterEqual(states[2], recorded)

    def test_lock_and_unlock(self):
        run = recording.record(OFFWAIT, WORKLOAD, ["spin"], extra=["--spin", "workload_spin_lock,workload_spin_unlock"])
        self.check(run, "workload_spin_lock")

    def test_lock_alone(self):
        """Without UNLOCK the wait ends when the lock is got, and is for the thread that held it before."""
        run = recording.record(OFFWAIT, WORKLOAD, ["spin"], extra=["--spin", "workload_spin_lock"])
        truths = [truth for truth in run.truths if truth["truth"] == "spinner"]
        for truth, other in zip(truths, reversed(truths)):
            waits = [wait for wait in run.dump.waits_of(truth) if wait.cls == "spin"]
            recorded = sum(wait.wake - wait.block for wait in waits)
            with self.subTest(tid=truth["tid"], waits=len(waits), recorded=recorded, truth=truth):
                self.assertLessEqual({wait.waker for wait in waits} - {"-"}, {f"thread:{other['tid']}"})
                self.assertGreaterEqual(len(waits), truth["waits"] - left_out(run))
                self.assertGreaterEqual(recorded, truth["wait_ns"] * len(waits) / truth["waits"] - PROBE_NS * truth["waits"])
                self.assertLessEqual(recorded, 1.03 * truth["lock_ns"] + PROBE_NS * truth["waits"])

    def test_annotated(self):
        self.check(recording.record(OFFWAIT, WORKLOAD, ["spin", "--kind", "annotated"]), "workload::spin")

    def test_function_that_is_not_there(self):
        target = recording.Workload(WORKLOAD, ["spin"])
        result = subprocess.run([OFFWAIT, "-p", str(target.pid), "-d", "1s", "--spin", "no_such_function"],
                                capture_output=True, text=True)
        target.process.kill()
        target.end()
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stderr, f"offwait: --spin: neither process {target.pid} nor a library it has mapped has a "
                                        "function 'no_such_function' (it may be inlined, or its symbols stripped)\n")


if __name__ == "__main__":
    sys.exit(runner.run(sys.argv[3:]))
