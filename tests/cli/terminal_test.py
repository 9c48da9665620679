#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What offwait does only on a terminal: colours, width, progress, Ctrl-C."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import tempfile
import termios
import time
import unicodedata

import harness
from harness import OFFWAIT, TRACES, TestCase, environment, sleeper

ESCAPE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
FIGURE1 = TRACES / "figure1.txt"


class Terminal:
    """offwait with some of its streams on a terminal; the others are pipes."""

    def __init__(self, *arguments, stdin=None, stdout=True, stderr=True, env=None, columns=100):
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

        def become_foreground():
            os.setsid()
            fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(
            [OFFWAIT, *map(str, arguments)], stdin=stdin or theirs, stdout=theirs if stdout else subprocess.PIPE,
            stderr=theirs if stderr else subprocess.PIPE, env=env or environment(), preexec_fn=become_foreground)
        os.close(theirs)

    def finish(self):
        """(what the terminal showed, what came out of the pipe); lines end as the program ended them."""
        shown = harness.read_terminal(self.ours)
        piped = b"".join(stream.read() for stream in (self.process.stdout, self.process.stderr) if stream)
        self.process.wait(timeout=harness.GUARD_S)
        return shown.decode().replace("\r\n", "\n"), piped

    def __enter__(self):
        return self

    def __exit__(self, *_):
        harness.stop(self.process)
        os.close(self.ours)


class Colours(TestCase):
    def shown(self, *arguments, **more):
        with Terminal(*arguments, **more) as terminal:
            shown, piped = terminal.finish()
            self.assertEqual(terminal.process.returncode, 0, shown)
            return shown, piped

    def test_a_terminal_gets_colours_and_nothing_else_of_the_kind(self):
        shown, _ = self.shown("report", FIGURE1, "--explain")
        self.assertIn("\x1b[", shown)
        self.assertEqual(ESCAPE.sub("", shown), (harness.EXPECTED / "figure1.expected").read_text("utf-8"))
        self.assertEqual(set(re.findall(r"\x1b\[[0-9;]*(.)", shown)), {"m"})

    def test_no_color(self):
        for value in ("1", "0", "no"):
            shown, _ = self.shown("report", FIGURE1, env=environment(NO_COLOR=value))
            self.assertNotIn("\x1b", shown)
        shown, _ = self.shown("report", FIGURE1, env=environment(NO_COLOR=""))
        self.assertIn("\x1b[", shown)

    def test_colours_go_by_stdout_alone(self):
        shown, piped = self.shown("report", FIGURE1, stdout=False)
        self.assertEqual(shown, "")
        self.harmless(piped)

    def test_colours_and_width_that_were_asked_for(self):
        piped = harness.run("report", FIGURE1, "--color=always", env=environment(NO_COLOR="1")).stdout.decode()
        self.assertIn("\x1b[", piped)
        self.assertEqual(ESCAPE.sub("", piped).encode(), harness.run("report", FIGURE1).stdout)
        shown, _ = self.shown("report", FIGURE1, "--color", "never")
        self.assertNotIn("\x1b", shown)
        for columns in (60, 130):
            shown, _ = self.shown("report", FIGURE1, "-v", "--color=never", "--width", columns, columns=80)
            self.assertEqual(shown.encode(), harness.run("report", FIGURE1, "-v", "--width", columns).stdout)
            self.assertLessEqual(max(map(len, shown.splitlines())), columns)
            self.assertGreater(max(map(len, shown.splitlines())), columns - 30)

    def test_lines_fit_the_terminal(self):
        for columns in (60, 72, 100, 160):
            for trace in TRACES.glob("*.txt"):
                shown, _ = self.shown("report", trace, "-v", "--explain", columns=columns)
                for line in ESCAPE.sub("", shown).splitlines():
                    width = sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)
                    self.assertLessEqual(width, columns, line)

    def test_hostile_names_do_not_reach_the_terminal(self):
        shown, _ = self.shown("report", TRACES / "hostile-names.txt", "-v", "--explain")
        self.harmless(re.sub(r"\x1b\[[0-9;]*m", "", shown).encode())

    def test_an_error_on_a_terminal(self):
        with Terminal("report", "/\x1b[2J") as terminal:
            shown, _ = terminal.finish()
            self.assertEqual(shown, "offwait: cannot read /\\x1b[2J: No such file or directory\n")
            self.assertEqual(terminal.process.returncode, 1)


