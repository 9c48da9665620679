# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a workload under `offwait dump` and returns both what the workload knows and what was recorded."""
import collections
import contextlib
import functools
import json
import os
import signal
import subprocess
import tempfile
from urllib.parse import unquote, unquote_to_bytes

# `nic`: the interface that delivered what ended the wait, `sent`: when its sender, the waker, had sent it.
# `object`: the number of what is waited for, `holder`: the tid of who had it.
Wait = collections.namedtuple("Wait", "tid block wake run waker cls stack waker_stack peer nic sent object holder",
                              defaults=("", "", None, None, None))
Interval = collections.namedtuple("Interval", "tid begin end")
Calls = collections.namedtuple("Calls", "tid function count first last")
Responses = collections.namedtuple("Responses", "tid address count connections first last")
NEVER = 2**63 - 1


class Thread:
    def __init__(self, tid, keys):
        self.tid = tid
        self.tgid = int(keys["tgid"])
        self.ns_tid = int(keys.get("ns_tid", tid))
        self.comm = unquote(keys["comm"], errors="backslashreplace")
        self.start = int(keys["start"])
        self.exit = NEVER if keys["exit"] == "-" else int(keys["exit"])
        self.outside = "outside" in keys


def time(text):
    return NEVER if text == "-" else int(text)


class Dump:
    """The records of the text form (doc/design.md "Formats") that the tests look at."""

    def __init__(self, path):
        self.threads, self.waits, self.preemptions, self.gaps, self.ios, self.responses = [], [], [], [], [], []
        self.calls = []
        self.objects = {}  # by number
        self.loss = {}
        self.stolen = 0  # ns in which the hypervisor ran others on this machine's CPUs, of all CPUs together
        with open(path, encoding="ascii") as lines:
            assert next(lines).strip() == "offwait-waits 1"
            for line in lines:
                kind, *rest = line.split()
                if kind == "window":
                    self.begin, self.end = int(rest[0]), int(rest[1])
                    continue
                keys = dict(word.split("=", 1) for word in rest if "=" in word)
                if kind == "cpu":
                    self.stolen = int(keys.get("steal", 0))
                elif kind == "loss":
                    self.loss = {name: int(count) for name, count in keys.items()}
                elif kind == "thread":
                    self.threads.append(Thread(int(rest[0]), keys))
                elif kind == "object":
                    self.objects[rest[0]] = {key: unquote(value) for key, value in keys.items()}
                elif kind == "wait":
                    wait = Wait(int(rest[0]), time(keys["block"]), time(keys["wake"]), time(keys["run"]),
                                unquote(keys["waker"]), keys["class"], keys.get("stack", ""),
                                keys.get("waker_stack", ""), unquote(keys.get("peer", "")),
                                object=keys.get("object"),
                                holder=int(keys["holder"]) if "holder" in keys else None)
                    if keys.get("in_flight") == "yes":
                        first = self.waits.pop()
                        assert (first.tid, first.run) == (wait.tid, wait.block), (first, wait)
                        wait = first._replace(wake=wait.wake, run=wait.run, nic=wait.waker, sent=first.wake)
                    self.waits.append(wait)
                elif kind == "preempt":
                    self.preemptions.append(Interval(int(rest[0]), time(keys["out"]), time(keys["run"])))
                elif kind == "unknown":
                    self.gaps.append(Interval(int(rest[0]), time(keys["from"]), time(keys["to"])))
                elif kind == "responses":
                    address = int(keys["port"]) if "port" in keys else unquote_to_bytes(keys["path"])
                    self.responses.append(Responses(int(rest[0]), address, int(keys["count"]), int(keys["connections"]),
                                                    int(keys["first"]), int(keys["last"])))
                elif kind == "calls":
                    self.calls.append(Calls(int(rest[0]), unquote(keys["function"]), int(keys["count"]), int(keys["first"]),
                                            int(keys["last"])))
                elif kind == "io":
                    self.ios.append((rest[0], keys))

    @functools.cached_property
    def waits_by_tid(self):
        """Of the waits that the file has; do not change them before."""
        by_tid = collections.defaultdict(list)
        for wait in self.waits:
            by_tid[wait.tid].append(wait)
        return by_tid

    def waits_of(self, truth):
        """The waits of a truth's thread that began in its span."""
        return [w for w in self.waits_by_tid[truth["tid"]] if truth["begin_ns"] <= w.block <= truth["end_ns"]]

    def states_of(self, truth):
        """(running, runnable, blocked, unknown) ns of a truth's thread in its span."""
        begin, end, tid = truth["begin_ns"], truth["end_ns"], truth["tid"]

        def inside(a, b):
            return max(0, min(b, end) - max(a, begin))

        waits = self.waits_by_tid[tid]
        blocked = sum(inside(w.block, w.wake) for w in waits)
        runnable = sum(inside(w.wake, w.run) for w in waits if w.wake != NEVER)
        runnable += sum(inside(p.begin, p.end) for p in self.preemptions if p.tid == tid)
        unknown = sum(inside(g.begin, g.end) for g in self.gaps if g.tid == tid)
        return end - begin - blocked - runnable - unknown, runnable, blocked, unknown

    @property
    def lost(self):
        return sum(self.loss.values())


Run = collections.namedtuple("Run", "dump truths pid")


def start_offwait(offwait, arguments):
    """Starts a recording; returns when it has begun."""
    recorder = subprocess.Popen([offwait, *arguments], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    line = recorder.stderr.readline()
    if not line.startswith("offwait: recording "):
        raise AssertionError(f"no recording began: {line}{recorder.stderr.read()}")
    return recorder


class Workload:
    def __init__(self, binary, arguments, cwd=None):
        self.process = subprocess.Popen([binary, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        cwd=cwd)
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            raise SkipWorkload(self.process.returncode)
        self.pid = json.loads(line)["pid"]

    def begin(self):
        """Lets the interesting part begin."""
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def go(self):
        """Lets the interesting part happen; returns its truths."""
        self.begin()
        truths = []
        for line in self.process.stdout:
            said = json.loads(line)
            if said.get("done"):
                return truths
            truths.append(said)
        self.process.wait()
        raise SkipWorkload(self.process.returncode)

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


class SkipWorkload(Exception):
    """The workload ended early, with this status."""

    def __init__(self, status):
        super().__init__(f"workload ended with status {status}")
        self.status = status


@contextlib.contextmanager
def recorded(offwait, workload, arguments, extra=(), cwd=None):
    """Records a workload from before its interesting part until after it: (name of the text file, truths, pid)."""
    target = Workload(workload, arguments, cwd)
    with tempfile.NamedTemporaryFile(suffix=".txt") as file:
        recorder = start_offwait(offwait, ["dump", "-p", str(target.pid), "-o", file.name, *extra])
        try:
            truths = target.go()
        finally:
            recorder.send_signal(signal.SIGINT)
            _, errors = recorder.communicate()
            target.end()
        if recorder.returncode != 0:
            raise AssertionError(f"offwait dump failed: {errors}")
        if os.environ.get("OFFWAIT_KEEP_DUMPS"):
            os.link(file.name, os.path.join(os.environ["OFFWAIT_KEEP_DUMPS"], arguments[0] + ".txt"))
        yield file.name, truths, target.pid


def record(offwait, workload, arguments, extra=(), cwd=None):
    """Records a workload as recorded() does, and returns the text as a Dump with the truths and the pid."""
    with recorded(offwait, workload, arguments, extra, cwd) as (file, truths, pid):
        return Run(Dump(file), truths, pid)
