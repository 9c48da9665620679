#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How much CPU samples slow down the thread that is sampled.

    sampling.py OFFWAIT [--pairs N]

A pinned thread computes in short slices and notes the CPU time of each. It is recorded alternately without samples and with 9999
a second, for 1.5 s each. The slowdown of a pair is the ratio of its two median slices. Prints the median over the pairs, and
from it the cost of one sample and of the default rate. Asserts nothing."""
import argparse
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HZ, DEFAULT_HZ = 9999, 99
WORK = """
import sys, time
while True:
    at, before = time.monotonic(), time.thread_time_ns()
    for _ in range(150_000):
        pass
    sys.stdout.write(f"{at} {time.thread_time_ns() - before}\\n")
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("offwait")
    parser.add_argument("--pairs", type=int, default=10)
    options = parser.parse_args()
    spans = []
    with tempfile.TemporaryFile("w+") as slices:
        target = subprocess.Popen(["taskset", "-c", "1", sys.executable, "-u", "-c", WORK], stdout=slices)
        for hz in (0, HZ) * options.pairs:
            recorder = subprocess.Popen([options.offwait, "dump", "-p", str(target.pid), "-o", "/dev/null",
                                         "--sample-hz", str(hz)], stderr=subprocess.PIPE, text=True)
            recorder.stderr.readline()
            begin = time.monotonic()
            time.sleep(1.5)
            spans.append((begin, time.monotonic()))
            recorder.send_signal(signal.SIGINT)
            recorder.communicate()
        target.kill()
        target.wait()
        slices.seek(0)
        rows = [tuple(map(float, line.split())) for line in slices if line.endswith("\n")]
    medians = [statistics.median(ns for at, ns in rows if begin <= at < end - 0.1) for begin, end in spans]
    slowdowns = [sampled / plain - 1 for plain, sampled in zip(medians[::2], medians[1::2])]
    slowdown = statistics.median(slowdowns)
    print(f"{HZ} Hz: {100 * slowdown:.1f} % slower [{100 * min(slowdowns):.1f}..{100 * max(slowdowns):.1f}], "
          f"{1e6 * slowdown / HZ:.1f} us a sample; {DEFAULT_HZ} Hz: {100 * slowdown * DEFAULT_HZ / HZ:.2f} %")


if __name__ == "__main__":
    main()
