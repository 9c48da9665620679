#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What recording costs, compared with two other recorders in the same run: libbpf-tools' offcputime, and a minimal recorder
that calls bpf_get_stackid for each wait (bench_stackid).

    recording.py BUILD [--other OFFWAIT] [--load pipe|ring|mariadb]... [--only RECORDER]... [--pairs N] [--scale X]

Loads: `pipe`: perf bench sched pipe, pinned to one CPU; `ring`: eight threads that hand a token on by futex, pinned;
`mariadb`: sysbench oltp_write_only with 8 clients against a server made for it (packaging/install-packages.sh mariadb). Each
round runs the load without a recorder, then under each recorder in turn. A recorder's slowdown is the ratio of neighbouring
runs; the median over the rounds is printed. --other is another offwait, an older one for example. It is the recorder `other`,
and the ratio of the runs under the two is printed as well. Absolute times depend on the machine; compare the last columns.
Asserts nothing."""
import argparse
import os
import pathlib
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "kernel"))
from cgroup import Cgroup  # noqa: E402

CPU = 1


def switches():
    with open("/proc/stat", encoding="ascii") as stat:
        return next(int(line.split()[1]) for line in stat if line.startswith("ctxt"))


class Stopped:
    """A command that stops itself before it begins, so that a recorder can attach first."""

    def __init__(self, command):
        self.command = command

    def prepare(self):
        self.process = subprocess.Popen(["sh", "-c", f"kill -STOP $$; exec taskset -c {CPU} {self.command}"],
                                        stdout=subprocess.PIPE, text=True)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WNOWAIT)
        return self.process.pid

    def run(self):
        """(seconds, switches)"""
        before = switches()
        os.kill(self.process.pid, signal.SIGCONT)
        out, _ = self.process.communicate()
        return float(re.search(r"[\d.]+", out).group()), switches() - before

    def close(self):
        pass


class MariaDb:
    def __init__(self, scale):
        self.scratch = tempfile.TemporaryDirectory(prefix="offwait-bench-")
        data = self.scratch.name + "/data"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        subprocess.run(["mariadb-install-db", "--no-defaults", f"--datadir={data}", "--skip-test-db", "--user=root",
                        "--auth-root-authentication-method=normal"], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        self.server = subprocess.Popen(
            ["mariadbd", "--no-defaults", "--user=root", f"--datadir={data}", f"--socket={data}/socket", f"--port={port}",
             "--bind-address=127.0.0.1", "--innodb-buffer-pool-size=256M", "--innodb-log-file-size=512M"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        sql = ["mariadb", "--no-defaults", "--host=127.0.0.1", f"--port={port}", "--user=root", "--execute"]
        # No flush at commits: the CPUs should limit the load, because recording takes their time.
        setting = "create database sbtest; set global innodb_flush_log_at_trx_commit=0"
        while subprocess.run([*sql, setting], stderr=subprocess.DEVNULL, check=False).returncode:
            time.sleep(0.2)
        self.client = ["sysbench", "oltp_write_only", "--mysql-host=127.0.0.1", f"--mysql-port={port}", "--mysql-user=root",
                       "--tables=4", "--table-size=20000", "--threads=8", "--time=0", f"--events={int(10000 * scale)}"]
        subprocess.run([*self.client, "prepare"], check=True, stdout=subprocess.DEVNULL)

    def prepare(self):
        return self.server.pid

    def run(self):
        before = switches()
        out = subprocess.run([*self.client, "run"], check=True, stdout=subprocess.PIPE, text=True).stdout
        return float(re.search(r"total time: *([\d.]+)s", out).group(1)), switches() - before

    def close(self):
        self.server.terminate()
        self.server.wait()
        self.scratch.cleanup()


class Recorder:
    """A recorder. In its command `{pid}` stands for the load's pid and `{cgroup}` for a cgroup that the load is put into. It has
    attached when it says so on stderr, or after two seconds if it never says so."""

    def __init__(self, *command, says_so):
        self.command, self.says_so, self.cgroup = command, says_so, None

    def start(self, pid):
        if "{cgroup}" in self.command:
            self.cgroup = Cgroup("offwait-bench")
            self.cgroup.add(pid)
        words = {"pid": pid, "cgroup": self.cgroup and self.cgroup.name}
        self.process = subprocess.Popen([word.format(**words) for word in self.command], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE if self.says_so else subprocess.DEVNULL, text=True)
        if self.says_so:
            if "recording" not in self.process.stderr.readline():
                sys.exit(f"recording.py: {self.command[0]} does not record")
        else:
            time.sleep(2)
        self.began, self.cpu_before = time.monotonic(), cpu_seconds(self.process.pid)

    def stop(self):
        share = (cpu_seconds(self.process.pid) - self.cpu_before) / (time.monotonic() - self.began)
        self.process.send_signal(signal.SIGINT)
        self.process.communicate()
        if self.cgroup:
            self.cgroup.remove()
        return share


def cpu_seconds(pid):
    """CPU time by the scheduler's clock, as the clock of /proc/PID/stat ticks only every 10 ms, a whole percent of a second."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/schedstat", encoding="ascii") as schedstat:
            total += int(schedstat.read().split()[0])
    return total / 1e9


