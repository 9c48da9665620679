# SPDX-License-Identifier: GPL-2.0-or-later
"""Recording files of a running program: what they hold, and what is left of them when they are interrupted.

    recording_file_test.py OFFWAIT RECORDED_TWICE"""
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import runner

OFFWAIT, RECORDED_TWICE = sys.argv[1:3]

# Two threads that hand a byte to and fro, one that sleeps, and one that writes and syncs a file. Some thousand waits a second:
# more would only take longer to read.
PROGRAM = r"""
import os, sys, threading, time
a, b = os.pipe(), os.pipe()
def echo(take, give):
    while os.read(take, 1):
        time.sleep(0.0002)
        os.write(give, b"x")
def sleep():
    while True:
        time.sleep(0.001)
def write():
    with open(sys.argv[1], "wb", buffering=0) as file:
        while True:
            file.write(b"x" * 5000)
            os.fdatasync(file.fileno())
            if file.tell() > 10_000_000:
                file.seek(0)
for work in (lambda: echo(a[0], b[1]), lambda: echo(b[0], a[1]), sleep, write):
    threading.Thread(target=work, daemon=True).start()
os.write(a[1], b"x")
print("ready", flush=True)
sys.stdin.read()
"""


def offwait(*arguments, **options):
    return subprocess.run([OFFWAIT, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True, **options)


class RecordingFileTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.place = pathlib.Path(cls.directory.name)
        cls.target = subprocess.Popen([sys.executable, "-c", PROGRAM, cls.place / "data"], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE)
        cls.target.stdout.readline()

    @classmethod
    def tearDownClass(cls):
        cls.target.stdin.close()
        cls.target.kill()
        cls.target.wait()
        cls.target.stdout.close()
        cls.directory.cleanup()

    def dumped(self, file, *options):
        result = offwait("dump", file, *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout, result.stderr

    def test_a_file_has_what_a_recording_in_memory_has(self):
        file, text = self.place / "memory", self.place / "text"
        result = subprocess.run([RECORDED_TWICE, str(self.target.pid), "4", file, text], capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertGreater(int(re.search(r"(\d+) waits", result.stdout)[1]), 1000)
        self.assertEqual(self.dumped(file)[0], text.read_text())
        reports = [offwait("report", name, "-v", "--json", self.place / "json", "-q") for name in (file, text)]
        self.assertEqual(reports[0].returncode, 0, reports[0].stderr)
        self.assertEqual(reports[0].stdout, reports[1].stdout)

    def test_record_and_report(self):
        file = self.place / self._testMethodName
        result = offwait("record", "-p", self.target.pid, "-d", "1500ms", "-o", file, "--label", "k=v", "--label", "empty=")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, r"1\.5 s with \d+ waits are in .*/test_record_and_report \(\d+\.\d MB\)")
        report = offwait("report", file)
        self.assertEqual(report.returncode, 0, report.stderr)
        self.assertIn("\nLabels: k=v, empty=\n", report.stdout)
        self.assertNotIn("interrupted", report.stdout)
        text = self.dumped(file)[0]
        self.assertIn(" class=pipe ", text)
        self.assertRegex(text, r"stack=\S*pipe_read\S*;")
        self.assertRegex(text, r"stack=\S*fdatasync\+")
        # A part, and the same part of the text.
        whole = self.place / "whole.txt"
        whole.write_text(text)
        for part in (["--last", "500ms"], ["--window", "200ms..700ms"]):
            window = re.search(r"^window (\d+) (\d+)$", self.dumped(file, *part)[0], re.MULTILINE)
            self.assertEqual(int(window[2]) - int(window[1]), 500_000_000)
            reports = [offwait("report", name, *part) for name in (file, whole)]
            self.assertEqual(reports[0].returncode, 0, reports[0].stderr)
            self.assertEqual(reports[0].stdout, reports[1].stdout)
            self.assertIn(" 500 ms ", reports[0].stdout.splitlines()[0])

    def test_a_killed_recording_is_good_up_to_its_last_second(self):
        file = self.place / self._testMethodName
        recorder = subprocess.Popen([OFFWAIT, "record", "-p", str(self.target.pid), "-o", file, "-q"])
        deadline = time.monotonic() + 30
        while not (file.exists() and file.stat().st_size > 20_000) and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(2.5)
        recorder.send_signal(signal.SIGKILL)
        recorder.wait()
        text, notes = self.dumped(file)
        self.assertIn("was interrupted", notes)
        window = re.search(r"^window (\d+) (\d+)$", text, re.MULTILINE)
        self.assertGreater(int(window[2]) - int(window[1]), 1_900_000_000)
        self.assertIn(" interrupted=yes", text)
        # Names of the kernel are there, and functions of the program are places in files.
        self.assertRegex(text, r"stack=\S*pipe_read\S*;")
        self.assertRegex(text, r"\[libc\.so\.6\+0x[0-9a-f]+\]")
        # A thread that waits at the end waits in the text as well: the kernel's tables are in the file.
        self.assertRegex(text, r"(?m)^wait \d+ block=\d+ wake=- ")
        report = offwait("report", file)
        self.assertEqual(report.returncode, 0, report.stderr)
        self.assertIn("The recording was interrupted.", report.stdout)

    def test_a_killed_recording_of_a_busy_system_is_good_up_to_its_last_second(self):
        file = self.place / self._testMethodName
        loads = [subprocess.Popen(["sh", "-c", "while :; do /bin/true; done"]) for _ in range(4)]
        try:
            recorder = subprocess.Popen([OFFWAIT, "record", "-a", "-o", file, "-q"])
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline:
                if file.exists():
                    dump = offwait("dump", file)
                    if dump.returncode == 0:
                        break
                    self.assertRegex(dump.stderr, rf"^offwait: {file}(: nothing was recorded yet \(.+\)| is empty: nothing "
                                                  r"was recorded yet)$")
                time.sleep(0.05)
            time.sleep(4)
            recorder.send_signal(signal.SIGKILL)
            at = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            recorder.wait()
        finally:
            for load in loads:
                load.kill()
                load.wait()
        text = self.dumped(file)[0]
        window = re.search(r"^window (\d+) (\d+)$", text, re.MULTILINE)
        self.assertLess(at - int(window[2]), 1_500_000_000)
        self.assertGreater(int(window[2]) - int(window[1]), 2_500_000_000)
        self.assertEqual(offwait("report", file, "-q").returncode, 0)

    def test_a_recording_without_symbols_has_places_in_files(self):
        file = self.place / self._testMethodName
        result = offwait("record", "-p", self.target.pid, "-d", "500ms", "-o", file, "--no-symbols")
        self.assertEqual(result.returncode, 0, result.stderr)
        text, notes = self.dumped(file)
        self.assertEqual(notes, "")
        self.assertRegex(text, r"stack=\S*pipe_read\S*;")
        self.assertRegex(text, r"\[libc\.so\.6\+0x[0-9a-f]+\]")
        self.assertNotRegex(text, r"fdatasync\+0x[0-9a-f]+%20\(libc")

    def test_a_full_disk_ends_the_recording_and_keeps_what_there_is(self):
        disk = self.place / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", disk], capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("no file system of a known size can be mounted")
        try:
            file = disk / "f"
            result = offwait("record", "-p", self.target.pid, "-d", "60s", "-o", file, timeout=55)
            self.assertEqual(result.returncode, 1)
            self.assertEqual(result.stderr.splitlines()[-1], f"offwait: cannot write {file}: No space left on device")
            self.assertIn("was interrupted", self.dumped(file)[1])
        finally:
            subprocess.run(["umount", disk], check=True)

    def test_a_command_keeps_its_status(self):
        file = self.place / self._testMethodName
        result = offwait("record", "-o", file, "--", "sh", "-c", "sleep 0.3; exit 3")
        self.assertEqual(result.returncode, 3, result.stderr)
        report = offwait("report", file, "--progress", "end")
        self.assertEqual(report.returncode, 0, report.stderr)

    def test_mistakes_come_before_the_recording(self):
        for path, reason in ((self.place / "missing" / "f", "No such file or directory"), (self.place, "Is a directory")):
            begin = time.monotonic()
            result = offwait("record", "-p", self.target.pid, "-o", path, timeout=50)
            self.assertEqual(result.returncode, 1)
            self.assertEqual(result.stderr, f"offwait: cannot write {path}: {reason}\n")
            self.assertLess(time.monotonic() - begin, 10)

    def test_a_mistake_leaves_an_older_recording_alone(self):
        file = self.place / self._testMethodName
        file.write_bytes(b"an older recording")
        self.assertEqual(offwait("record", "-p", "2147483647", "-o", file).returncode, 1)
        self.assertEqual(file.read_bytes(), b"an older recording")

    def test_a_recording_that_does_not_begin_leaves_no_file(self):
        file = self.place / self._testMethodName
        self.assertEqual(offwait("record", "-p", "2147483647", "-o", file).returncode, 1)
        self.assertFalse(file.exists())

    def test_without_a_name_it_is_called_after_the_target_and_the_time(self):
        place = self.place / self._testMethodName
        place.mkdir()
        result = offwait("record", "-d", "300ms", "-p", self.target.pid, cwd=place)
        self.assertEqual(result.returncode, 0, result.stderr)
        (made,) = place.iterdir()
        self.assertRegex(made.name, r"^offwait-[\w.-]+-\d{8}T\d{6}\.\d{3}Z\.offwait$")
        self.assertRegex(result.stderr, rf"offwait: 0\.\d s with \d+ waits are in {re.escape(made.name)} \([\d.]+ MB\)\n$")
        self.assertEqual(offwait("report", place).returncode, 0)


if __name__ == "__main__":
    sys.exit(runner.run(sys.argv[3:]))
