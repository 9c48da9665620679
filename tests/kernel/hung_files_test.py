# SPDX-License-Identifier: GPL-2.0-or-later
"""A target whose executable lies on a file system that does not answer, as with a dead NFS server.

    hung_files_test.py OFFWAIT SLOW_FILE ANSWER_CASES

The file system is a FUSE process, which is stopped."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import runner

OFFWAIT, SLOW_FILE, PROGRAM = sys.argv[1:4]
SILENT = "did not answer within 1 s: functions in its files have no names"
TIMEOUT = 30  # seconds; without a limit of its own, offwait would never end


class HungFilesTest(unittest.TestCase):
    def setUp(self):
        if SLOW_FILE == "-" or not os.access("/dev/fuse", os.W_OK):
            self.skipTest("no FUSE")
        scratch = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.mount = scratch / "mount"
        self.mount.mkdir()
        self.server = subprocess.Popen([SLOW_FILE, self.mount, str(os.path.getsize(PROGRAM)), "0"])
        self.addCleanup(self.end, self.server)
        self.addCleanup(subprocess.run, ["umount", "-l", self.mount], check=False)
        deadline = time.monotonic() + 10
        while not (self.mount / "disk").exists():
            self.assertLess(time.monotonic(), deadline, "not mounted")
            time.sleep(0.05)
        with open(PROGRAM, "rb") as program, open(self.mount / "disk", "r+b") as copy:
            shutil.copyfileobj(program, copy)
        self.target = subprocess.Popen([self.mount / "disk", "lock"])
        self.addCleanup(self.end, self.target)
        time.sleep(0.5)

    @staticmethod
    def end(process):
        process.send_signal(signal.SIGCONT)
        process.kill()
        process.wait(10)

    def offwait(self, *arguments):
        run = subprocess.run([OFFWAIT, *arguments, "-d", "1s"], capture_output=True, text=True, timeout=TIMEOUT)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout + run.stderr

    def test_a_file_system_that_answers_gives_names(self):
        text = self.offwait("-p", str(self.target.pid))
        self.assertIn("hold_lock", text)
        self.assertNotIn(SILENT, text)

    def test_one_that_does_not_answer_takes_a_second_and_the_names(self):
        time.sleep(1.5)  # what the kernel knows of the file is valid for a second
        self.server.send_signal(signal.SIGSTOP)
        for target in (["-p", str(self.target.pid)], ["-a"]):
            text = self.offwait(*target)
            self.assertIn(f"the file system at {self.mount} (fuse.slow_file) {SILENT}", " ".join(text.split()))

    def test_one_that_stops_to_answer_meanwhile(self):
        record = subprocess.Popen([OFFWAIT, "-p", str(self.target.pid), "-d", "3s"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        time.sleep(1.5)
        self.server.send_signal(signal.SIGSTOP)
        text, _ = record.communicate(timeout=TIMEOUT)
        self.assertEqual(record.returncode, 0, text)
        self.assertIn("hold_lock", text)  # it was copied before


if __name__ == "__main__":
    sys.exit(runner.run(sys.argv[4:]))
