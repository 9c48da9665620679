#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What recording costs, beside libbpf-tools' offcputime in the same run.

    recording.py OFFWAIT [--pairs N] [--loops N]

Workload: `perf bench sched pipe` pinned to one CPU. Each round runs it without a recorder, then under each recorder in
turn; a recorder's slowdown is the ratio of neighbouring runs, and what is printed is the median over the rounds. Absolute
times of this machine mean nothing; the last column is the one to compare. Prints, asserts nothing."""
import argparse
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time

CPU = 1


def bench(loops):
    """(wall seconds, pid) of one pinned run; the process stops itself so that a recorder can attach first."""
    process = subprocess.Popen(
        ["sh", "-c", f"kill -STOP $$; exec taskset -c {CPU} perf bench -f simple sched pipe -l {loops}"],
        stdout=subprocess.PIPE, text=True)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
    return process


def finish(process):
    os.kill(process.pid, signal.SIGCONT)
    out, _ = process.communicate()
    return float(re.search(r"[\d.]+", out).group())


class Offwait:
    def __init__(self, binary, *arguments):
        self.command = [binary, *arguments]

    def start(self, pid):
        self.process = subprocess.Popen([*self.command, "-p", str(pid)], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, text=True)
        self.process.stderr.readline()
        self.began, self.cpu_before = time.monotonic(), cpu_seconds(self.process.pid)

    def stop(self):
        share = (cpu_seconds(self.process.pid) - self.cpu_before) / (time.monotonic() - self.began)
        self.process.send_signal(signal.SIGINT)
        self.process.communicate()
        return share


class Offcputime:
    def __init__(self, binary):
        self.binary = binary

    def start(self, pid):
        self.process = subprocess.Popen([self.binary, "3600"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(2)  # it says nothing when it has attached
        self.began, self.cpu_before = time.monotonic(), cpu_seconds(self.process.pid)

    def stop(self):
        share = (cpu_seconds(self.process.pid) - self.cpu_before) / (time.monotonic() - self.began)
        self.process.send_signal(signal.SIGINT)
        self.process.wait()
        return share


def cpu_seconds(pid):
    """By the scheduler's clock: that of /proc/PID/stat ticks every 10 ms, which is a whole percent of a second."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/schedstat", encoding="ascii") as schedstat:
            total += int(schedstat.read().split()[0])
    return total / 1e9


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("offwait")
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--loops", type=int, default=400000)
    options = parser.parse_args()
    offcputime = shutil.which("offcputime", path=os.environ["PATH"] + ":/usr/sbin:/usr/share/bcc/tools")
    if os.geteuid() != 0 or not shutil.which("perf") or not offcputime:
        sys.exit("recording.py: needs root, perf (linux-perf) and offcputime (libbpf-tools)")
    recorders = {
        "offwait --no-stacks": Offwait(options.offwait, "dump", "-o", "/dev/null", "--no-stacks"),
        "offwait": Offwait(options.offwait, "dump", "-o", "/dev/null"),
        "offcputime": Offcputime(offcputime),
    }
    slowdowns = {name: [] for name in recorders}
    added_ns = {name: [] for name in recorders}
    shares = {name: [] for name in recorders}
    for _ in range(options.pairs):
        for name, recorder in recorders.items():
            alone = finish(bench(options.loops))
            process = bench(options.loops)
            recorder.start(process.pid)
            recorded = finish(process)
            shares[name].append(recorder.stop())
            slowdowns[name].append(recorded / alone - 1)
            added_ns[name].append((recorded - alone) * 1e9 / (2 * options.loops))
    peer = statistics.median(slowdowns["offcputime"])
    print(f"perf bench sched pipe, pinned, {2 * options.loops} switches, {options.pairs} interleaved pairs: median [min..max]")
    for name in recorders:
        runs = slowdowns[name]
        median = statistics.median(runs)
        print(f"{name:20} slowdown {100 * median:6.1f} % [{100 * min(runs):.1f}..{100 * max(runs):.1f}]  "
              f"{statistics.median(added_ns[name]):6.0f} ns/switch  recorder {100 * statistics.median(shares[name]):5.2f} % of a CPU  "
              f"{median / peer:5.2f} of offcputime's")


if __name__ == "__main__":
    main()
