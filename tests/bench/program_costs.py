#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What each of offwait's BPF programs costs under a load, by the kernel's own count (bpf_stats_enabled): prints a Markdown table.

    program_costs.py BUILD WORKLOAD NAME=OFFWAIT[,OPTION]... [--rounds N]

BUILD is the build directory whose loads are used, WORKLOAD one of workloads.py. Each NAME is an executable of offwait with options,
for example `before=/tmp/offwait.old,--no-stacks`. They record the whole system in turn, under one load. A cell has the medians of
the time that a run of the program takes and of the time for each context switch of the machine; both include the kernel's two
readings of the clock. Smaller differences show here than in how fast the load is. Needs root, and a machine that does nothing
else. Asserts nothing."""
import argparse
import collections
import contextlib
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import threading
import time
from typing import NamedTuple

import workloads

LOADED = 5  # seconds that the load lasts in each run
SETTLED = 2  # of these, before the first count
MEASURED = 2
SHOWN = 10  # programs that take most
STATS = pathlib.Path("/proc/sys/kernel/bpf_stats_enabled")


class Count(NamedTuple):
    """Of one program in one run."""
    runs: int
    ns: int
    switches: int


@contextlib.contextmanager
def counting():
    before = STATS.read_text(encoding="ascii")
    STATS.write_text("1", encoding="ascii")
    try:
        yield
    finally:
        STATS.write_text(before, encoding="ascii")


def programs():
    """All BPF programs by their ids."""
    listed = subprocess.run(["bpftool", "prog", "show", "-j"], capture_output=True, check=True, text=True).stdout
    return {program["id"]: program for program in json.loads(listed)}


def one_run(load, command):
    """The counts of the programs that the command has loaded, by name."""
    load.prepare()
    others = programs()
    recorder = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        if "recording" not in recorder.stderr.readline():
            sys.exit(f"{command[0]} does not record: {recorder.stderr.read()}")
        running = threading.Thread(target=load.run)
        running.start()
        time.sleep(SETTLED)
        before, switches_before = programs(), workloads.switches()
        time.sleep(MEASURED)
        after, switches = programs(), workloads.switches() - switches_before
        running.join()
    finally:
        load.stop()
        recorder.send_signal(signal.SIGINT)
        recorder.communicate()
    counts = {}
    for number in (after.keys() & before.keys()) - others.keys():
        runs, ns = (after[number].get(key, 0) - before[number].get(key, 0) for key in ("run_cnt", "run_time_ns"))
        if runs:
            counts[after[number]["name"]] = Count(runs, ns, switches)
    return counts


def cell(counts):
    if not counts:
        return "–"
    return (f"{statistics.median(count.ns / count.runs for count in counts):,.0f} ns a run, "
            f"{statistics.median(count.ns / count.switches for count in counts):,.0f} ns a switch")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="build directory")
    parser.add_argument("workload", choices=workloads.NAMES)
    parser.add_argument("recorder", nargs="+", help="NAME=OFFWAIT[,OPTION]...")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("program_costs.py: needs root")
    commands = {}
    for recorder in options.recorder:
        name, _, words = recorder.partition("=")
        executable, *rest = words.split(",")
        commands[name] = [executable, "-a", *rest]
    by_program = collections.defaultdict(lambda: collections.defaultdict(list))
    with contextlib.ExitStack() as undo, counting():
        load = workloads.started(options.workload, undo, options.build, LOADED)
        for _ in range(options.rounds):
            for name, command in commands.items():
                counts = one_run(load, command)
                for program, count in counts.items():
                    by_program[program][name].append(count)
                switches = next(iter(counts.values())).switches
                by_program["all programs"][name].append(
                    Count(switches, sum(count.ns for count in counts.values()), switches))
    print(f"| program | {' | '.join(commands)} |\n|---{'|---:' * len(commands)}|")
    most = sorted(by_program, key=lambda program: -sum(count.ns for of_one in by_program[program].values() for count in of_one))
    for program in most[:SHOWN + 1]:
        print(f"| {program} | {' | '.join(cell(by_program[program][name]) for name in commands)} |")


if __name__ == "__main__":
    main()
