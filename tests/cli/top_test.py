#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""offwait top: screens of replayed recordings as text (top/*.expected), and what it does on a terminal.

    top_test.py --accept    writes the expected screens anew: read what changes before committing

Terminals are those of tmux; where it is missing, their tests are skipped."""

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
import simulated
from harness import OFFWAIT, TRACES, TestCase, environment

GUARD_S = 60  # guards against hanging
EXPECTED = pathlib.Path(__file__).with_name("top")
SIZES = ((80, 24), (120, 40), (200, 60))
ACCEPT = "--accept" in sys.argv
# A server of three workers at a lock and a disk, 12 s long.
SERVER = simulated.recording(1, seconds=12.0)


def top(*options, trace=SERVER):
    """offwait top of a trace, as text."""
    return subprocess.run([OFFWAIT, "top", "--replay", "-", *map(str, options)], input=trace.encode(), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=environment(), timeout=GUARD_S, check=False)


class Screens(TestCase):
    maxDiff = None

    def screen(self, *options, trace=SERVER):
        done = top("--once", *options, trace=trace)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout.decode()

    def test_a_replayed_recording_is_shown_as_expected(self):
        for width, height in SIZES:
            shown = self.screen("--width", width, "--height", height)
            file = EXPECTED / f"server-{width}x{height}.expected"
            if ACCEPT:
                file.write_text(shown, "utf-8")
            with self.subTest(width=width):
                self.assertEqual(shown, file.read_text("utf-8"))
                lines = shown.splitlines()
                self.assertEqual(len(lines), height)
                self.assertLessEqual(max(map(len, lines)), width)

    def test_a_time_of_the_recording_can_be_chosen(self):
        self.assertIn("last 3 s · ", self.screen("--at", "3s"))
        self.assertIn("last 10 s of 12 s", self.screen())

    def test_names_do_nothing_to_the_terminal(self):
        for size in SIZES:
            shown = self.screen("--width", size[0], "--height", size[1], trace=(TRACES / "hostile-names.txt").read_text("utf-8"))
            self.assertEqual(re.findall("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]", shown), [])

    def test_a_line_a_second_for_a_log(self):
        done = top("--batch")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        lines = done.stdout.decode().splitlines()
        self.assertEqual(len(lines), 12)
        for number, line in enumerate(lines, 1):
            self.assertRegex(line, rf"^ +{number} s  [\d,]+ waits/s  [\d,]+ responses/s  ran ")

    def test_thousands_of_threads_have_few_rows(self):
        threads = 4000
        lines = ["offwait-waits 1", "window 0 3000000000",
                 "recording target=pid%2010 start_time=2026-11-22T10:00:00Z kernel=6.1.0 offwait=0.1.0 cpus=2"]
        lines += [f"thread {1000 + i} tgid=10 comm=worker-{i} start=0 exit=-" for i in range(threads)]
        lines += [f"wait {1000 + i} block=0 wake=- run=- waker=- class=futex stack=--;pthread_cond_wait" for i in range(threads)]
        shown = self.screen("--width", 80, "--height", 24, trace="\n".join(lines) + "\n")
        self.assertIn("THREADS  4,000 + 0 outside", shown)
        self.assertRegex(shown, r"> worker-\*×4000 +4,000 ")

    def test_without_a_terminal_a_line_says_what_to_do(self):
        done = top()
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.decode(), "offwait: top needs a terminal for its screen: --once prints one screen as "
                                               "text, and --batch a line each second\n")


@unittest.skipUnless(shutil.which("tmux"), "tmux is not installed")
class OnATerminal(TestCase):
    """In a tmux of its own, with a shell that says how offwait ended."""

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.recording = self.directory / "server.txt"
        self.recording.write_text(SERVER, "utf-8")
        self.socket = str(self.directory / "tmux")
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "40", "-s", "t", "env PS1='$ ' sh")
        self.addCleanup(self.tmux, "kill-server")
        self.shows(r"^\$")

    def tmux(self, *words):
        done = subprocess.run(["tmux", "-u", "-S", self.socket, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=environment(), timeout=GUARD_S, check=False)
        return done.stdout.decode()

    def keys(self, *keys):
        self.tmux("send-keys", "-t", "t", *keys)

    def text(self):
        return self.tmux("capture-pane", "-p", "-t", "t")

    def shows(self, pattern):
        """Waits until the terminal shows it, and returns what it shows."""
        end = time.monotonic() + GUARD_S
        while time.monotonic() < end:
            text = self.text()
            if re.search(pattern, text, re.MULTILINE):
                return text
            time.sleep(0.05)
        self.fail(f"{pattern} is not on the terminal:\n{self.text()}")

    def settings(self):
        """Those of the terminal, by stty."""
        file = self.directory / "stty"
        file.unlink(missing_ok=True)
        self.keys("clear; stty -a > stty-part && mv stty-part " + shlex.quote(str(file)), "Enter")
        end = time.monotonic() + GUARD_S
        while not file.exists() and time.monotonic() < end:
            time.sleep(0.05)
        # The size may be another one by now.
        return re.sub(r"rows \d+; columns \d+;", "", file.read_text("utf-8"))

    def start(self, *options):
        words = shlex.join([OFFWAIT, "top", "--replay", str(self.recording), *options])
        self.keys(f"cd {shlex.quote(str(self.directory))}", "Enter")
        before = self.settings()
        self.keys(f"clear; echo before; {words}; echo status $?", "Enter")
        self.shows(r"^offwait top · ")
        return before

    def ends(self, before, status):
        """The shell is back, with what it showed before, and the terminal as it was."""
        text = self.shows(rf"^status {status}$")
        self.assertIn("before", text)
        self.assertNotIn("PROGRESS", text)
        self.assertEqual(self.settings(), before)

    def pid(self):
        shown = subprocess.run(["pgrep", "-f", "-n", f"^{OFFWAIT} top --replay {self.recording}"], stdout=subprocess.PIPE,
                               check=True)
        return int(shown.stdout)

    def test_q_leaves_the_terminal_as_it_was(self):
        before = self.start()
        self.shows(r"^WHAT WOULD HELP")
        self.keys("q")
        self.ends(before, 0)

    def test_signals_leave_the_terminal_as_it_was(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number.name):
                before = self.start()
                os.kill(self.pid(), number)
                self.ends(before, 0)

    def test_ctrl_c_leaves_the_terminal_as_it_was(self):
        before = self.start()
        self.keys("C-c")
        self.ends(before, 0)

    def test_keys_go_through_the_panels(self):
        self.start("--at", "11s")
        self.shows(r"^ 1 .*\+")
        self.keys("Tab")
        self.shows(r"│>WAITS ")
        self.keys("Tab")
        self.shows(r"^>LOCKS ")
        self.keys("?")
        self.shows(r"^ Keys$")
        self.keys("?")
        self.shows(r"^>LOCKS ")
        self.keys("/", "nowhere", "Enter")
        self.shows(r"No row has this text in it")
        self.keys("Escape")
        self.keys("p")
        self.shows(r"\[paused\]")
        self.keys("S")
        self.shows(r"What is replayed is a recording already\.")
        self.keys("q")
        self.shows(r"^status 0$")

    def test_another_size_gives_another_screen(self):
        before = self.start("--at", "11s")
        self.shows(r"│.WAITS ")
        self.tmux("resize-window", "-t", "t", "-x", "80", "-y", "24")
        text = self.shows(r"^ WAITS ")
        self.assertLessEqual(max(len(line) for line in text.splitlines()), 80)
        self.tmux("resize-window", "-t", "t", "-x", "200", "-y", "60")
        self.shows(r"│.WAITS .*─{60}")
        self.keys("q")
        self.ends(before, 0)

    def test_the_end_of_the_recording_is_shown_until_the_user_quits(self):
        self.start("--at", "12s")
        self.shows(r"last 10 s of 12 s")
        self.shows(r"WHAT WOULD HELP  \(of 10 s, 0 s ago\)")
        self.keys("q")
        self.shows(r"^status 0$")

    def test_a_terminal_that_ncurses_does_not_know_is_told_of(self):
        self.keys(f"clear; TERM=nosuch {shlex.join([OFFWAIT, 'top', '--replay', str(self.recording)])}; echo status $?", "Enter")
        text = self.shows(r"^status 1$")
        self.assertIn("the terminal 'nosuch' is not known here (TERM)", text.replace("\n", ""))


if __name__ == "__main__":
    if ACCEPT:
        sys.argv.remove("--accept")
    harness.main(needs_root=False)
