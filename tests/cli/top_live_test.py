#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""offwait top of live targets: as text, of one that ends, and with a recording that it saves."""

import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import harness
from harness import GUARD_S, OFFWAIT, TestCase, environment, run, sleeper

# Works and sleeps in turns; the loop ends when the test does.
WORKER = "import time\nprint(flush=True)\nwhile True: sum(range(20000)); time.sleep(0.002)"
SHORT = ("import time\nprint(flush=True)\nend = time.monotonic() + 4\n"
         "while time.monotonic() < end: sum(range(20000)); time.sleep(0.002)")


class AsText(TestCase):
    def test_once_shows_what_the_target_does(self):
        with sleeper() as target:
            done = run("top", "-p", target.pid, "--once", "-d", "3s", "--width", "120", "--height", "40")
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = done.stdout.decode()
        self.assertEqual(len(shown.splitlines()), 40)
        self.assertRegex(shown, rf"^offwait top · pid {target.pid} \(workload\) · last [23] s · [\d,]+ waits/s · costs ")
        self.assertRegex(shown, r"(?m)^> sleeper")
        self.assertRegex(shown, r"sleeper\S* → timer .* sleep")

    def test_batch_ends_with_the_target(self):
        with harness.python_target(SHORT) as target:
            done = run("top", "-p", target.pid, "--batch")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.decode().splitlines()
        self.assertGreaterEqual(len(lines), 1)
        for line in lines:
            self.assertRegex(line, r"^ +\d+ s  [\d,]+ waits/s  ran [\d.]+  ready [\d.]+  costs ")

    def test_a_target_that_is_not_there_is_told_before_there_is_a_screen(self):
        done = run("top", "-p", "nosuchprocess")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, b"")
        self.assertIn(b"nosuchprocess", done.stderr)


@unittest.skipUnless(shutil.which("tmux"), "tmux is not installed")
class OnATerminal(TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.socket = str(self.directory / "tmux")

    def tmux(self, *words):
        done = subprocess.run(["tmux", "-u", "-S", self.socket, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=environment(), timeout=GUARD_S, check=False)
        return done.stdout.decode()

    def start(self, target):
        words = shlex.join([OFFWAIT, "top", "-p", str(target.pid)])
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "30", "-s", "t", "-c", str(self.directory),
                  f"{words}; echo status $?; sleep 1000")
        self.addCleanup(self.tmux, "kill-server")

    def shows(self, pattern):
        end = time.monotonic() + GUARD_S
        while time.monotonic() < end:
            text = self.tmux("capture-pane", "-p", "-t", "t")
            if re.search(pattern, text, re.MULTILINE):
                return text
            time.sleep(0.05)
        self.fail(f"{pattern} is not on the terminal:\n{text}")

    def test_the_last_part_is_saved_as_a_recording(self):
        with harness.python_target(WORKER) as target:
            self.start(target)
            self.shows(r"^ *WAITS +of \d+ s, ")
            self.tmux("send-keys", "-t", "t", "S")
            self.shows(r"\.offwait has the last \d+ s with [\d]+ waits")
            self.tmux("send-keys", "-t", "t", "q")
            self.shows(r"^status 0$")
        saved = list(self.directory.glob("*.offwait"))
        self.assertEqual(len(saved), 1)
        report = run("report", saved[0], "-q")
        self.assertEqual(report.returncode, 0, report.stderr)
        self.assertIn("python3", report.stdout.decode())

    def pid(self, target):
        shown = subprocess.run(["pgrep", "-f", "-o", f"^{OFFWAIT} top -p {target.pid}"], stdout=subprocess.PIPE, check=True)
        return int(shown.stdout)

    def test_signals_end_it_while_it_records_and_after_the_end(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number.name), harness.python_target(WORKER) as target:
                self.start(target)
                self.shows(r"^PROGRESS ")
                os.kill(self.pid(target), number)
                self.assertNotIn("PROGRESS", self.shows(r"^status 0$"))
                self.tmux("kill-server")
        with harness.python_target(SHORT) as target:
            self.start(target)
            self.shows(r"\[ended\]$")
            self.tmux("send-keys", "-t", "t", "C-c")
            self.assertNotIn("PROGRESS", self.shows(r"^status 0$"))

    def test_a_target_that_ends_leaves_its_last_seconds_on_the_screen(self):
        with harness.python_target(SHORT) as target:
            self.start(target)
            self.shows(r"\[ended\]$")
            self.shows(r"^WHAT WOULD HELP  \(of ")
            self.tmux("send-keys", "-t", "t", "q")
            self.shows(r"^status 0$")


if __name__ == "__main__":
    sys.exit(harness.main(needs_root=True))
