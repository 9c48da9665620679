# SPDX-License-Identifier: GPL-2.0-or-later
"""Recorders whose costs are compared: how to start and stop them, and what they take."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple, Optional

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "kernel"))
from cgroup import Cgroup  # noqa: E402
from workloads import switches  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SETTLED = 0.5  # seconds without a new descriptor until a recorder that says nothing counts as attached
LONGEST = 30  # seconds until a recorder has attached


class Use(NamedTuple):
    """What a recorder took in one run."""
    attach: float  # seconds until it had attached
    cpu: float  # of one CPU, while it recorded
    memory: int  # at most, in bytes, with that of the report
    report: float  # seconds from the signal that stops it until the report was there
    switches: int  # context switches of the machine while it recorded
    file: Optional[int]  # bytes that it wrote
    waits: Optional[int]  # that it recorded
    lost: Optional[int]  # events, waits or stacks, as it counts them itself


class Unavailable(Exception):
    """This recorder cannot run here; the text says why."""


def cpu_seconds(pid):
    """CPU time by the scheduler's clock, as the clock of /proc/PID/stat ticks only every 10 ms, a whole percent of a second."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            with open(f"/proc/{pid}/task/{task}/schedstat", encoding="ascii") as schedstat:
                total += int(schedstat.read().split()[0])
    return total / 1e9


def attached_descriptors(pid):
    """How many programs and events the process has attached, by its descriptors."""
    count = 0
    for number in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):
            target = os.readlink(f"/proc/{pid}/fd/{number}")
            count += "bpf_link" in target or "perf_event" in target
    return count


def reason_in(printed):
    """The line that says why a recorder does not record: the first that reads like it, or else the last."""
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    telling = [line for line in lines if re.match("(?i)unable to|cannot|failed|warning: option", line)]
    return (telling[:1] or lines[-1:] or ["it ended at once"])[0]


def ended_with(process):
    """Waits for the process's end; returns the most memory that it had, in bytes. wait4() would also count this process's own,
    because it was forked from it."""
    memory_kb = 0
    while process.poll() is None:
        with open(f"/proc/{process.pid}/status", encoding="ascii", errors="replace") as status:
            if most := re.search(r"VmHWM:\s+(\d+)", status.read()):
                memory_kb = int(most.group(1))
        time.sleep(0.005)
    return memory_kb << 10


class Recorder:
    """A recorder. In its command `{pid}` stands for the load's process, `{cgroup}` for a cgroup that the load is put into, and
    `{directory}` for one where it can write. It has attached when it prints `says`; without that, when it has attached the
    last of its programs or events. `then` is a command that makes the report, for one that does not at its end. `figures` gets
    the directory and what was printed, and returns the waits that were recorded and what was lost, each None if unknown."""

    def __init__(self, *command, says=None, then=(), file=None, figures=lambda directory, printed: (None, None), environment=()):
        self.command, self.says, self.then = command, says, then
        self.file, self.figures, self.environment = file, figures, environment

    def start(self, pid):
        self.scratch = tempfile.TemporaryDirectory(prefix="offwait-bench-", dir="/var/tmp")
        self.words = {"pid": pid, "directory": self.scratch.name, "cgroup": None}
        self.cgroup = None
        if "{cgroup}" in self.command:
            self.cgroup = Cgroup("offwait-bench")
            self.cgroup.add(pid)
            self.words["cgroup"] = self.cgroup.name
        began = time.monotonic()
        with open(self.scratch.name + "/printed", "wb") as printed:
            self.process = subprocess.Popen([word.format(**self.words) for word in self.command], stdout=printed, stderr=printed,
                                            stdin=subprocess.DEVNULL, env={**os.environ, **dict(self.environment)})
        try:
            self.attach = self.attached() - began
        except BaseException:
            self.abandon()
            raise
        self.began, self.cpu_before, self.switches_before = time.monotonic(), cpu_seconds(self.process.pid), switches()

    def printed(self):
        return pathlib.Path(self.scratch.name, "printed").read_text(encoding="utf-8", errors="replace")

    def attached(self):
        """When it had attached."""
        count, changed, deadline = 0, None, time.monotonic() + LONGEST
        while time.monotonic() < deadline:
            now = time.monotonic()
            printed = self.printed()
            if self.process.poll() is not None:
                raise Unavailable(reason_in(printed))
            if "is being ignored" in printed:
                raise Unavailable(reason_in(printed))
            if self.says:
                if self.says in printed:
                    return now
                time.sleep(0.002)
                continue
            if (more := attached_descriptors(self.process.pid)) != count:
                count, changed = more, now
            elif changed and now - changed > SETTLED:
                return changed
            time.sleep(0.01)
        raise Unavailable(f"it has not attached in {LONGEST} s")

    def stop(self):
        """Ends the recording, and says what it took."""
        share = (cpu_seconds(self.process.pid) - self.cpu_before) / (time.monotonic() - self.began)
        ended, switched = time.monotonic(), switches() - self.switches_before
        self.process.send_signal(signal.SIGINT)
        memory = ended_with(self.process)
        printed = self.printed()
        if self.then:
            with open(self.scratch.name + "/report", "wb") as report:
                reporter = subprocess.Popen([word.format(**self.words) for word in self.then], stdout=report, stderr=report)
            memory = max(memory, ended_with(reporter))
            printed += pathlib.Path(self.scratch.name, "report").read_text(encoding="utf-8", errors="replace")
        took = time.monotonic() - ended
        try:
            size = os.stat(self.file.format(**self.words)).st_size if self.file else None
            waits, lost = self.figures(self.scratch.name, printed)
        except (FileNotFoundError, AttributeError):
            raise SystemExit(f"{self.command[0]} made no report: {printed[-500:]}") from None
        finally:
            self.clean_up()
        return Use(self.attach, share, memory, took, switched, size, waits, lost)

    def abandon(self):
        """Ends the recorder without a report, which may take it very long."""
        self.process.kill()
        self.process.wait()
        self.clean_up()

    def clean_up(self):
        self.scratch.cleanup()
        if self.cgroup:
            self.cgroup.remove()


