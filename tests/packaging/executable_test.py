# SPDX-License-Identifier: GPL-2.0-or-later
"""The release executable needs nothing but the kernel: it works in an empty root and in other Debian releases.

    executable_test.py BUILD [test names]"""
import json
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

import roots
from running import run, sleeper

BUILD = pathlib.Path(sys.argv.pop(1))
OFFWAIT = BUILD / "offwait"
FIGURE3 = pathlib.Path(__file__).resolve().parents[1] / "traces/figure3.txt"
MOST_BYTES = 14 * 1000 * 1000


class ExecutableTest(unittest.TestCase):
    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest("root missing")

    def root(self, suite=None):
        try:
            root = self.enterContext(roots.Root(suite))
        except roots.Unavailable as unavailable:
            self.skipTest(str(unavailable))
        shutil.copy(OFFWAIT, root.changes / "offwait")
        return root

    def check_recording(self, root, sleep, libc):
        """Records a process that `sleep` starts, in this root, and checks its system call and that its stack is whole."""
        with sleeper(sleep) as pid:
            report = json.loads(run(*root.inside("/offwait", "-p", pid, "-d", "1s", "--json", "-", mounts=("/proc", "/sys"))))
        wait, = report["open_waits"]
        self.assertEqual((wait["tid"], wait["class"], wait["throughout"]), (pid, "sleep", True))
        kernel, user = " ".join(wait["wait_stack"]).split(" -- ")
        self.assertIn("hrtimer_nanosleep+", kernel)
        self.assertRegex(user, rf"(^| )clock_nanosleep\S* \({libc}\) .*__libc_start_main\S* \({libc}\)( at \S+)? \[sleep\+\S+$")
        self.assertEqual(report["stack_ends"]["cut_s"], {})

    def test_static(self):
        segments = run("readelf", "--wide", "--program-headers", OFFWAIT)
        self.assertNotIn("INTERP", segments)
        self.assertIn("GNU_RELRO", segments)
        self.assertNotIn("NEEDED", run("readelf", "--wide", "--dynamic", OFFWAIT))
        self.assertIn("static-pie linked", run("file", "--brief", OFFWAIT))

    def test_size(self):
        with tempfile.NamedTemporaryFile() as stripped:
            run("strip", "-o", stripped.name, OFFWAIT)
            size = os.path.getsize(stripped.name)
        print(f"{size / 1e6:.1f} MB stripped", file=sys.stderr)
        self.assertLessEqual(size, MOST_BYTES)

    def test_empty_root(self):
        root = self.root()
        shutil.copy(FIGURE3, root.changes / "figure3.txt")
        self.assertRegex(run(*root.inside("/offwait", "--version")), r"^offwait \d+\.\d+\.\d+\n$")
        self.assertIn("Usage: offwait ", run(*root.inside("/offwait", "--help")))
        report = run(*root.inside("/offwait", "report", "/figure3.txt"), env={**os.environ, "LC_ALL": "C"})
        self.assertEqual(report, run(OFFWAIT, "report", FIGURE3, env={**os.environ, "LC_ALL": "C"}))
        self.assertEqual(sorted(os.listdir(root.changes)), ["figure3.txt", "offwait"])

    def test_recording_in_an_empty_root(self):
        self.check_recording(self.root(), ["/bin/sleep", "600"], r"libc\.so\.6")

    def check_debian(self, suite, libc):
        root = self.root(suite)
        self.check_recording(root, root.inside("/bin/sleep", "600"), libc)

    def test_bullseye(self):
        self.check_debian("bullseye", r"libc-2\.31\.so")

    def test_bookworm(self):
        self.check_debian("bookworm", r"libc\.so\.6")

    def test_trixie(self):
        self.check_debian("trixie", r"libc\.so\.6")


if __name__ == "__main__":
    unittest.main(verbosity=2)
