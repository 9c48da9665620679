# SPDX-License-Identifier: GPL-2.0-or-later
"""Loads whose speed is compared with and without a recorder."""
import contextlib
import json
import os
import re
import signal
import subprocess
import tempfile
import time
from typing import NamedTuple

import predicted_gains as servers

CPU = 1  # for loads that are pinned


class Run(NamedTuple):
    rate: float  # operations/s, as the load says
    switches: float  # context switches/s of the machine


class TooSlow(Exception):
    """A load did not end within the time it was given."""


def switches():
    with open("/proc/stat", encoding="ascii") as stat:
        return next(int(line.split()[1]) for line in stat if line.startswith("ctxt"))


class Load:
    """One run after the other: prepare() starts a process that waits, and returns the process that a recorder should record;
    run() lets it begin, and returns how fast it was. It has `command(seconds)`, and `rate(output)`, the operations/s that the
    command printed."""

    server = None
    says_ready = False  # the command itself prints "ready" and waits for a line

    def prepare(self):
        command = self.command(self.seconds)
        wrapper = [] if self.says_ready else ["sh", "-c", 'echo ready; read -r _; exec "$@"', "sh"]
        self.process = subprocess.Popen([*wrapper, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, start_new_session=True)
        if self.process.stdout.readline() != "ready\n":
            raise SystemExit(f"{command[0]} did not start: {self.process.communicate()[0]}")
        return self.server.pid if self.server else self.process.pid

    def run(self, most=None):
        """`most`: seconds that it may take."""
        before, began = switches(), time.monotonic()
        try:
            output, _ = self.process.communicate("\n", timeout=most)
        except subprocess.TimeoutExpired:
            raise TooSlow from None
        counted, took = switches() - before, time.monotonic() - began
        try:
            return Run(self.rate(output), counted / took)
        except (IndexError, ValueError, AttributeError):
            raise SystemExit(f"the load did not say how fast it was: {output}") from None

    def stop(self):
        """Ends what prepare() has started if run() did not, as when the recorder failed."""
        if self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)  # it may have children, which have its output open
            self.process.communicate()


class Program(Load):
    """A program that does so many operations and prints the seconds that they took. A trial finds how many take as long as a
    run should."""

    def __init__(self, seconds, trial, *words, pinned=True, says_ready=False):
        self.words = [*(["taskset", "-c", str(CPU)] if pinned else []), *words]
        self.says_ready, self.seconds, self.operations = says_ready, seconds, trial
        self.prepare()
        self.operations = max(1, int(self.run().rate * seconds))

    def command(self, _):
        return [*self.words, str(self.operations)]

    def rate(self, output):
        return self.operations / float(re.search(r"[\d.]+", output).group())


class Fsync(Load):
    """Writers that wait for the disk after each block."""

    def __init__(self, undo, seconds):
        self.directory, self.seconds = undo.enter_context(tempfile.TemporaryDirectory(dir="/var/tmp")), seconds

    def command(self, seconds):
        return ["fio", "--name=fsync", f"--directory={self.directory}", "--rw=randwrite", "--bs=4k", "--size=16m", "--fsync=1",
                "--numjobs=4", "--group_reporting", "--time_based", f"--runtime={seconds}", "--output-format=json"]

    @staticmethod
    def rate(output):
        return json.loads(output[output.index("{"):])["jobs"][0]["write"]["iops"]


class Served(Load):
    """A client of a server that predicted_gains.py knows to start, here with nothing slowed down."""

    cpus = ()

    def __init__(self, undo, seconds):
        self.directory, self.seconds = undo.enter_context(tempfile.TemporaryDirectory(dir="/var/tmp")), seconds
        self.start(undo)

    def command(self, seconds):
        return [str(word) for word in self.load(seconds)]


class Redis(Served, servers.Redis):
    fsync, clients = "no", 50  # it writes its file, and does not wait for the disk

    @staticmethod
    def rate(output):
        return float(re.findall(r"\(overall: ([0-9.]+)\)", output)[-1])


class MariaDb(Served, servers.MariaDb):
    # No flush at commits: the CPUs should limit the load, because recording takes their time.
    script, tables, flush = "oltp_write_only", 4, 0


class Memcached(Served, servers.Memcached):
    pass


class RocksDb(Served, servers.RocksDbReads):
    options = ["--use_existing_db=1", "--threads=8", f"--cache_size={1 << 30}", "--cache_numshardbits=0", "--num=100000"]


class Nginx(Served, servers.Nginx):
    clients = 16

    def start(self, undo):
        self.serve(undo, "", "return 200 ok;")


def started(name, undo, build, seconds):
    """The load of this name. What it starts ends with `undo`."""
    bench = f"{build}/tests/bench/bench_"
    programs = {
        "pipe": lambda: Program(seconds, 20000, "perf", "bench", "-f", "simple", "sched", "pipe", "-l"),
        "messaging": lambda: Program(seconds, 20, "perf", "bench", "-f", "simple", "sched", "messaging", "-g", "4", "-l",
                                     pinned=False),
        "ring": lambda: Program(seconds, 5000, bench + "futex_ring", "8"),
        "mutex": lambda: Program(seconds, 1000, bench + "contended_mutex", "4", pinned=False),
        "fsync": lambda: Fsync(undo, seconds),
    }
    clients = {"redis": Redis, "memcached": Memcached, "mariadb": MariaDb, "rocksdb": RocksDb, "nginx": Nginx}
    return programs[name]() if name in programs else clients[name](undo, seconds)


# A program of those that a load needs, all of which the same packages bring.
NEEDED = {"pipe": "perf", "messaging": "perf", "fsync": "fio", "redis": "redis-benchmark", "memcached": "memcaslap",
          "mariadb": "sysbench", "rocksdb": "db_bench", "nginx": "wrk"}
NAMES = {
    "pipe": "perf bench sched pipe, pinned to one CPU",
    "messaging": "perf bench sched messaging, 160 processes",
    "ring": "eight threads that hand a token on by futex, pinned to one CPU",
    "mutex": "four threads at one mutex",
    "fsync": "fio, four processes that sync each write",
    "redis": "Redis, 50 clients, appendfsync no",
    "memcached": "memcached under memcaslap",
    "mariadb": "MariaDB under sysbench oltp_write_only, 8 threads",
    "rocksdb": "RocksDB readrandom, 8 threads, one lock of its cache",
    "nginx": "nginx under wrk",
}
