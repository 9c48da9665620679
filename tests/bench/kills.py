#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Kills a recorder of the whole host at random moments, and reads what it left.

    kills.py OFFWAIT LOAD [KILLS=100] [SEED=1]

LOAD is a command that keeps threads busy. Prints for each moment how much the report has, and how long before the kill it
ends. Fails if a file that was left behind cannot be read: it has all but its last second, or nothing was recorded yet."""
import collections
import datetime
import json
import os
import random
import shlex
import subprocess
import sys
import tempfile
import time

MOST = 2  # seconds: a write each second, which a busy machine delays


def outcome(offwait, path):
    """`report`, `nothing yet` or what was printed; of a report the seconds that it has, and when it ends (Unix time)."""
    if not os.path.exists(path):
        return "no file", 0.0, 0.0
    read = subprocess.run([offwait, "report", path, "--json", "-"], capture_output=True, timeout=60, check=False)
    error = read.stderr.decode()
    if read.returncode == 0:
        recording = json.loads(read.stdout)["recording"]
        start = datetime.datetime.fromisoformat(recording["start_time"].replace("Z", "+00:00")).timestamp()
        return "report", recording["window_s"], start + recording["window_s"]
    if read.returncode == 1 and "nothing was recorded yet" in error:
        return "nothing yet", 0.0, 0.0
    return f"exit {read.returncode}: {error.strip()}", 0.0, 0.0


def main():
    offwait, load = sys.argv[1], shlex.split(sys.argv[2])
    kills = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    chance = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    counts, late = collections.Counter(), 0
    target = subprocess.Popen(load, stdout=subprocess.DEVNULL)
    try:
        with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
            for number in range(kills):
                path = os.path.join(directory, f"{number}.offwait")
                after = chance.uniform(0.0, 5.0)
                with subprocess.Popen([offwait, "record", "-q", "-a", "-o", path], stderr=subprocess.DEVNULL) as recorder:
                    time.sleep(after)
                    killed = time.time()
                    recorder.kill()
                what, seconds, end = outcome(offwait, path)
                counts[what] += 1
                lacks = f" {seconds:.2f} s, but the last {killed - end:.2f} s" if what == "report" else ""
                late += what == "report" and killed - end > MOST
                print(f"{number:3}  killed after {after:4.2f} s: {what}{lacks}", flush=True)
    finally:
        target.kill()
        target.wait()
    print(dict(counts), f"reports that lack more than the last {MOST} s: {late}")
    return 0 if set(counts) <= {"report", "nothing yet", "no file"} and not late else 1


if __name__ == "__main__":
    sys.exit(main())
