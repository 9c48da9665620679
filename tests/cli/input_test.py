#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Which file is read, and what is said of one that is no recording. Needs no root."""

import os
import pathlib
import shutil
import tempfile

import harness
from harness import TRACES, TestCase, environment, run

FIGURE1 = TRACES / "figure1.txt"
FIGURE3 = TRACES / "figure3.txt"


class Files(TestCase):
    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def given(self, name, content):
        (self.directory / name).write_bytes(content)
        return self.directory / name

    def test_a_directory_is_its_newest_recording(self):
        given = str(self.directory)
        self.fails(1, f"{given} is a directory without recordings: their names end in .offwait", "report", given)
        for age, (name, trace) in enumerate((("b.offwait", FIGURE1), ("a.offwait", FIGURE3))):
            shutil.copy(trace, self.directory / name)
            os.utime(self.directory / name, (1e9 - age, 1e9 - age))
        self.given("new.txt", b"")
        (self.directory / "c.offwait").symlink_to(FIGURE3)
        for way in (given, given + "/"):
            result = run("report", way)
            self.assertEqual(result.stdout, run("report", FIGURE1).stdout)
            self.assertEqual(result.stderr.decode(), f"offwait: {given}/b.offwait is the newest of 2 recordings in {way}\n")
        self.assertEqual(run("report", "-q", given).stderr, b"")
        self.assertEqual(run("dump", given).stdout, run("dump", FIGURE1).stdout)

    def test_an_empty_file(self):
        name = self.given("f", b"")
        self.fails(1, f"{name} is empty: nothing was recorded yet", "report", name)
        self.fails(1, "standard input is empty: nothing was recorded yet", "report", "-")

    def test_files_of_other_programs(self):
        for content, sentence in (
                (b"hello\n", ""),
                (b"\x7fELF", ""),
                (b"PERFILE2" + bytes(100), ", but one of perf"),
                (b"\x28\xb5\x2f\xfd\0\0", ", but compressed: 'zstd -dc FILE | offwait report -' may read it"),
                (run("report", FIGURE1, "--json", "-").stdout, ", but JSON, which offwait writes and does not read")):
            name = self.given("f", content)
            self.fails(1, f"{name}: not a recording of offwait{sentence}", "report", name)


class Windows(TestCase):
    """A recording of 10 s that began at 10:00:00 UTC: ten times a second 1 waits for 2."""

    def setUp(self):
        lines = ["offwait-waits 1", "window 0 10000000000",
                 "recording target=x start_time=2026-11-22T10:00:00Z kernel=6.1 offwait=0.1.0 cpus=2",
                 "thread 1 tgid=1 comm=a start=0 exit=-", "thread 2 tgid=1 comm=b start=0 exit=-"]
        for at in range(10_000_000, 10_000_000_000, 100_000_000):
            lines.append(f"wait 1 block={at} wake={at + 50_000_000} run={at + 50_000_000} waker=thread:2 class=futex")
        file = self.enterContext(tempfile.NamedTemporaryFile("w", suffix=".txt"))
        file.write("\n".join([*lines, ""]))
        file.flush()
        self.name = file.name

    def report(self, window, zone="UTC"):
        result = run("report", self.name, "--json", "-", "--window", window, env=environment(TZ=zone))
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_by_the_clock(self):
        for clock, zone in (("10:00:02..10:00:05", "UTC"), ("11:00:02..11:00:05", "CET-1"), ("10:00:02Z..10:00:05Z", "CET-1"),
                            ("2026-11-22T10:00:02..2026-11-22 10:00:05", "UTC")):
            self.assertEqual(self.report(clock, zone), self.report("2s..5s"), clock)
        self.assertEqual(self.report("10:00:02.5.."), self.report("2.5s.."))
        self.assertEqual(self.report("09:59..10:00:05"), self.report("0..5s"))

    def test_that_has_nothing_of_the_recording(self):
        for clock in ("10:01..10:02", "09:00..09:59", "2026-11-23T10:00:02.."):
            self.fails(2, "--window has nothing of the recording, which lasted from 2026-11-22 11:00:00 to 11:00:10 CET",
                       "report", self.name, "--window", clock, env=environment(TZ="CET-1"))
        self.fails(2, "--window by the wall clock: the recording does not say when it was made; count from its start, as "
                   "30s..40s", "report", FIGURE3, "--window", "10:00..")


if __name__ == "__main__":
    harness.main(needs_root=False)
