#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the time of a build went, by room and by file, from Ninja's log.

    tests/bench/build_time.py [BUILD_DIRECTORY] [--most N]

Prints the N rooms and files (default 10) that took longest. A step's time is from its start to its end, which on a busy
machine is more than the CPU time it used. Only the last build of each file counts.
"""

import argparse
import re
from collections import defaultdict
from pathlib import Path

# (pattern of a step's output, what it belongs to).
ROOMS = (
    (re.compile(r"^src/CMakeFiles/offwait_(\w+)\.dir/.*\.o$"), "src/{}"),
    (re.compile(r"^tests/CMakeFiles/unit_(\w+)\.dir/.*\.o$"), "tests/unit/{}"),
    (re.compile(r"^tests/(\w+)/.*\.o$"), "tests/{}"),
    (re.compile(r"^(bpf|examples|packaging)/"), "{}"),
    (re.compile(r"\.o$"), "other objects"),
)


def room_of(output):
    for pattern, name in ROOMS:
        if match := pattern.search(output):
            return name.format(*match.groups())
    return "linking and the rest"


def steps_of(log):
    """(seconds, output) of each step; the first output where a command has several."""
    last = {}
    for line in log.splitlines():
        if line.startswith("#"):
            continue
        begin, end, _, output, command = line.split("\t")
        last[output] = (int(begin), int(end), command)
    seen = set()
    for output, step in last.items():
        if step not in seen:
            seen.add(step)
            yield (step[1] - step[0]) / 1000, output


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", nargs="?", default="build/release", type=Path)
    parser.add_argument("--most", default=10, type=int)
    options = parser.parse_args()
    log = options.build / ".ninja_log"
    if not log.exists():
        parser.error(f"no {log}: nothing was built there with Ninja")
    steps = sorted(steps_of(log.read_text(encoding="utf-8")), reverse=True)
    rooms = defaultdict(float)
    for seconds, output in steps:
        rooms[room_of(output)] += seconds
    total = sum(rooms.values())
    print(f"  {total:6.1f} s  all steps")
    for room, seconds in sorted(rooms.items(), key=lambda item: -item[1])[: options.most]:
        print(f"  {seconds:6.1f} s  {seconds / total:4.0%}  {room}")
    for seconds, output in steps[: options.most]:
        print(f"  {seconds:6.1f} s  {re.sub(r'CMakeFiles/[^/]*/', '', output)}")


if __name__ == "__main__":
    main()
