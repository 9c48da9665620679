# SPDX-License-Identifier: GPL-2.0-or-later
"""The flight recorder: which files it writes, and what they have.

    flight_test.py OFFWAIT"""
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import runner

OFFWAIT = sys.argv[1]

# Two threads hand a byte to and fro every 20 ms, one sleeps and one polls, both without end. What stdin says happens
# once.
PROGRAM = r"""
import os, select, subprocess, sys, threading, time
a, b = os.pipe(), os.pipe()
stall = threading.Event()
def call(name):
    with open(f"/proc/self/task/{named.native_id}/comm", "w") as comm:
        comm.write(name)
def echo(take, give):
    while os.read(take, 1):
        time.sleep(1 if stall.is_set() else 0.02)
        stall.clear()
        os.write(give, b"x")
for work in (lambda: echo(b[0], a[1]), lambda: time.sleep(1000), lambda: select.epoll().poll()):
    threading.Thread(target=work, daemon=True).start()
named = threading.Thread(target=lambda: echo(a[0], b[1]), daemon=True)
named.start()
call("early")
os.write(a[1], b"x")
print("ready", flush=True)
for line in sys.stdin:
    if line == "stall\n":
        stall.set()
    elif line == "child\n":
        subprocess.run(["sleep", "0.1"])
        call("renamed")
"""


def offwait(*arguments):
    return subprocess.run([OFFWAIT, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True)


class FlightTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.place = pathlib.Path(directory.name)
        self.target = subprocess.Popen([sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.end_target)
        self.target.stdout.readline()

    def end_target(self):
        self.target.kill()
        self.target.communicate()

    def tell(self, what):
        self.target.stdin.write(what + "\n")
        self.target.stdin.flush()

    def start(self, *options):
        recorder = subprocess.Popen([OFFWAIT, "record", "-p", str(self.target.pid), "--flight", "3s", *options],
                                    stderr=subprocess.PIPE, text=True)
        self.addCleanup(recorder.stderr.close)
        self.addCleanup(recorder.wait)
        self.addCleanup(recorder.kill)
        self.assertRegex(recorder.stderr.readline(),
                         rf"^offwait: recording pid \d+ \(python.*\); kill -USR1 {recorder.pid} writes the last 3 s$")
        return recorder

    def written(self, recorder, why):
        """The next file that the recorder has told of."""
        line = recorder.stderr.readline()
        found = re.fullmatch(r"offwait: (\S+) has the last (\d+\.\d) s with \d+ waits \(\d+\.\d MB\), because of (.*)\n", line)
        self.assertTrue(found, line)
        self.assertEqual(found[3], why)
        return pathlib.Path(found[1]), float(found[2])

    def dumped(self, file):
        result = offwait("dump", file)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def test_files_have_what_happened_last(self):
        recorder = self.start("-o", self.place, "--when", "wait>300ms", "--when", "wait:pipe>600ms", "--keep", "2",
                              "--label", "k=v")
        self.tell("child")
        time.sleep(0.5)
        self.tell("stall")
        file, seconds = self.written(recorder, "wait:pipe>600ms")
        self.assertRegex(file.name, r"^flight-\d{8}T\d{6}\.\d{3}Z-waitpipe\.offwait$")
        self.assertLess(seconds, 4.5)
        text = self.dumped(file)
        child = rf"(?m)^wait {self.target.pid} .* class=child "  # this test waits for children, too, and is outside
        self.assertRegex(text, child)
        self.assertIn("label name=k value=v\nlabel name=trigger value=wait:pipe>600ms\n", text)

        time.sleep(4.5)
        self.tell("stall")  # within the cooldown
        time.sleep(2)
        recorder.send_signal(signal.SIGUSR1)
        file, seconds = self.written(recorder, "SIGUSR1")
        self.assertTrue(3 <= seconds < 4.5, seconds)
        text = self.dumped(file)
        self.assertNotRegex(text, child)
        self.assertRegex(text, r"(?m)^thread .* comm=renamed ")  # it began, and got its name, before the window
        self.assertRegex(text, r"stack=\S*pipe_read\S*;--;\S*read\+0x\S*libc")
        window = re.search(r"^window (\d+) (\d+)$", text, re.MULTILINE)
        runs = [int(run) for run in re.findall(r"^wait .* run=(\d+) ", text, re.MULTILINE)]
        self.assertGreater(len(runs), 20)
        self.assertGreaterEqual(min(runs), int(window[1]))
        pipes = re.findall(r"^wait .* block=(\d+) .* run=(\d+) .* class=pipe", text, re.MULTILINE)
        longest = max(int(run) - int(block) for block, run in pipes)
        self.assertGreater(longest, 900_000_000)
        # The threads that sleep and poll throughout, with the stacks that were walked in user space.
        self.assertRegex(text, r"(?m)^wait .* wake=- .* class=sleep .*nanosleep.*;--;.*libc")
        self.assertRegex(text, r"(?m)^wait .* wake=- .* class=poll ")
        report = offwait("report", file)
        self.assertEqual(report.returncode, 0, report.stderr)
        self.assertIn("\nLabels: k=v, trigger=SIGUSR1\n", report.stdout)
        self.assertNotIn("interrupted", report.stdout)

        recorder.send_signal(signal.SIGINT)
        last, _ = self.written(recorder, "end")
        self.assertEqual(recorder.wait(), 0)
        self.assertEqual(recorder.stderr.read(), "")
        self.assertEqual(sorted(self.place.iterdir()), [file, last])

    def test_a_full_disk_does_not_end_the_flight(self):
        disk = self.place / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk], capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("no file system of a known size can be mounted")
        self.addCleanup(subprocess.run, ["umount", disk], check=True)
        recorder = self.start("-o", disk)
        junk = disk / "junk"
        with self.assertRaises(OSError), open(junk, "wb", buffering=0) as file:
            while True:
                file.write(bytes(65536))
        recorder.send_signal(signal.SIGUSR1)
        self.assertRegex(recorder.stderr.readline(),
                         rf"^offwait: cannot write {disk}/flight-\S+-usr1\.offwait: No space left on device; "
                         r"the recording goes on$")
        self.assertEqual(list(disk.iterdir()), [junk])
        junk.unlink()
        recorder.send_signal(signal.SIGUSR1)
        file, _ = self.written(recorder, "SIGUSR1")
        self.end_target()  # ends the recording
        last, _ = self.written(recorder, "end")
        self.assertEqual(recorder.wait(), 0)
        self.assertEqual(sorted(disk.iterdir()), [file, last])

    def test_mistakes_come_before_the_recording(self):
        result = offwait("record", "-p", self.target.pid, "--flight", "3s", "-o", self.place / "missing" / "deep")
        self.assertEqual((result.returncode, result.stderr),
                         (1, f"offwait: cannot make {self.place}/missing/deep: No such file or directory\n"))


if __name__ == "__main__":
    sys.exit(runner.run(sys.argv[2:]))
