#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares predicted gains with those of really made changes, on real servers.

    predicted_gains.py BUILD [--pairs N] [--seconds N] [--keep DIRECTORY] [--case CASE]...

Each case runs a server twice: as it is, and with one part about twice as fast (a disk with a shorter service
time, twice as many CPUs, an upstream that sleeps half as long). The first one is recorded once under load. Then
the two are loaded in turn; the measured gain is the median over the pairs of the ratio of their rates. The
report of the recording is asked with --what-if for the gain of the change that was made: a disk serves requests
in its nominal time and a little more, so what it took is read from its counters. Prints a row of a table for
each case. Asserts nothing. A machine that does something else at the same time makes the figures worthless.

--keep writes what was recorded to DIRECTORY/CASE.txt. Needs root, and `packaging/install-packages.sh test gains`.
"""
import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "kernel"))
import loop  # noqa: E402

FULL_US, HALF_US = 2000, 1000  # service times of a disk
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


class NotReady(SystemExit):
    """A server does not answer."""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1])


def until_ready(*command):
    for _ in range(300):
        if subprocess.run(command, check=False, **QUIET).returncode == 0:
            return
        time.sleep(0.1)
    raise NotReady(f"not ready: {' '.join(command)}")


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def output_of(command):
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    return done.stdout + done.stderr


@contextlib.contextmanager
def running(*command, **options):
    process = subprocess.Popen(command, **QUIET, **options)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class DiskCase:
    """A server whose files are on a slow disk; the change halves the disk's service time."""

    def __init__(self, undo, slow_file, changed):
        directory = undo.enter_context(tempfile.TemporaryDirectory(dir="/var/tmp"))
        disk = undo.enter_context(loop.SlowDisk(slow_file, directory, 160, HALF_US if changed else FULL_US))
        self.disk = disk
        self.directory = os.path.join(directory, "mounted")
        os.mkdir(self.directory)
        undo.enter_context(loop.mounted_ext4(disk.device, self.directory))
        os.chmod(directory, 0o755)
        self.start(undo)


    def asked(self, changed):
        (requests, seconds), (fewer, less) = self.disk.served(), changed.disk.served()
        before, after = 1000 * seconds / requests, 1000 * less / fewer
        return f"a request in {after:.2f} ms instead of {before:.2f}", f"disk {self.disk.device} /{before / after:.3f}"


class Redis(DiskCase):
    name, fsync, clients = "Redis, appendfsync always, 20 clients", "always", 20

    def start(self, undo):
        self.socket = os.path.join(self.directory, "socket")
        self.server = undo.enter_context(running(
            "redis-server", "--port", "0", "--unixsocket", self.socket, "--dir", self.directory, "--save", "",
            "--appendonly", "yes", "--appendfsync", self.fsync, "--auto-aof-rewrite-percentage", "0"))
        until_ready("redis-cli", "-s", self.socket, "ping")

    def load(self, seconds):
        return ["timeout", "--signal=KILL", str(seconds), "redis-benchmark", "-s", self.socket, "-t", "set", "-d", "100",
                "-r", "100000", "-c", str(self.clients), "-n", "1000000000", "-q"]

    @staticmethod
    def rate(output):
        rates = [float(rate) for rate in re.findall(r"rps=([0-9.]+)", output)]
        return statistics.mean(rates[2:-1])  # one each 250 ms; those while it starts and ends are not whole

    def target(self, _):
        return [self.server.pid]


class MariaDb(DiskCase):
    name, clients, tables, rows = "MariaDB, 8 clients", 8, 2, 10000
    script, flush = "oltp_update_non_index", 1

    def start(self, undo):
        data = undo.enter_context(tempfile.TemporaryDirectory(dir="/var/tmp"))
        subprocess.run(["mariadb-install-db", "--no-defaults", f"--datadir={data}", "--auth-root-authentication-method=normal",
                        "--skip-test-db", "--user=root"], check=True, **QUIET)
        for log in Path(data).glob("ib_logfile*"):
            shutil.move(log, self.directory)
        port = self.port = free_port()
        self.server = undo.enter_context(running(
            "mariadbd", "--no-defaults", "--user=root", f"--datadir={data}", f"--socket={data}/socket", "--bind-address=127.0.0.1",
            f"--port={port}", "--innodb-buffer-pool-size=256M", "--innodb-log-file-size=96M",
            f"--innodb-log-group-home-dir={self.directory}", f"--innodb-flush-log-at-trx-commit={self.flush}",
            *self.options()))
        until_ready("mariadb", "--no-defaults", "--host=127.0.0.1", f"--port={port}", "--user=root", "--execute",
                    "create database sbtest")
        self.sysbench = ["sysbench", self.script, "--mysql-host=127.0.0.1", f"--mysql-port={port}",
                         "--mysql-user=root", f"--tables={self.tables}", f"--table-size={self.rows}"]
        subprocess.run([*self.sysbench, "prepare"], check=True, **QUIET)

    def options(self):
        return []

    def load(self, seconds):
        return [*self.sysbench, f"--threads={self.clients}", f"--time={seconds}", "run"]

    @staticmethod
    def rate(output):
        return float(re.findall(r"transactions:.*\(([0-9.]+) per sec", output)[-1])

    def target(self, _):
        return [self.server.pid]


