#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What recorders cost a MariaDB whose load goes on while they come and go: prints a Markdown table.

    one_run.py BUILD [--recorder R]... [--offwait NAME=OFFWAIT[,OPTION]...]... [--rounds N] [--seconds S]

Runs of a server that begin anew differ by more than a recorder costs: threads, memory and caches come to lie elsewhere. Here one
run of sysbench lasts through all rounds. A slowdown compares the statements that the server answered in a stretch under the
recorder with those in the stretches before and after it. --recorder is one of table.py's, of the whole system; --offwait is a
build of offwait that records the server alone, with these options. The columns:

  slowdown  mean over the rounds, and its standard error
  median    and quartiles
  CPU       of the recorder's own process, of one CPU

Needs root, `packaging/install-packages.sh bench`, and a machine that does nothing else. Asserts nothing."""
import argparse
import contextlib
import os
import signal
import statistics
import subprocess
import sys
import time

import pairs
import recorders
import workloads
from recorders import Recorder

SETTLED = 0.7  # seconds that a stretch leaves out after a recorder has come or gone
LONGEST = 8  # seconds that a recorder takes to come and go, at most
WARM = 5  # seconds of load before the first stretch


class Server:
    """How many statements a MariaDB has answered."""

    def __init__(self, undo, port):
        self.client = undo.enter_context(subprocess.Popen(
            ["mariadb", "--no-defaults", "--host=127.0.0.1", f"--port={port}", "--user=root", "--batch", "--skip-column-names",
             "--unbuffered"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))

    def answered(self):
        self.client.stdin.write("show global status like 'Questions';\n")
        self.client.stdin.flush()
        return int(self.client.stdout.readline().split()[1]), time.monotonic()

    def rate(self, seconds):
        """Statements a second over this time."""
        time.sleep(SETTLED)
        before, began = self.answered()
        time.sleep(seconds)
        after, ended = self.answered()
        return (after - before) / (ended - began)


def measured(server, pid, chosen, options):
    """By recorder: its slowdowns and what it took, a round each."""
    slowdowns, uses = {name: [] for name in chosen}, {name: [] for name in chosen}
    for number in range(options.rounds):
        names = list(chosen) if number % 2 == 0 else list(reversed(chosen))
        before = server.rate(options.seconds)
        for name in names:
            chosen[name].start(pid)
            try:
                recorded = server.rate(options.seconds)
            except BaseException:
                chosen[name].abandon()
                raise
            use = chosen[name].stop()
            after = server.rate(options.seconds)
            slowdowns[name].append((before + after) / 2 / recorded - 1)
            uses[name].append(use)
            before = after
    return slowdowns, uses


def row(name, slowdowns, uses):
    error = statistics.stdev(slowdowns) / len(slowdowns) ** 0.5
    low, median, high = pairs.quartiles(slowdowns)
    cpu = f"{100 * statistics.median(use.cpu for use in uses):.2f}" if uses[0] else ""
    return (f"| {recorders.NAMES.get(name, name)} | {100 * statistics.mean(slowdowns):.1f} ± {100 * error:.1f} | "
            f"{100 * median:.1f} [{100 * low:.1f}..{100 * high:.1f}] | {cpu} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="build directory")
    parser.add_argument("--recorder", action="append", choices=recorders.NAMES)
    parser.add_argument("--offwait", action="append", default=[], metavar="NAME=OFFWAIT[,OPTION]...")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=2, help="length of a stretch")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends what was started
    if os.geteuid() != 0:
        sys.exit("one_run.py: needs root")
    if options.rounds < 2:
        sys.exit("one_run.py: a standard error needs two rounds: --rounds")
    of_system = recorders.whole_system(options.build)
    chosen = {name: of_system[name] for name in options.recorder or ([] if options.offwait else recorders.NAMES)}
    for name in list(chosen):
        if reason := recorders.why_not(chosen[name]):
            print(f"{name}: {reason}", file=sys.stderr)
            del chosen[name]
    for named in options.offwait:
        name, _, words = named.partition("=")
        executable, *rest = words.split(",")
        chosen[name] = Recorder(executable, "dump", "-o", "/dev/null", "-p", "{pid}", *rest, says="recording")
    stretches = options.rounds * (2 * len(chosen) + 1)
    with contextlib.ExitStack() as undo:
        load = workloads.started("mariadb", undo, options.build, round(stretches * (options.seconds + SETTLED + LONGEST)))
        load.prepare()
        undo.callback(load.stop)
        server = Server(undo, load.port)
        load.process.stdin.write("\n")
        load.process.stdin.flush()
        time.sleep(WARM)
        slowdowns, uses = measured(server, load.server.pid, chosen, options)
        if load.process.poll() is not None:
            sys.exit("one_run.py: the load ended before the last round")
    print("| recorder | slowdown, % | median [quartiles] | CPU, % |\n|---|---:|---:|---:|")
    for name in chosen:
        print(row(name, slowdowns[name], uses[name]))


if __name__ == "__main__":
    main()
