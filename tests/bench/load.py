#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Records loads that are large in one respect, and prints what that takes.

    load.py BUILD [--only LOAD]... [--seconds S] [--one-shot]

A row of the table has: how long it took until offwait ran its first instructions (the kernel decides that), from then until the
window began, and from Ctrl-C to the end; the CPU time of the recorder and of the processes that read names, in the recording
and afterwards; the most memory that the recorder had (VmHWM) by the end of the recording, and by its own end; waits,
preemptions, records lost, and the size of the file for each; and the time and memory that `offwait report` takes for the file.
Other losses follow by their names. --one-shot records and reports in one process, as `offwait -p` does, so that waits are not
counted. Needs root. Asserts nothing."""
import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "kernel"))
from cgroup import Cgroup  # noqa: E402


class Crowd:
    """A load of bench_crowd."""

    def __init__(self, build, *arguments):
        self.command = [build + "/tests/bench/bench_crowd", *arguments]

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            sys.exit("load.py: the load cannot be started")
        return ["-p", str(self.process.pid)]

    def stop(self):
        self.process.kill()
        self.process.wait()


class Containers:
    """500 cgroups with a process each that sleeps for 10 ms at a time."""

    def __init__(self, whole_system):
        self.whole_system = whole_system

    def start(self):
        self.parent = Cgroup("offwait-load")
        self.processes = []
        for number in range(500):
            command = ["perl", "-e", "while (1) { select(undef, undef, undef, 0.01) }"]
            self.processes.append(subprocess.Popen(command))
            Cgroup(f"container-{number}", self.parent).add(self.processes[-1].pid)
        return ["-a"] if self.whole_system else ["-c", self.parent.name]

    def stop(self):
        for process in self.processes:
            process.kill()
            process.wait()
        self.parent.remove()


class Rings:
    """On each CPU eight threads that hand a token on, as fast as they can."""

    def __init__(self, build):
        self.program = build + "/tests/bench/bench_futex_ring"

    def start(self):
        self.processes = [subprocess.Popen(["taskset", "-c", str(cpu), self.program, "8", "1000000000"])
                          for cpu in os.sched_getaffinity(0)]
        time.sleep(1)
        return ["-p", ",".join(str(process.pid) for process in self.processes)]

    def stop(self):
        for process in self.processes:
            process.kill()
            process.wait()


def loads(build):
    return {
        "threads": Crowd(build, "sleeping", "16000"),
        "forks": Crowd(build, "forking", "4"),
        "mappings": Crowd(build, "mapped", "65000"),
        "runnable": Crowd(build, "runnable", "8000"),
        "cgroups-all": Containers(whole_system=True),
        "cgroups": Containers(whole_system=False),
        "switches": Rings(build),
    }


def first(pattern, text):
    found = re.search(pattern, text)
    return int(found.group(1)) if found else 0


class Watch:
    """What a process needs. It is asked ten times a second, because a process that has ended says nothing."""

    def __init__(self, pid):
        self.pid, self.memory_kb, self.nice_at = pid, 0, None

    def look(self):
        try:
            with open(f"/proc/{self.pid}/status", encoding="ascii", errors="replace") as status:
                self.memory_kb = max(self.memory_kb, first(r"VmHWM:\s+(\d+)", status.read()))
            if self.nice_at is None and os.getpriority(os.PRIO_PROCESS, self.pid) == -20:
                self.nice_at = time.monotonic()
        except OSError:
            pass

    def cpu_s(self):
        """By the process and those of its children that have ended."""
        with open(f"/proc/{self.pid}/stat", encoding="ascii", errors="replace") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return sum(int(field) for field in fields[11:15]) / os.sysconf("SC_CLK_TCK")


def watched_until(done, watch):
    while not done():
        watch.look()
        time.sleep(0.02 if watch.nice_at is None else 0.1)
    watch.look()


def record(command, seconds):
    """Runs a recording: what it took, and what it said."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    os.set_blocking(process.stderr.fileno(), False)
    said = [b""]

    def recording():
        said[0] += process.stderr.read() or b""
        return b"offwait: recording" in said[0] or process.poll() is not None

    watch = Watch(process.pid)
    watched_until(recording, watch)
    if process.poll() is not None:
        sys.exit(f"load.py: {said[0].decode()}")
    began, cpu_attach = time.monotonic(), watch.cpu_s()
    watched_until(lambda: time.monotonic() > began + seconds, watch)
    cpu_recorded, memory_kb, ended = watch.cpu_s(), watch.memory_kb, time.monotonic()
    process.send_signal(signal.SIGINT)

    def gone():
        said[0] += process.stderr.read() or b""
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    watched_until(gone, watch)
    end = time.monotonic()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    nice_at = watch.nice_at or begin
    return {"first turn s": nice_at - begin, "attach s": began - nice_at, "end s": end - ended,
            "CPU %": 100 * (cpu_recorded - cpu_attach) / seconds, "CPU end s": used.ru_utime + used.ru_stime - cpu_recorded,
            "MB": memory_kb / 1000, "MB end": watch.memory_kb / 1000}, said[0].decode(errors="replace"), process.returncode


def report(offwait, file):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        begin = time.monotonic()
        process = subprocess.Popen([offwait, "report", file, "--json", out.name], stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            return {}, {}
        findings = json.load(out)
    waits, preemptions = findings["totals"]["waits"], findings["totals"]["preemptions"]
    losses = {what: count for what, count in findings["loss"].items() if what != "total" and count}
    return {"waits": waits, "preemptions": preemptions, "lost": losses.get("ringbuf_full", 0),
            "bytes/either": os.path.getsize(file) / max(waits + preemptions, 1), "report s": time.monotonic() - begin,
            "report MB": used.ru_maxrss / 1000}, losses


def trial(offwait, load, options, directory):
    target = load.start()
    file = os.path.join(directory, "load.offwait")
    try:
        command = ([offwait, *target] if options.one_shot else [offwait, "record", "-o", file, *target])
        row, said, status = record(command, options.seconds)
    finally:
        load.stop()
    if status != 0:
        print(f"status {status}: {said}")
    notes = [line for line in said.splitlines() if not line.startswith("offwait: recording")] if options.one_shot else []
    if not options.one_shot:
        reported, losses = report(offwait, file)
        row |= reported
        notes += [f"{what}: {count:,}" for what, count in losses.items()]
    return row, notes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="build directory")
    parser.add_argument("--only", action="append", help="a load: " + ", ".join(loads("")))
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--one-shot", action="store_true")
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("load.py: needs root")
    # This process is not kept from the CPUs by the loads; what it starts is not favoured.
    os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(2))
    header = True
    for name, load in loads(options.build).items():
        if options.only and name not in options.only:
            continue
        with tempfile.TemporaryDirectory(prefix="offwait-load-", dir="/var/tmp") as directory:
            row, notes = trial(options.build + "/offwait", load, options, directory)
        if header:
            print(f"{'':12}" + "".join(f"{column:>13}" for column in row), flush=True)
            header = False
        print(f"{name:12}" + "".join(f"{value:13,.1f}" if isinstance(value, float) else f"{value:13,}" for value in row.values()),
              flush=True)
        for note in notes:
            print(f"  {note}", flush=True)


if __name__ == "__main__":
    main()
