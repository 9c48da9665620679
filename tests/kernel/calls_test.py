# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs whose calls of a function are known, and what --progress-at counts of them.

    calls_test.py OFFWAIT"""
import ctypes.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import recording
import runner

OFFWAIT = sys.argv[1]
PYTHON = "/usr/bin/python3"  # another one may be a script that calls getppid() itself
LIBC = next(line.split()[-1] for line in pathlib.Path("/proc/self/maps").read_text().splitlines()
            if re.search(r"/libc\.so\.6$", line))

# Two threads call getppid() so often, the one 3,000 times and the other 500 times, and a child process 70 times.
CALLS = """
import os, threading
def call(times):
    for _ in range(times): os.getppid()
threads = [threading.Thread(target=call, args=(times,)) for times in (3000, 500)]
for thread in threads: thread.start()
for thread in threads: thread.join()
if os.fork() == 0:
    call(70)
    os._exit(0)
os.wait()
"""

# It calls getppid() 1,000 times a second, as far as its sleeps are exact.
FOR_EVER = """
import os, time
print(os.getpid(), flush=True)
while True:
    os.getppid()
    time.sleep(0.001)
"""


def dump(*arguments):
    with tempfile.NamedTemporaryFile(suffix=".txt") as file:
        result = subprocess.run([OFFWAIT, "dump", "-o", file.name, *arguments], capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        return recording.Dump(file.name), result.stderr


class CallsTest(unittest.TestCase):
    def test_every_call_counts_for_its_thread(self):
        recorded, said = dump("--progress-at", f"{LIBC}:getppid", "--", PYTHON, "-c", CALLS)
        self.assertEqual(said, "")
        self.assertEqual(sorted(calls.count for calls in recorded.calls), [70, 500, 3000])
        self.assertEqual({calls.function for calls in recorded.calls}, {"getppid"})
        processes = {thread.tid: thread.tgid for thread in recorded.threads}
        by_process = sorted(processes[calls.tid] for calls in recorded.calls)
        self.assertEqual(len(set(by_process)), 2)
        for calls in recorded.calls:
            self.assertLessEqual(recorded.begin, calls.first)
            self.assertLess(calls.first, calls.last)
            self.assertLessEqual(calls.last, recorded.end)

    def running(self):
        target = subprocess.Popen([PYTHON, "-c", FOR_EVER], stdout=subprocess.PIPE, text=True)
        self.addCleanup(target.wait)
        self.addCleanup(target.stdout.close)
        self.addCleanup(target.kill)
        self.assertEqual(int(target.stdout.readline()), target.pid)
        return target

    def test_the_rate_and_the_threads_are_the_progress(self):
        target = self.running()
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            subprocess.run([OFFWAIT, "-q", "-p", str(target.pid), "-d", "2s", "--progress-at", "libc:getppid", "--json", file.name],
                           check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            report = json.load(file)
        (progress,) = report["progress"]
        self.assertEqual((progress["how"], progress["name"]), ("told", "calls of getppid"))
        self.assertEqual([report["actors"][actor]["name"] for actor in progress["actors"]], ["python3"])
        sleeps = report["totals"]["waits"]  # it waits for nothing else
        # A switch that the kernel did not report leaves a gap, in which a few sleeps are missing.
        missing = 2 * report["loss"]["switch_unseen"] + 1000 * report["totals"]["unknown_s"]
        calls = progress["per_s"] * report["recording"]["window_s"]
        self.assertTrue(sleeps - 3 <= calls <= sleeps + 3 + missing, (sleeps, calls, missing))
        self.assertEqual(report["answers"][0]["what"], "sleep")

    def test_a_function_that_nobody_calls(self):
        recorded, said = dump("--progress-at", f"{LIBC}:swab", "--", "true")
        self.assertEqual(recorded.calls, [])
        self.assertEqual(said, "offwait: --progress-at: nobody called swab in the recording, so its calls do not count\n")

    def wrong(self, sentence, *arguments):
        result = subprocess.run([OFFWAIT, *arguments], capture_output=True, text=True)
        self.assertEqual((result.stdout, result.stderr, result.returncode), ("", f"offwait: --progress-at: {sentence}\n", 2))

    def test_mistakes(self):
        pid = str(self.running().pid)
        self.wrong("/bin/true has no function 'getppidd' (it may be inlined, in a library, which -p would find when it runs, "
                   "or its symbols stripped)", "--progress-at", "getppidd", "--", "/bin/true")
        self.wrong("cannot read /no/such/file", "-p", pid, "--progress-at", "/no/such/file:f")
        for place, sentence in (
                ("libc.so:GETPPID", f"neither process {pid} nor a library it has mapped has a function 'GETPPID' \\(it may be "
                                    "inlined, or its symbols stripped\\); there are 'getppid'.*"),
                ("libnone:f", "no file that the target has mapped is called 'libnone'; there are '.*\\.so.*")):
            result = subprocess.run([OFFWAIT, "-p", pid, "--progress-at", place], capture_output=True, text=True)
            self.assertEqual(result.returncode, 2)
            self.assertRegex(result.stderr, f"^offwait: --progress-at: {sentence}\n$")


if __name__ == "__main__":
    sys.exit(runner.run(sys.argv[2:]))
