#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What recorders of the whole system cost under several loads: prints a Markdown table for each load.

    table.py BUILD [--workload W]... [--recorder R]... [--pairs N] [--seconds S]

Each load runs in turn without a recorder and under each of them. A cell has the median over such pairs of neighbouring runs,
and the quartiles in brackets. The recorder `nothing` shows what is noise. The columns:

  slowdown   how much longer the load takes for one operation
  ns/switch  wall time added per context switch of the load
  CPU        time that the recorder's own process used, of one CPU, while it recorded
  memory     what that process and the one that reports took at most; maps in the kernel are not in it
  written    bytes of the recording, by waits or, if these are not counted, by context switches
  lost       what the recorder says that it has lost (events, waits or stacks), in all runs together
  attach     time until it recorded
  report     time from the signal that stops it until its report was there

Recorders and loads that cannot be had are named, with the reason. Needs root, `packaging/install-packages.sh bench`, and
a machine that does nothing else. A recorder that makes a load 20 times slower is measured no further. Asserts nothing."""
import argparse
import contextlib
import os
import shutil
import signal
import statistics
import sys

import pairs
import recorders
import workloads


def spread(values, scale=1.0, digits=1):
    low, median, high = (scale * value for value in pairs.quartiles(values))
    return f"{median:,.{digits}f} [{low:,.{digits}f}..{high:,.{digits}f}]"


def middle(values, digits=1, scale=1.0):
    return f"{scale * statistics.median(values):,.{digits}f}"


def written(uses):
    if uses[0].file is None:
        return "–"
    waits = sum(use.waits or 0 for use in uses)
    count, unit = (waits, "wait") if waits else (sum(use.switches for use in uses), "switch")
    return f"{sum(use.file for use in uses) / max(1, count):.1f} B/{unit}"


def head(*first):
    """The head of a table. The columns of row() follow those given."""
    columns = [*first, "recorder", "slowdown, %", "ns/switch", "CPU, %", "memory, MB", "written", "lost", "attach, s", "report, s",
               "pairs"]
    return f"| {' | '.join(columns)} |\n|{'|'.join('---' if column == 'recorder' else '---:' for column in columns)}|"


def row(*first, name, measured):
    if not measured:
        cells = [*first, recorders.NAMES[name], f"over {100 * (pairs.TIMES_SLOWER - 1):,}", *["–"] * 7, "0"]
        return f"| {' | '.join(cells)} |"
    cells = [*first, recorders.NAMES[name], spread((pair.slowdown for pair in measured), 100),
             spread((pair.added_ns for pair in measured), digits=0)]
    uses = [pair.use for pair in measured if pair.use]
    if uses:
        lost = [use.lost for use in uses if use.lost is not None]
        cells += [middle([use.cpu for use in uses], 2, 100), middle([use.memory for use in uses], 0, 1 / (1 << 20)),
                  written(uses), f"{sum(lost):,}" if lost else "–", middle([use.attach for use in uses], 2),
                  middle([use.report for use in uses], 2)]
    else:
        cells += ["–"] * 6
    return f"| {' | '.join([*cells, str(len(measured))])} |"


def show(title, measured):
    switches = [pair.alone.switches for of_one in measured.values() for pair in of_one]
    rate = f": {spread(switches, digits=0)} switches/s" if switches else ""
    print(f"\n### {title}{rate}\n")
    print(head())
    for name, of_one in measured.items():
        print(row(name=name, measured=of_one), flush=True)


def available(build, names):
    """Those of the recorders that can be had. Prints why not of the others."""
    chosen = {name: recorder for name, recorder in recorders.whole_system(build).items() if name in names}
    for name, recorder in list(chosen.items()):
        if reason := recorders.why_not(recorder):
            print(f"Left out: {recorders.NAMES[name]}: {reason}", flush=True)
            del chosen[name]
    return chosen


def arguments(description, what, **of_what):
    """The command line of a table, with the option `what`, which may be given several times."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="build directory")
    parser.add_argument(what, action="append", help="may be given several times", **of_what)
    parser.add_argument("--recorder", action="append", choices=recorders.NAMES, help="may be given several times")
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--seconds", type=int, default=3, help="length of a run")
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit(f"{os.path.basename(sys.argv[0])}: needs root")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends what was started
    return options


def main():
    options = arguments(__doc__, "--workload", choices=workloads.NAMES)
    chosen = available(options.build, options.recorder or recorders.NAMES)
    for name in options.workload or workloads.NAMES:
        if (program := workloads.NEEDED.get(name)) and not shutil.which(program):
            print(f"\nLeft out: {workloads.NAMES[name]}: {program} is not installed (packaging/install-packages.sh bench)")
            continue
        with contextlib.ExitStack() as undo:
            load = workloads.started(name, undo, options.build, options.seconds)
            show(f"{name}: {workloads.NAMES[name]}", pairs.measured(load, chosen, options.pairs))


if __name__ == "__main__":
    main()