class Progress(TestCase):
    LINE = r"pid {} \(workload\): \d+\.\d s{}, [\d,]+ waits, [\d,]+ lost \(Ctrl-C reports now\)"

    def test_progress_is_on_stderr_if_it_is_a_terminal(self):
        with sleeper() as target, Terminal("-p", target.pid, "-d", "1s", stdout=False) as terminal:
            shown, piped = terminal.finish()
            self.assertEqual(terminal.process.returncode, 0, shown)
            self.assertRegex(ESCAPE.sub("", shown), self.LINE.format(target.pid, r" of 1\.0 s"))
            # The progress stays on one line and is erased at the end.
            self.assertNotIn("\n", shown)
            self.assertTrue(shown.endswith("\r\x1b[K"), shown)
            self.harmless(piped)
            self.is_report(piped)

    def test_no_end_is_shown_if_there_is_none(self):
        with sleeper() as target, Terminal("-p", target.pid, stdout=False) as terminal:
            wanted = re.compile(self.LINE.format(target.pid, "").encode())
            harness.read_terminal(terminal.ours, wanted.search)
            os.write(terminal.ours, b"\x03")
            _, piped = terminal.finish()
            self.assertEqual(terminal.process.returncode, 0)
            self.is_report(piped)

    def test_there_is_none_elsewhere(self):
        with sleeper() as target, Terminal("-p", target.pid, "-d", "500ms", stderr=False) as terminal:
            _, piped = terminal.finish()
            self.assertEqual(terminal.process.returncode, 0)
            self.harmless(piped)
            self.assertNotIn(b"Ctrl-C", piped)

    def test_quiet(self):
        with sleeper() as target, Terminal("-p", target.pid, "-d", "500ms", "-q", stdout=False) as terminal:
            shown, piped = terminal.finish()
            self.assertEqual(shown, "")
            self.is_report(piped)

    def test_ctrl_c_at_the_terminal(self):
        with sleeper() as target, Terminal("-p", target.pid) as terminal:
            harness.read_terminal(terminal.ours, lambda got: b"Ctrl-C reports now" in got)
            os.write(terminal.ours, b"\x03")
            shown, _ = terminal.finish()
            self.assertEqual(terminal.process.returncode, 0, shown)
            self.assertIn(f"pid {target.pid} (workload)", ESCAPE.sub("", shown))

    def test_a_hostile_name_in_the_progress(self):
        with harness.hostile_target() as target, \
                Terminal("-p", target.pid, "-d", "500ms", stdout=False) as terminal:
            shown, _ = terminal.finish()
            self.assertIn(f"pid {target.pid} ({harness.HOSTILE_SHOWN})", shown)
            self.assertEqual(set(re.findall(r"\x1b(\[[0-9;]*.)", shown)), {"[K"})


class Steps(TestCase):
    """Commands that take long say what they do."""

    LINE = re.compile(rb"\r\x1b\[Kreading (\S+) \(\d+\.\d s\)")

    def slow(self, *arguments, is_enough, **more):
        """offwait reads figure 1, whose second half comes when is_enough(terminal) returns. (what the terminal showed until
        then, and afterwards, and what came out of the pipe)"""
        with tempfile.TemporaryDirectory() as directory:
            fifo = f"{directory}/slow"
            os.mkfifo(fifo)
            with Terminal(*arguments, fifo, **more) as terminal:
                text = FIGURE1.read_bytes()
                half = text.index(b"\n", len(text) // 2) + 1
                with open(fifo, "wb") as recording:
                    recording.write(text[:half])
                    recording.flush()
                    before = is_enough(terminal)
                    recording.write(text[half:])
                after, piped = terminal.finish()
                self.assertEqual(terminal.process.returncode, 0, after)
                return before, after, piped

    def test_a_report_from_a_slow_file(self):
        before, after, piped = self.slow(
            "report", stdout=False, is_enough=lambda terminal: harness.read_terminal(terminal.ours, self.LINE.search))
        self.assertTrue(self.LINE.search(before).group(1).endswith(b"/slow"), before)
        self.assertTrue(after.endswith("\r\x1b[K"), after)
        self.assertNotIn("\n", after)
        self.assertEqual(piped, harness.run("report", FIGURE1).stdout)

    def test_a_line_is_cut_to_the_terminal(self):
        before, _, _ = self.slow(
            "report", stdout=False, columns=24, is_enough=lambda terminal: harness.read_terminal(
                terminal.ours, lambda got: got.count(b"\r\x1b[K") > 1))
        lines = [line for line in before.decode().split("\r\x1b[K") if line]
        self.assertTrue(lines and all(line.startswith("reading /") and line.endswith("…") for line in lines), lines)
        self.assertEqual({len(line) for line in lines}, {23})

    def test_there_is_none_while_another_program_feeds_it(self):
        with Terminal("report", "-", stdout=False, stdin=subprocess.PIPE) as terminal:
            time.sleep(1.5)
            terminal.process.stdin.write(FIGURE1.read_bytes())
            terminal.process.stdin.close()
            shown, _ = terminal.finish()
            self.assertEqual((terminal.process.returncode, shown), (0, ""))

    def test_nothing_of_it_goes_into_a_pipe_or_against_the_wish(self):
        for arguments, more in ((("report",), {"stderr": False}), (("report", "-q"), {"stdout": False})):
            _, after, piped = self.slow(*arguments, is_enough=lambda _: time.sleep(1.5), **more)
            self.assertNotIn("reading", after)
            self.assertNotIn(b"reading", piped)


if __name__ == "__main__":
    harness.main(needs_root=True)
