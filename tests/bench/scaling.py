#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How the cost of recorders depends on the number of threads: prints one Markdown table.

    scaling.py BUILD [--threads N]... [--recorder R]... [--pairs N] [--seconds S]

So many threads, by default 1, 10, 100, 1,000 and 10,000, wait on one CPU and are woken in turn (paced_wakeups.cpp). The switches
per second are nearly the same for all numbers; the table has them. The threads wait when the recorder attaches. The other columns
are those of table.py. Needs root, and a machine that does nothing else. Asserts nothing."""
import statistics

import pairs
import table
import workloads


def main():
    options = table.arguments(__doc__, "--threads", type=int)
    chosen = table.available(options.build, options.recorder or ["nothing", "joined", "no-stacks", "offwait"])
    print(table.head("threads", "switches/s"), flush=True)
    for threads in options.threads or [1, 10, 100, 1000, 10000]:
        load = workloads.Program(options.seconds, 5000, f"{options.build}/tests/bench/bench_paced_wakeups", str(threads),
                             says_ready=True)
        for name, measured in pairs.measured(load, chosen, options.pairs).items():
            switches = f"{statistics.median(pair.alone.switches for pair in measured):,.0f}" if measured else "–"
            print(table.row(f"{threads:,}", switches, name=name, measured=measured), flush=True)


if __name__ == "__main__":
    main()
