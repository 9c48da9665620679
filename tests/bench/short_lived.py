#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints how much memory and time 'offwait report' takes for recordings of many short-lived threads, and how much memory
for each of them more: short_lived.py BUILD_DIRECTORY [THREADS...]."""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

SECONDS = 10


def measured(command):
    """Peak memory in bytes, and seconds."""
    begin = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{command} exited with {child.returncode}")
    return usage.ru_maxrss * 1024, time.monotonic() - begin


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1])
    counts = [int(count) for count in sys.argv[2:]] or [20_000, 60_000, 150_000, 300_000, 600_000]
    before = None
    print(f"{'threads':>8} {'file':>8} {'memory':>8} {'time':>7}  bytes for each thread more")
    with tempfile.TemporaryDirectory() as directory:
        file = pathlib.Path(directory, "f")
        for count in counts:
            subprocess.run([build / "tests/bench/bench_short_lived", file, str(count), str(SECONDS)], check=True,
                           stdout=subprocess.DEVNULL)
            memory, took = measured([build / "offwait", "report", "-q", "--max-memory", "100G", file])
            more = f"{(memory - before[1]) / (count - before[0]):.0f}" if before else ""
            print(f"{count:>8} {file.stat().st_size / 1e6:>5.1f} MB {memory / 1e6:>5.0f} MB {took:>5.1f} s  {more}")
            before = count, memory


if __name__ == "__main__":
    main()
