# SPDX-License-Identifier: GPL-2.0-or-later
"""Cases of fixes.py: loads with and without a fix, and how to find the answer that belongs to the fix.

Those that are started here are classes like the cases of predicted_gains.py, each with `fix`, what the fix is, and
`part`, a Part. Those of examples/servers are run by their scripts."""
import glob
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Optional

import predicted_gains as servers
from predicted_gains import loop

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(__file__).parent / "fixable"
JAVA = next(iter(glob.glob("/usr/lib/jvm/java-17-openjdk-*/bin/")), "")  # as Debian has it; else that on the PATH
AT_ONCE = 8  # requests that the disk of the pool's reads serves


class Part(NamedTuple):
    """What a fix changes. Without a bound the range of the answer counts."""

    belongs: Callable  # belongs(answer, actors): whether this answer of the report is about it
    bound: Optional[Callable] = None  # bound(answer): the most that the fix gains, or None
    asked: Optional[Callable] = None  # asked(answer, actors): a --what-if that says the fix better than the answer


def name_of(actors, actor):
    return "" if actor is None else actors[actor]["name"]


def lock_taken_in(pattern):
    """The best lock whose name or stack this is found in; what it gains when no thread waits for it."""

    def belongs(answer, _):
        if answer["what"] != "lock":
            return False
        return any(re.search(pattern, name) for name in (answer["lock"]["name"], *answer["lock"]["stack"]))

    return Part(belongs, bound=lambda answer: max(answer["lock"]["free_gain"], answer["high"] or 0))


def more_threads(*whats):
    """More threads for one of these parts, if the report says what these gain."""

    def bound(answer):
        return answer["more_threads"] and answer["more_threads"]["gain"]

    return Part(lambda answer, _: answer["more_threads"] or answer["what"] in whats, bound)


def more_clients(name):
    """Twice as many threads of a client, which the answer about its CPU work is no prediction of."""
    return Part(lambda answer, actors: answer["what"] == "cpu" and name in name_of(actors, answer["actor"]),
                asked=lambda *_: f"comm:{name} threads *2")


DISK_WORK = ("io", "disk", "sync")


def is_disk(answer, _):
    return answer["what"] in DISK_WORK


NO_SYNC = Part(is_disk, asked=lambda *_: "function fdatasync /1000")  # with the CPU work of its calls
CPUS = Part(lambda answer, _: answer["what"] == "cpus", asked=lambda *_: "cpus *2")
DISK = Part(is_disk)
SERVICE = Part(lambda answer, _: answer["what"] == "remote")


class MariaDbRows(servers.MariaDb):
    name, fix, clients, tables = "MariaDB, 16 clients update 2 rows", "10,000 rows", 16, 1
    part = lock_taken_in("mysql_update")  # rather than a lock that commits take

    def __init__(self, undo, slow_file, changed):
        self.rows = 10000 if changed else 2
        super().__init__(undo, slow_file, False)

    def options(self):
        """With a binary log a commit waits for the disk while it still has the row's lock."""
        return [f"--log-bin={self.directory}/binlog", "--sync-binlog=1"]


class PostgreSqlRows(servers.PostgreSqlHotRow):
    name, fix, clients = "PostgreSQL, 16 clients update one row", "10,000 rows", 16
    part = lock_taken_in("ProcSleep")

    def __init__(self, undo, slow_file, changed):
        self.update = (f"\\set row random(1, {10000 if changed else 1})\n"
                       "UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = :row;\n")
        super().__init__(undo, slow_file, False)


class Program:
    """A program that does its work for some seconds and then prints its rate; it is recorded itself."""

    def __init__(self, undo, slow_file, changed):
        self.directory = undo.enter_context(tempfile.TemporaryDirectory(dir="/var/tmp"))
        self.start(undo, slow_file, changed)

    def load(self, seconds):
        return [*self.command, str(seconds)]

    @staticmethod
    def rate(output):
        return float(re.findall(r"rate ([0-9.]+)", output)[-1])

    def target(self, load):
        return [load.pid]