class Nothing:
    """No recorder. What it seems to cost is noise."""

    def start(self, _):
        pass

    def stop(self):
        return None

    def abandon(self):
        pass


def of_report(directory, _):
    """Waits and losses as offwait's report has them."""
    report = json.loads(pathlib.Path(directory, "report.json").read_text(encoding="utf-8"))
    return report["totals"]["waits"], report["loss"]["total"]


def counted(_, printed):
    """Waits and losses that a minimal recorder has printed."""
    return tuple(int(number) for number in re.search(r"(\d+) waits, (\d+) lost", printed).groups())


def losses(pattern):
    """Adds up the numbers that the pattern finds; 1 for each place that it finds if it has no group."""
    return lambda _, printed: (None, sum(int(found) if found.isdigit() else 1 for found in re.findall(pattern, printed)))


def minimal(build, name):
    return Recorder(f"{build}/tests/bench/bench_waits", f"{build}/tests/bench/{name}.bpf.o", says="recording", figures=counted)


def whole_system(build):
    """By name: recorders of the whole system."""
    offwait = f"{build}/offwait"

    def live(*options):
        return Recorder(offwait, "-a", "--json", "{directory}/report.json", *options, says="recording", figures=of_report)

    data, perf_losses = "{directory}/perf.data", losses(r"(?i)lost (?:events \()?(\d+)")
    return {
        "nothing": Nothing(),
        "empty": minimal(build, "empty"),
        "joined": minimal(build, "joined"),
        "no-stacks": live("--no-stacks"),
        "offwait": live(),
        "all-stacks": live("--max-overhead", "off"),
        "file": Recorder(offwait, "record", "-a", "-o", "{directory}/recording", says="recording", figures=of_report,
                         file="{directory}/recording",
                         then=(offwait, "report", "{directory}/recording", "--json", "{directory}/report.json")),
        "offcputime": Recorder(found("offcputime"), figures=losses(r"\[Missed \w+ Stack\]")),
        "offwaketime": Recorder(found("offwaketime-bpfcc"), "-f", figures=losses(r"WARNING: (\d+) stack traces")),
        "perf-sched": Recorder("perf", "sched", "record", "-q", "-o", data, file=data, figures=perf_losses,
                               then=("perf", "sched", "latency", "-i", data)),
        "perf-off-cpu": Recorder("perf", "record", "-a", "--off-cpu", "-e", "dummy", "-g", "-o", data, file=data,
                                 figures=perf_losses, then=("perf", "report", "--stdio", "-i", data)),
        "perf-trace": Recorder("perf", "trace", "-a", "-s", figures=losses(r"LOST (\d+) events")),
        "bpftrace": Recorder("bpftrace", str(HERE / "off_cpu.bt"), says="recording", figures=losses(r"Lost (\d+) events"),
                             environment=[("BPFTRACE_MAP_KEYS_MAX", "65536")]),
    }


NAMES = {
    "nothing": "nothing (noise)",
    "empty": "empty BPF programs on sched_switch and sched_waking",
    "joined": "waits joined in the kernel, no stacks",
    "no-stacks": "`offwait -a --no-stacks`",
    "offwait": "`offwait -a`",
    "all-stacks": "`offwait -a --max-overhead off`",
    "file": "`offwait record -a`",
    "offcputime": "`offcputime` of libbpf-tools",
    "offwaketime": "`offwaketime` of bcc",
    "perf-sched": "`perf sched record`",
    "perf-off-cpu": "`perf record --off-cpu`",
    "perf-trace": "`perf trace -s`",
    "bpftrace": "off-CPU script of bpftrace",
}


def found(program):
    """The program's path if it can be found; if not, its name."""
    return shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/usr/share/bcc/tools") or program


def why_not(recorder):
    """Why the recorder cannot be had here; None if it can. Runs it for a moment."""
    if isinstance(recorder, Nothing):
        return None
    if not shutil.which(recorder.command[0]):
        return f"{recorder.command[0]} is not installed (packaging/install-packages.sh bench)"
    try:
        recorder.start(os.getpid())
    except Unavailable as reason:
        return str(reason)
    time.sleep(0.1)
    recorder.stop()
    return None