class MariaDbManyClients(MariaDb):
    name, clients = "MariaDB, 64 clients", 64


class MariaDbHotRow(MariaDb):
    name, tables, rows = "MariaDB, 8 clients update one row", 1, 1


class PostgreSql(DiskCase):
    name, script, clients = "PostgreSQL, 8 clients, simple updates", ["-N"], 8
    segment_mb, log_size, checkpoint_every = 4, "1GB", "1h"

    def start(self, undo):
        binaries = sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1]
        data = os.path.join(self.directory, "data")
        shutil.chown(self.directory, "postgres")
        self.as_postgres = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        subprocess.run([*self.as_postgres, binaries / "initdb", "-D", data, f"--wal-segsize={self.segment_mb}", "-A",
                        "trust"], check=True, **QUIET)
        port = free_port()
        self.server = undo.enter_context(running(
            *self.as_postgres, binaries / "postgres", "-D", data, "-p", port, "-k", "", "-h", "127.0.0.1",
            "-c", f"max_wal_size={self.log_size}", "-c", f"checkpoint_timeout={self.checkpoint_every}",
            "-c", "autovacuum=off"))
        self.client = ["-h", "127.0.0.1", "-p", port, "-U", "postgres"]
        until_ready("psql", *self.client, "-c", "select 1")
        subprocess.run(["pgbench", *self.client, "-i", "-q", "-s", "1", "postgres"], check=True, **QUIET)

    def load(self, seconds):
        return ["pgbench", *self.client, "-n", "-c", str(self.clients), "-j", "2", "-T", str(seconds), *self.script, "postgres"]

    @staticmethod
    def rate(output):
        return float(re.findall(r"tps = ([0-9.]+)", output)[-1])

    def target(self, _):
        return [self.server.pid, *children(self.server.pid)]


class PostgreSqlHotRow(PostgreSql):
    name = "PostgreSQL, 8 clients update one row"
    update = "UPDATE pgbench_branches SET bbalance = bbalance + 1 WHERE bid = 1;\n"

    def start(self, undo):
        super().start(undo)
        file = os.path.join(os.path.dirname(self.directory), "update.sql")
        Path(file).write_text(self.update, encoding="ascii")
        self.script = ["-f", file]


class RocksDb(DiskCase):
    name = "RocksDB, synced writes"
    benchmark, options = "fillrandom", ["--sync=1", "--threads=1", "--num=200000"]

    def start(self, _):
        self.database = f"--db={self.directory}/db"

    def load(self, seconds):
        return ["db_bench", self.database, "--key_size=16", "--value_size=400", "--compression_type=none",
                f"--benchmarks={self.benchmark}", f"--duration={seconds}", *self.options]

    def rate(self, output):
        return float(re.findall(self.benchmark + r".* ([0-9]+) ops", output)[-1])

    def target(self, load):
        return [load.pid]


class RocksDbReads(RocksDb):
    name = "RocksDB, direct random reads by 4 threads"
    benchmark = "readrandom"
    options = ["--use_existing_db=1", "--use_direct_reads=1", "--cache_size=65536", "--threads=4", "--num=100000"]

    def start(self, undo):
        super().start(undo)
        subprocess.run(["db_bench", self.database, "--key_size=16", "--value_size=400", "--compression_type=none",
                        "--benchmarks=fillseq", "--num=100000"], check=True, **QUIET)