class Mutex(Program):
    name, fix = "C++, 12 threads sleep 2 ms with one mutex", "a mutex for each"
    part = lock_taken_in("registry_lock")

    def start(self, _undo, _slow_file, changed):
        self.command = [compiled("mutex.cpp", self.directory, "-pthread"), "each" if changed else "one"]


class Pool(Program):
    name, fix, part = "C++, 8 threads ask one that sleeps 2 ms", "4 threads", more_threads("sleep")

    def start(self, _undo, _slow_file, changed):
        self.command = [compiled("pool.cpp", self.directory, "-pthread"), "4" if changed else "1"]


class JavaMonitor(Program):
    name, fix = "Java, 8 threads sleep 2 ms with one monitor", "a monitor for each"
    part = lock_taken_in("ObjectMonitor::enter")

    def start(self, _undo, _slow_file, changed):
        subprocess.run([JAVA + "javac", "-d", self.directory, PROGRAMS / "Monitor.java"], check=True)
        self.command = [JAVA + "java", "-cp", self.directory, "Monitor", "each" if changed else "one"]


class Python(Program):
    name, fix = "CPython, 4 threads compute", "2 processes"
    part = lock_taken_in("all Python code")

    def start(self, _undo, _slow_file, changed):
        self.command = [sys.executable, PROGRAMS / "compute.py", "2" if changed else "1"]


class Node(Program):
    name, fix, part = "Node.js, reads; a pool of 1 thread", "4 threads", more_threads(*DISK_WORK)

    def start(self, undo, slow_file, changed):
        disk = undo.enter_context(loop.SlowDisk(slow_file, self.directory, 64, servers.FULL_US, AT_ONCE))
        self.command = ["env", f"UV_THREADPOOL_SIZE={4 if changed else 1}", "node", PROGRAMS / "reads.js",
                        f"/dev/{disk.device}"]


def compiled(source, directory, *options):
    """Compiles a program into the directory; returns its path."""
    source = PROGRAMS / source
    program = os.path.join(directory, source.stem)
    subprocess.run(["g++", "-std=c++20", "-O2", "-g", source, "-o", program, *options], check=True)
    return program


def compiled_slow_file(directory):
    libraries = loop.run("pkg-config", "--cflags", "--libs", "fuse3").split()
    return compiled(ROOT / "tests/kernel/slow_file.cpp", directory, *libraries)


FIXES = {"mariadb-rows": MariaDbRows, "postgresql-rows": PostgreSqlRows, "java-monitor": JavaMonitor,
         "python-gil": Python, "mutex": Mutex, "pool": Pool, "node-pool": Node}
# A part that is twice as fast, as predicted_gains.py makes it; these ask their own question.
FASTER = {f"faster-{name}": case for name, case in servers.CASES.items()}
# By script of examples/servers: its cases.
SCRIPTS = {
    "mariadb": {f"mariadb-{clients}-flush-{flush}": CPUS for clients in (8, 64) for flush in (1, 2)},
    "memcached": {"memcached-worker": more_threads("cpu"), "memcached-client": more_clients("memcaslap")},
    "redis": {"redis-always": NO_SYNC},
    "rocksdb": {"rocksdb-sync": more_threads(*DISK_WORK), "rocksdb-shards-0": lock_taken_in("LRUCacheShard"),
                "rocksdb-shards-6": CPUS},
}
# Programs that cases need besides g++; each is looked for on the PATH.
NEEDED = {"mariadb": "sysbench", "postgresql": "pgbench", "java": JAVA + "javac", "node": "node", "nginx": "wrk",
          "memcached": "memcaslap", "redis": "redis-benchmark", "rocksdb": "db_bench", "zookeeper": "java"}


def part_of(case):
    """What a case changes; those of predicted_gains.py do not say it themselves."""
    if hasattr(case, "part"):
        return case.part
    if issubclass(case, servers.CpuCase):
        return CPUS
    return SERVICE if issubclass(case, servers.Nginx) else DISK
