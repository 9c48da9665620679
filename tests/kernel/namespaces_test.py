# SPDX-License-Identifier: GPL-2.0-or-later
"""offwait itself in namespaces and under limits: a time namespace, a PID namespace, a low limit of open files.

    namespaces_test.py OFFWAIT"""
import subprocess
import sys
import tempfile
import time
import unittest

import recording
import runner

OFFWAIT = sys.argv[1]
PROGRAM = "import time\nprint('ready', flush=True)\nwhile True: time.sleep(0.01)"


class NamespacesTest(unittest.TestCase):
    def setUp(self):
        self.target = subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE)
        self.addCleanup(self.end_target)
        self.target.stdout.readline()

    def end_target(self):
        self.target.kill()
        self.target.communicate()

    def dump(self, *before):
        with tempfile.NamedTemporaryFile(suffix=".txt") as file:
            made = subprocess.run([*before, OFFWAIT, "dump", "-p", str(self.target.pid), "-d", "1s", "-o", file.name],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(made.returncode, 0, made.stderr)
            return recording.Dump(file.name)

    def test_times_are_the_kernels_in_a_time_namespace(self):
        for offset in (100_000, -3):
            with self.subTest(offset):
                before = time.monotonic_ns()
                dump = self.dump("unshare", "-T", "--monotonic", str(offset), "--boottime", "100000")
                self.assertTrue(before < dump.begin < dump.end < time.monotonic_ns())
                waits = [wait for wait in dump.waits if wait.tid == self.target.pid]
                self.assertGreater(len(waits), 40)
                self.assertEqual({wait.cls for wait in waits}, {"sleep"})

    def test_a_pid_of_outside_is_said_to_be_one(self):
        made = subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", OFFWAIT, "-p", str(self.target.pid), "-d", "1s"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(made.returncode, 1)
        self.assertIn("this is a PID namespace, in which processes have other numbers", made.stderr)

    def test_the_soft_limit_of_open_files_is_raised_and_a_command_keeps_it(self):
        made = subprocess.run(["bash", "-c", 'ulimit -Sn 40; "$0" -q --json /dev/null -- bash -c "ulimit -Sn"', OFFWAIT],
                              capture_output=True, text=True, check=False)
        self.assertEqual((made.returncode, made.stdout), (0, "40\n"), made.stderr)
        self.assertTrue(self.dump("bash", "-c", 'ulimit -Sn 40; exec "$@"', "-").waits)


if __name__ == "__main__":
    sys.exit(runner.run(sys.argv[2:], ["unshare", "bash"]))