class CpuCase:
    """A load that may use one CPU, or two."""

    def __init__(self, undo, _, changed):
        self.cpus = ["taskset", "-c", "0,1" if changed else "0"]
        self.directory = undo.enter_context(tempfile.TemporaryDirectory(dir="/dev/shm"))
        self.start(undo)

    @staticmethod
    def asked(_):
        return "2 CPUs instead of 1", "cpus *2"


class RocksDbCpus(CpuCase):
    name = "RocksDB, 4 threads write without syncs"
    start, rate, target = RocksDb.start, RocksDb.rate, RocksDb.target
    benchmark, options = "fillrandom", ["--threads=4", "--num=400000", "--disable_wal=1"]

    def load(self, seconds):
        return [*self.cpus, *RocksDb.load(self, seconds)]


class Memcached(CpuCase):
    name = "memcached, and its clients"

    def start(self, undo):
        self.port = free_port()
        self.server = undo.enter_context(running(
            *self.cpus, "memcached", "-u", "root", "-l", "127.0.0.1", "-p", self.port, "-U", "0", "-t", "2"))
        until_ready("bash", "-c", f"echo version >/dev/tcp/127.0.0.1/{self.port}")

    def load(self, seconds):
        return [*self.cpus, "memcaslap", f"--servers=127.0.0.1:{self.port}", "--threads=2", "--concurrency=64",
                "--fixed_size=100", f"--time={seconds}s"]

    @staticmethod
    def rate(output):
        return float(re.findall(r"TPS: ([0-9]+)", output)[-1])

    def target(self, load):
        return [self.server.pid, load.pid]


class Nginx:
    """A proxy in front of a server that sleeps."""

    name, clients = "nginx, an upstream sleeps 5 ms", 4

    def __init__(self, undo, _, changed):
        listener = undo.enter_context(socket.create_server(("127.0.0.1", 0), backlog=256))
        upstream = os.fork()
        if upstream == 0:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)  # rather than to undo what this process has begun
            self.answer(listener, 0.0025 if changed else 0.005)
        self.upstream = f"127.0.0.1:{listener.getsockname()[1]}"
        undo.callback(os.waitpid, upstream, 0)
        undo.callback(os.kill, upstream, 15)
        self.serve(undo, f"upstream up {{ server {self.upstream}; keepalive 64; }}",
                   'proxy_pass http://up; proxy_http_version 1.1; proxy_set_header Connection "";')

    def serve(self, undo, upstream, location):
        """Starts nginx with this configuration."""
        directory = undo.enter_context(tempfile.TemporaryDirectory())
        self.port = free_port()
        config = os.path.join(directory, "nginx.conf")
        Path(config).write_text(
            f"daemon off; worker_processes 1; pid {directory}/pid; error_log /dev/null; user root;\n"
            f"events {{}}\nhttp {{ access_log off; {upstream}\n"
            f"server {{ listen 127.0.0.1:{self.port}; location / {{ {location} }} }} }}\n", encoding="ascii")
        self.server = undo.enter_context(running("nginx", "-c", config))
        until_ready("bash", "-c", f"echo >/dev/tcp/127.0.0.1/{self.port}")

    def asked(self, _):
        return "it sleeps half as long", f"service {self.upstream} /2"

    @staticmethod
    def answer(listener, seconds):
        def serve(connection):
            with connection, contextlib.suppress(ConnectionError):
                while connection.recv(65536):
                    time.sleep(seconds)
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    def load(self, seconds):
        return ["wrk", "-t1", f"-c{self.clients}", f"-d{seconds}s", f"http://127.0.0.1:{self.port}/"]

    @staticmethod
    def rate(output):
        return float(re.findall(r"Requests/sec: *([0-9.]+)", output)[-1])

    def target(self, _):
        return [self.server.pid, *children(self.server.pid)]


