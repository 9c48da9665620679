#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints how much memory and time 'offwait report' takes for recordings of many short-lived threads, and how much memory
for each of them more: short_lived.py BUILD_DIRECTORY [THREADS...]. `own` memory is without that of files, to which the
kernel can write pages when memory runs short (src/base/evictable.h)."""
import pathlib
import re
import subprocess
import sys
import tempfile
import time

SECONDS = 10


def measured(command):
    """Peaks of all memory and of own memory in bytes, which are looked at every few ms, and seconds."""
    begin = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    most = [0, 0]
    while child.poll() is None:
        status = pathlib.Path(f"/proc/{child.pid}/status").read_text()
        for i, name in enumerate(("VmRSS", "RssAnon")):
            if found := re.search(rf"^{name}:\s+(\d+) kB", status, re.MULTILINE):
                most[i] = max(most[i], int(found[1]) * 1024)
        time.sleep(0.005)
    if child.returncode != 0:
        sys.exit(f"{command} exited with {child.returncode}")
    return most, time.monotonic() - begin


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1])
    counts = [int(count) for count in sys.argv[2:]] or [20_000, 60_000, 150_000, 300_000, 600_000]
    before = None
    print(f"{'threads':>8} {'file':>8} {'memory':>8} {'own':>8} {'time':>7}  bytes for each thread more, own bytes")
    with tempfile.TemporaryDirectory() as directory:
        file = pathlib.Path(directory, "f")
        for count in counts:
            subprocess.run([build / "tests/bench/bench_short_lived", file, str(count), str(SECONDS)], check=True,
                           stdout=subprocess.DEVNULL)
            memory, took = measured([build / "offwait", "report", "-q", "--max-memory", "100G", file])
            more = [f"{(now - then) / (count - before[0]):.0f}" for now, then in zip(memory, before[1])] if before else []
            print(f"{count:>8} {file.stat().st_size / 1e6:>5.1f} MB {memory[0] / 1e6:>5.0f} MB {memory[1] / 1e6:>5.0f} MB "
                  f"{took:>5.1f} s  {', '.join(more)}")
            before = count, memory


if __name__ == "__main__":
    main()
