# SPDX-License-Identifier: GPL-2.0-or-later
"""What is a lock on the first screen and in the view of locks, and what is not.

    locks_test.py OFFWAIT LOCK_CASES

Eight threads hold a lock for 1.5 of 1.7 ms, one after the other, or meet at a barrier or a latch."""
import contextlib
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

import runner

OFFWAIT, CASES = sys.argv[1:3]
THREADS = 8


@contextlib.contextmanager
def recorded(case):
    """The recording of it."""
    process = subprocess.Popen([CASES, case], stderr=subprocess.DEVNULL)
    try:
        time.sleep(0.3)
        if process.poll() is not None:
            raise unittest.SkipTest(f"built without {case}")
        with tempfile.TemporaryDirectory() as scratch:
            path = pathlib.Path(scratch) / "recording"
            subprocess.run([OFFWAIT, "record", "-q", "-o", path, "-p", str(process.pid), "-d", "2s"], check=True,
                           capture_output=True, timeout=60)
            yield path
    finally:
        process.kill()
        process.wait()


def report(recording, *options):
    run = subprocess.run([OFFWAIT, "report", recording, "-q", "--json", "-", *options], check=True, capture_output=True,
                         text=True, timeout=60)
    return json.loads(run.stdout)


class LocksTest(unittest.TestCase):
    def check_lock(self, case, name, evidence):
        with recorded(case) as recording:
            found = report(recording, "--view", "locks")
        first = found["answers"][0]
        self.assertEqual(first["what"], "lock")
        lock = first["lock"]
        self.assertIn(name, lock["name"])
        self.assertEqual(lock["evidence"], evidence)
        self.assertEqual(lock["waiters"][0]["threads"], THREADS)
        self.assertGreater(lock["meanwhile"]["slept"], 0.8)
        # As many threads as there are take turns for nearly all of their time.
        self.assertGreater(first["gain"], 0.6 * (THREADS - 1))
        self.assertLess(first["gain"], THREADS)
        self.assertIn(name, found["locks"]["rows"][0]["name"])

    def check_none(self, case, kind):
        with recorded(case) as recording:
            found = report(recording, "--view", "locks")
        self.assertEqual([answer for answer in found["answers"] if answer["what"] == "lock"], [])
        self.assertEqual(found["locks"]["rows"][0]["kind"], kind)

    def test_a_lock_of_the_program_s_own(self):
        self.check_lock("own", "turnstile", "behaviour")

    def test_a_mutex_of_absl(self):
        # Its waiters are a list, and each waits on a semaphore of its own.
        self.check_lock("absl", "use_absl", "name")

    def test_a_barrier_is_not_one(self):
        self.check_none("barrier", "barrier")

    def test_a_latch_is_not_one(self):
        self.check_none("latch", "barrier")


if __name__ == "__main__":
    sys.exit(runner.run(sys.argv[3:]))
