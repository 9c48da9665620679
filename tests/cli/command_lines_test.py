#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What command lines in the habits of other tools print: command_lines.txt.

    command_lines_test.py --print    prints the file with what is printed now

A line of the file is the exit status and the words, as a shell would read them; `nobody` before offwait is a user without
privileges. The line below, if any, is what stands on standard error, without `offwait: ` before it and without the help
that a wrong command line names behind it (tests see that it does); or, after `> `, the first line on standard output. `…`
is any text. PID is a process called offwait-cl, FILE a recording of it, TRACE one in text, DIR an empty directory."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

import harness
from harness import BEGUN, OFFWAIT, TRACES, TestCase, environment, run
from mistakes_test import AS_NOBODY

TABLE = pathlib.Path(__file__).with_name("command_lines.txt")
HELP = re.compile(r" \(see offwait (\w+ )?--help\)$")


def cases():
    """(status, command line, expected line or "") of each line of the table."""
    found = []
    for line in TABLE.read_text("utf-8").splitlines():
        if line.startswith("  "):
            found[-1][2] = line.strip()
        elif line and not line.startswith("#"):
            status, _, words = line.partition(" ")
            found.append([int(status), words, ""])
    return found


class Place:
    """Where the command lines are run, and what the words PID, FILE, TRACE and DIR stand for."""

    def __init__(self, test):
        self.directory = pathlib.Path(test.enterContext(tempfile.TemporaryDirectory()))
        self.directory.chmod(0o755)
        target = test.enterContext(harness.called("offwait-cl"))
        self.binary = shutil.copy(OFFWAIT, self.directory / "offwait")
        names = {"PID": str(target.pid), "FILE": "f.offwait", "TRACE": "t.txt", "DIR": "empty"}
        self.names = names
        (self.directory / "empty").mkdir()
        shutil.copy(TRACES / "figure1.txt", self.directory / "t.txt")
        (self.directory / "perf.data").write_bytes(b"PERFILE2" + bytes(100))
        recorded = run("record", "-p", target.pid, "-d", "300ms", "-o", self.directory / "f.offwait", "-q")
        if recorded.returncode != 0:
            raise AssertionError(recorded.stderr)

    def printed(self, line):
        """(status, line) as the table has them."""
        words = [re.sub("PID|FILE|TRACE|DIR", lambda name: self.names[name[0]], word) for word in shlex.split(line)]
        as_user = AS_NOBODY if words[0] == "nobody" else []
        words = words[1:] if as_user else words
        result = subprocess.run([*as_user, self.binary, *words[1:]], cwd=self.directory, stdin=subprocess.DEVNULL,
                                capture_output=True, timeout=harness.GUARD_S, env=environment(), check=False)
        said = [one.decode() for one in result.stderr.splitlines() if one.startswith(b"offwait: ") and not BEGUN.match(one)]
        first = result.stdout.decode(errors="replace").split("\n", 1)[0]
        shown = said[-1].removeprefix("offwait: ") if said else f"> {first}" if first else ""
        if result.returncode == 2 and words[1:2] and not result.stdout and "(see offwait" in shown:
            shown = HELP.sub("", shown)
        return result.returncode, shown

    def general(self, text):
        """The text with what differs from run to run left out."""
        text = text.replace(self.names["PID"], "PID").replace(str(self.directory), "…")
        return re.sub(r"(?:(?<=offwait-)|(?<=flight-)).*\d{8}T\d{6}\.\d{3}Z|\d+\.\d s with \d+ waits|\([\d.]+ MB\)|^> offwait \d.*|"
                      r"(?<=the last ).*(?=, because)|(?<=recording lasts )[\d.]+|(?<=of this name; there are ).*|"
                      r"(?<=has a function 'nosuch'; there are ).*|(?<=below )/sys/.*", "…", text)


def fits(expected, shown, place):
    pattern = ".*".join(re.escape(part) for part in expected.split("…"))
    for name, meaning in place.names.items():
        pattern = pattern.replace(name, f"(?:{name}|{re.escape(meaning)})")
    return re.fullmatch(pattern, shown, re.DOTALL)


class CommandLines(TestCase):
    def test_what_each_prints(self):
        place = Place(self)
        self.assertGreaterEqual(len(cases()), 120)
        for status, line, expected in cases():
            with self.subTest(line=line):
                got, shown = place.printed(line)
                self.assertEqual(got, status, shown)
                if expected or status != 0:
                    self.assertTrue(fits(expected, shown, place), f"\n{shown}\nexpected:\n{expected}")


class Printed(TestCase):
    def test_print(self):
        place = Place(self)
        table = TABLE.read_text("utf-8").splitlines()
        for line in table:
            if line.startswith("  "):
                continue
            if not line or line.startswith("#"):
                print(line)
                continue
            words = re.sub(r"^\d+ ", "", line)
            status, shown = place.printed(words)
            print(f"{status} {words}")
            if shown:
                print(f"  {place.general(shown)}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--print"]:
        sys.argv[1:] = ["Printed"]
    else:
        Printed.test_print = unittest.skip("prints the table: --print")(Printed.test_print)
    harness.main(needs_root=True)