def measure(name, load, recorders, pairs):
    slowdowns = {recorder: [] for recorder in recorders}
    added_ns = {recorder: [] for recorder in recorders}
    shares = {recorder: [] for recorder in recorders}
    count = 0
    for _ in range(pairs):
        for recorder_name, recorder in recorders.items():
            load.prepare()
            alone, count = load.run()
            recorder.start(load.prepare())
            recorded, _ = load.run()
            shares[recorder_name].append(recorder.stop())
            slowdowns[recorder_name].append(recorded / alone - 1)
            added_ns[recorder_name].append((recorded - alone) * 1e9 / count)
    print(f"{name}: {count:,} switches, {pairs} interleaved pairs, median [min..max]")
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
        print(f"{recorder:20} slowdown {100 * medians[recorder]:6.1f} % [{100 * min(runs):.1f}..{100 * max(runs):.1f}]  "
              f"{statistics.median(added_ns[recorder]):6.0f} ns/switch  "
              f"recorder {100 * statistics.median(shares[recorder]):5.2f} % of a CPU{ratios}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="build directory")
    parser.add_argument("--other", help="another offwait")
    parser.add_argument("--load", action="append", choices=["pipe", "ring", "mariadb"])
    parser.add_argument("--only", action="append", help="a recorder (no-stacks, offwait, other, no-samples, cgroup, stackid, offcputime)")
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--scale", type=float, default=1.0, help="length of a run")
    options = parser.parse_args()
    offcputime = shutil.which("offcputime", path=os.environ["PATH"] + ":/usr/sbin:/usr/share/bcc/tools")
    if os.geteuid() != 0 or not shutil.which("perf"):
        sys.exit("recording.py: needs root and perf (linux-perf)")
    if not offcputime and "offcputime" in (options.only or ["offcputime"]):
        sys.exit("recording.py: needs offcputime (libbpf-tools)")
    dump = [options.build + "/offwait", "dump", "-o", "/dev/null", "-p", "{pid}"]
    bench = options.build + "/tests/bench/"
    recorders = {
        "no-stacks": Recorder(*dump, "--no-stacks", says_so=True),
        "offwait": Recorder(*dump, says_so=True),
        **({"other": Recorder(options.other, *dump[1:], says_so=True)} if options.other else {}),
        "no-samples": Recorder(*dump, "--sample-hz", "0", says_so=True),
        "cgroup": Recorder(*dump[:-2], "-c", "{cgroup}", says_so=True),
        "stackid": Recorder(bench + "bench_stackid", bench + "stackid.bpf.o", says_so=True),
        **({"offcputime": Recorder(offcputime, "3600", says_so=False)} if offcputime else {}),
    }
    if options.only:
        recorders = {name: recorders[name] for name in options.only}
    for name in options.load or ["pipe", "ring", "mariadb"]:
        if name == "pipe":
            load = Stopped(f"perf bench -f simple sched pipe -l {int(400000 * options.scale)}")
        elif name == "ring":
            load = Stopped(f"{bench}bench_futex_ring 8 {int(100000 * options.scale)}")
        else:
            load = MariaDb(options.scale)
        try:
            measure(name, load, recorders, options.pairs)
        finally:
            load.close()


if __name__ == "__main__":
    main()
