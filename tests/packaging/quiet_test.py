# SPDX-License-Identifier: GPL-2.0-or-later
"""examples/quiet.sh: an example waits for apt, and a busy machine is named."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

QUIET = pathlib.Path(__file__).resolve().parents[2] / "examples" / "quiet.sh"
WAITS = "Waiting for apt, which would be in the way of the recording\n"


def quiet(longest):
    begin = time.monotonic()
    result = subprocess.run([QUIET, str(longest)], capture_output=True, text=True, check=True)
    assert result.stdout == ""
    return result.stderr, time.monotonic() - begin


class QuietTest(unittest.TestCase):
    def apt(self, seconds):
        """A process with the name of one of apt's."""
        directory = self.enterContext(tempfile.TemporaryDirectory())
        program = pathlib.Path(directory) / "unattended-upgr"
        shutil.copy(shutil.which("sleep"), program)
        process = self.enterContext(subprocess.Popen([program, str(seconds)]))
        self.addCleanup(process.kill)
        return process

    def test_it_waits_until_apt_has_ended(self):
        process = self.apt(3)
        said, took = quiet(60)
        self.assertIn(WAITS, said)
        self.assertLess(took, 60)
        self.assertIsNotNone(process.poll())

    def test_it_waits_no_longer_than_told(self):
        process = self.apt(60)
        said, took = quiet(2)
        self.assertIn(WAITS, said)
        self.assertGreaterEqual(took, 2)
        self.assertIsNone(process.poll())

    def test_a_busy_machine_is_named(self):
        cpus = os.cpu_count()
        for _ in range(cpus):
            spinning = self.enterContext(subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]))
            self.addCleanup(spinning.kill)
        said, _ = quiet(0)
        self.assertRegex(said, rf"^Other programs use \d+\.\d of {cpus} CPUs now: the report tells less than on a quiet machine\n$")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