class ZooKeeper(DiskCase):
    name = "ZooKeeper (Java), 8 clients"
    CLIENT = """
import sys, threading, time
from kazoo.client import KazooClient
done = [0] * 8
def work(number):
    client = KazooClient("127.0.0.1:" + sys.argv[1]); client.start()
    client.ensure_path(f"/n{number}")
    while True:
        client.set(f"/n{number}", b"x" * 100); done[number] += 1
for number in range(8):
    threading.Thread(target=work, args=(number,), daemon=True).start()
time.sleep(1.5); before = sum(done); time.sleep(float(sys.argv[2])); print("rate", (sum(done) - before) / float(sys.argv[2]))
"""

    def start(self, undo):
        scratch = undo.enter_context(tempfile.TemporaryDirectory())
        self.port = free_port()
        config = os.path.join(scratch, "zoo.cfg")
        Path(config).write_text(f"tickTime=2000\ndataDir={scratch}\ndataLogDir={self.directory}\nclientPort={self.port}\n"
                                "admin.enableServer=false\npreAllocSize=8192\n", encoding="ascii")
        self.server = undo.enter_context(running(
            "java", "-cp", "/usr/share/java/*:/etc/zookeeper/conf", "org.apache.zookeeper.server.quorum.QuorumPeerMain", config))
        until_ready("bash", "-c", f"echo >/dev/tcp/127.0.0.1/{self.port}")

    def load(self, seconds):
        return [sys.executable, "-c", self.CLIENT, self.port, str(seconds)]

    @staticmethod
    def rate(output):
        return float(re.findall(r"rate ([0-9.]+)", output)[-1])

    def target(self, _):
        return [self.server.pid]


CASES = {"redis": Redis, "mariadb": MariaDb, "mariadb-64": MariaDbManyClients, "mariadb-hot-row": MariaDbHotRow,
         "postgresql": PostgreSql, "postgresql-hot-row": PostgreSqlHotRow, "rocksdb-sync": RocksDb,
         "rocksdb-reads": RocksDbReads, "rocksdb-cpus": RocksDbCpus, "memcached": Memcached, "nginx": Nginx,
         "zookeeper": ZooKeeper}


def record(offwait, case, seconds, file, how="dump"):
    load = subprocess.Popen(case.load(seconds + 6), start_new_session=True, **QUIET)
    time.sleep(3)
    pids = ",".join(str(pid) for pid in case.target(load))
    subprocess.run([offwait, how, "-q", "-p", pids, "-d", f"{seconds}s", "-o", file], check=True)
    os.killpg(load.pid, signal.SIGKILL)  # also what it has started, which would go on beside the runs that are measured
    load.wait()


def predicted(offwait, file, asked):
    """What the report says of the change, as its JSON object, and the line of its first answer."""
    report = json.loads(output_of([offwait, "report", file, "-q", "--json", "-", "--what-if", asked]))
    answer = next((line for line in output_of([offwait, "report", file, "-q"]).splitlines() if line.startswith("1  ")),
                  "1  no answer")
    return report["what_if"][0], answer.removeprefix("1").strip()


def shown(gain):
    if gain["certainty"] == "rough":
        return "no number"
    if gain["certainty"] == "up-to":
        most = gain["gain"] if gain["high"] is None else max(gain["gain"], gain["high"])
        if gain["low"] is not None and gain["low"] >= 0.01:
            return f"{100 * gain['low']:+.0f}% to {100 * most:+.0f}%"
        return f"up to {100 * most:+.0f}%"
    interval = "" if gain["low"] is None else f" ({100 * gain['low']:.0f} to {100 * gain['high']:.0f})"
    return f"{100 * gain['gain']:+.0f}%{interval}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--case", action="append", choices=CASES, help="may be given several times")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    slow_file = options.build / "tests/kernel/slow_file"
    print("| server | change | measured | predicted | first answer |\n|---|---|---|---|---|", flush=True)
    for name in options.case or CASES:
        with contextlib.ExitStack() as undo:
            directory = undo.enter_context(tempfile.TemporaryDirectory(dir="/var/tmp"))
            kept = (options.keep or Path(directory)) / f"{name}.txt"
            before, after = (CASES[name](undo, slow_file, changed) for changed in (False, True))
            offwait = options.build / "offwait"
            record(offwait, before, 8, kept)
            ratios = []
            for pair in range(options.pairs):
                order = (before, after) if pair % 2 == 0 else (after, before)
                rates = {case: case.rate(output_of(case.load(options.seconds))) for case in order}
                ratios.append(rates[after] / rates[before])
            change, asked = before.asked(after)
            gain, first = predicted(offwait, kept, asked)
            measured = [100 * (ratio - 1) for ratio in (statistics.median(ratios), min(ratios), max(ratios))]
            print(f"| {before.name} | {change} | {measured[0]:+.0f}% [{measured[1]:.0f}..{measured[2]:.0f}] | "
                  f"{shown(gain)} | {first} |", flush=True)


if __name__ == "__main__":
    main()
