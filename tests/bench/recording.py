#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What recording one process or cgroup costs, compared with two other recorders in the same run: libbpf-tools' offcputime,
and a minimal recorder that calls bpf_get_stackid for each wait. table.py has more loads and recorders, of the whole system.

    recording.py BUILD [--other OFFWAIT] [--load pipe|ring|mariadb]... [--only RECORDER]... [--pairs N] [--seconds S]

A recorder's slowdown is that between neighbouring runs with and without it; the median over the pairs is printed. --other is
another offwait, an older one for example. It is the recorder `other`, and the ratio of the runs under the two is printed as
well. Absolute times depend on the machine; compare the last columns. Asserts nothing."""
import argparse
import contextlib
import os
import shutil
import statistics
import sys

import pairs
import recorders
import workloads
from recorders import Recorder


def show(name, measured, count):
    switches = statistics.median(pair.alone.switches for of_one in measured.values() for pair in of_one)
    print(f"{name}: {switches:,.0f} switches/s, {count} interleaved pairs, median [min..max]")
    slowdowns = {recorder: [pair.slowdown for pair in of_one] for recorder, of_one in measured.items()}
    medians = {recorder: statistics.median(runs) for recorder, runs in slowdowns.items()}
    if {"offwait", "other"} <= slowdowns.keys():
        ratios = sorted((1 + ours) / (1 + theirs) for ours, theirs in zip(slowdowns["offwait"], slowdowns["other"]))
        print(f"a run recorded by offwait takes {statistics.median(ratios):.3f} [{ratios[0]:.3f}..{ratios[-1]:.3f}] of one recorded "
              "by the other", flush=True)
    for recorder, runs in slowdowns.items():
        ratios = "".join(f"  {medians[recorder] / medians[peer]:5.2f} of {peer}'s" for peer in ("offcputime", "stackid")
                         if peer in medians and medians[peer] > 0)
        if recorder in ("offwait", "no-samples") and {"no-stacks", "stackid"} <= medians.keys():
            stacks = (medians[recorder] - medians["no-stacks"]) / medians["stackid"]
            ratios += f"  its stacks {stacks:5.2f} of stackid's"
        added = statistics.median(pair.added_ns for pair in measured[recorder])
        share = statistics.median(pair.use.cpu for pair in measured[recorder])
        print(f"{recorder:20} slowdown {100 * medians[recorder]:6.1f} % [{100 * min(runs):.1f}..{100 * max(runs):.1f}]  "
              f"{added:6.0f} ns/switch  recorder {100 * share:5.2f} % of a CPU{ratios}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="build directory")
    parser.add_argument("--other", help="another offwait")
    parser.add_argument("--load", action="append", choices=["pipe", "ring", "mariadb"])
    parser.add_argument("--only", action="append", help="a recorder (no-stacks, offwait, other, no-samples, cgroup, stackid, offcputime)")
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--seconds", type=int, default=2, help="length of a run")
    options = parser.parse_args()
    offcputime = recorders.found("offcputime")
    if os.geteuid() != 0 or not shutil.which("perf"):
        sys.exit("recording.py: needs root and perf (linux-perf)")
    if not shutil.which(offcputime) and "offcputime" in (options.only or ["offcputime"]):
        sys.exit("recording.py: needs offcputime (libbpf-tools)")
    dump = [options.build + "/offwait", "dump", "-o", "/dev/null", "-p", "{pid}"]
    chosen = {
        "no-stacks": Recorder(*dump, "--no-stacks", says="recording"),
        "offwait": Recorder(*dump, says="recording"),
        **({"other": Recorder(options.other, *dump[1:], says="recording")} if options.other else {}),
        "no-samples": Recorder(*dump, "--sample-hz", "0", says="recording"),
        "cgroup": Recorder(*dump[:-2], "-c", "{cgroup}", says="recording"),
        "stackid": recorders.minimal(options.build, "stackid"),
        "offcputime": Recorder(offcputime),
    }
    if options.only:
        chosen = {name: chosen[name] for name in options.only}
    for name in options.load or ["pipe", "ring", "mariadb"]:
        with contextlib.ExitStack() as undo:
            load = workloads.started(name, undo, options.build, options.seconds)
            show(name, pairs.measured(load, chosen, options.pairs), options.pairs)


if __name__ == "__main__":
    main()
