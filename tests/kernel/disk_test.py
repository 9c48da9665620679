# SPDX-License-Identifier: GPL-2.0-or-later
"""What offwait says of disks, compared with fio and /proc/diskstats. The disk is a loop device over memory, so that nothing
else uses it.

    disk_test.py OFFWAIT SLOW_FILE|- [test names]"""
import collections
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import recording
import runner
from cgroup import remove_when_empty
from loop import SlowDisk, counters, loop_device, mounted_ext4, service_seconds

OFFWAIT, SLOW_FILE = sys.argv[1:3]
BLKIO = "/sys/fs/cgroup/blkio"


def fio(device, *options):
    return subprocess.Popen(["fio", "--name=job", f"--filename=/dev/{device}", "--direct=1", "--bs=4k", "--size=64M",
                             "--time_based", "--output-format=json", *options], stdout=subprocess.PIPE, text=True)


def worker_of(process):
    """The pid of fio's job, which is a child of fio."""
    path = f"/proc/{process.pid}/task/{process.pid}/children"
    for _ in range(500):
        with open(path, encoding="ascii") as file:
            children = file.read().split()
        if children:
            return int(children[0])
        time.sleep(0.01)
    raise AssertionError("fio has no job")


class DiskTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(dir="/dev/shm")
        self.addCleanup(shutil.rmtree, self.directory)

    def report(self, pid, seconds, *options):
        path = os.path.join(self.directory, "report.json")
        subprocess.run([OFFWAIT, "-q", "-p", str(pid), "-d", f"{seconds}s", "--json", path, *options], check=True,
                       stdout=subprocess.DEVNULL)
        with open(path, encoding="utf-8") as file:
            return json.load(file)

    def disk(self, report, name):
        """The disk's actor, and its entry in the report."""
        actor, = [a["id"] for a in report["actors"] if a["kind"] == "disk" and a["name"] == name]
        disk, = [d for d in report["disks"] if d["actor"] == actor]
        self.assertIsNotNone(disk["check"])
        self.assertFalse(disk["check"]["mismatch"], disk["check"])
        return actor, disk

    def knots_with(self, report, actor):
        return [k for k in report["knots"] if not k["background"] and actor in k["actors"]]

    def test_depth_one_waits_as_long_as_fio_says(self):
        for rw, direction in (("randread", "read"), ("randwrite", "write")):
            with self.subTest(rw=rw), loop_device(self.directory, 64) as device:
                path = os.path.join(self.directory, "dump.txt")
                # fio starts its job only after the recording has begun.
                job = fio(device, f"--rw={rw}", "--ioengine=psync", "--runtime=2", "--startdelay=3", "--thread=1")
                recorder = recording.start_offwait(OFFWAIT, ["dump", "-p", str(job.pid), "-o", path])
                out, _ = job.communicate()
                recorder.communicate()
                self.check_against_fio(recording.Dump(path), device, json.loads(out)["jobs"][0][direction])

    def check_against_fio(self, dump, device, stats):
        submitters = collections.Counter(tid for tid, keys in dump.ios if keys["disk"] == device)
        worker = int(submitters.most_common(1)[0][0])
        waits = [w for w in dump.waits if w.tid == worker and w.waker == "disk:" + device]
        done = [keys for tid, keys in dump.ios if tid == str(worker) and keys["disk"] == device]
        self.assertAlmostEqual(len(done) / stats["total_ios"], 1.0, delta=0.02)
        # fio measures the whole system call: the wait, the way back to a CPU, and the call's own work. Only the last part is
        # no wait for offwait; it is at most as long as the thread ran or was preempted while it did I/O.
        latencies = stats["total_ios"] * stats["lat_ns"]["mean"]
        waited = sum(w.run - w.block for w in waits)
        span = waits[-1].run - waits[0].block
        others = sum(w.run - w.block for w in dump.waits
                     if w.tid == worker and w.waker != "disk:" + device and waits[0].block <= w.block < waits[-1].run)
        self.assertLessEqual(waited, 1.02 * latencies)
        self.assertGreaterEqual(1.02 * (span - others), latencies)
        # The waits themselves are no longer than the requests were under way.
        flown = sum(int(keys["complete"]) - int(keys["issue"]) for keys in done)
        self.assertLessEqual(sum(w.wake - w.block for w in waits), 1.02 * flown)

    def test_asynchronous_requests_make_no_knot(self):
        for engine in ("libaio", "io_uring"):
            for depth, knots in ((32, 0), (1, 1)):
                with self.subTest(engine=engine, depth=depth), loop_device(self.directory, 64) as device:
                    job = fio(device, "--rw=randread", "--runtime=3", f"--ioengine={engine}", f"--iodepth={depth}")
                    worker = worker_of(job)
                    time.sleep(0.5)
                    report = self.report(worker, 1.5)
                    job.communicate()
                    actor, _ = self.disk(report, device)
                    self.assertEqual(len(self.knots_with(report, actor)), knots, report["knots"])
                    reader, = [a["id"] for a in report["actors"] if a.get("tid") == worker]
                    idle = [e["to"] for e in report["edges"] if e["from"] == actor and e["weight_s"] > 0.01]
                    self.assertEqual(idle, [reader] * knots)

    @unittest.skipUnless(os.path.isdir(BLKIO), "no blkio controller of cgroup v1")
    def test_what_a_limit_holds_back_is_no_disk(self):
        limited = os.path.join(BLKIO, f"offwait-test-{os.getpid()}")
        with loop_device(self.directory, 64) as device:
            os.mkdir(limited)
            self.addCleanup(remove_when_empty, limited)
            with open(f"/sys/block/{device}/dev", encoding="ascii") as number, \
                    open(f"{limited}/blkio.throttle.read_iops_device", "w", encoding="ascii") as limit:
                limit.write(f"{number.read().strip()} 200")
            job = fio(device, "--rw=randread", "--ioengine=psync", "--runtime=4")
            worker = worker_of(job)
            with open(f"{limited}/cgroup.procs", "w", encoding="ascii") as processes:
                processes.write(str(worker))
            time.sleep(0.5)
            report = self.report(worker, 2)
            job.communicate()
            actor, _ = self.disk(report, device)
        answer = report["answers"][0]
        self.assertEqual((answer["what"], answer["device"], answer["certainty"]), ("pause", actor, "rough"))
        self.assertLess(answer["pause"]["served_s"], 0.3 * answer["time_s"])
        self.assertEqual([a for a in report["answers"] if a["what"] == "disk" and a["gain"] > 0.2], [])

    @unittest.skipIf(SLOW_FILE == "-", "libfuse3-dev missing")
    def test_a_disk_of_known_service_time(self):
        service_us = 50_000  # several hundred times a request's other costs
        path = os.path.join(self.directory, "report.json")
        with SlowDisk(SLOW_FILE, self.directory, 64, service_us) as slow:
            before, counted_s = slow.served(), -service_seconds(slow.device)
            # The recording covers the whole job, as in the test above. The disk is idle for half of the job's time.
            job = fio(slow.device, "--rw=randrw", "--ioengine=psync", "--runtime=3", "--startdelay=3", "--thread=1",
                      f"--thinktime={service_us}")
            capacity = f"{slow.device}=1G,{1e6 / service_us}"
            recorder = recording.start_offwait(OFFWAIT, ["-p", str(job.pid), "--json", path, "--no-merge",
                                                         "--disk-capacity", capacity])
            out, _ = job.communicate()
            recorder.communicate()
            after, counted_s = slow.served(), counted_s + service_seconds(slow.device)
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
        actor, disk = self.disk(report, slow.device)
        served, busy_s = after[0] - before[0], after[1] - before[1]
        self.assertEqual(disk["ios"], served)
        # The kernel's path to the file takes some time as well; on a busy machine it also waits for a CPU.
        self.assertGreaterEqual(disk["service_s"], busy_s / served)
        self.assertAlmostEqual(disk["service_s"] / (counted_s / served), 1.0, delta=0.02)
        # A request that is under way when the counters are read is counted as a whole when it ends, with only a part of its
        # time in the window.
        self.assertAlmostEqual(disk["busy_s"] / (served * service_us / 1e6), 1.0, delta=0.03)
        window_s = report["recording"]["window_s"]
        self.assertAlmostEqual(disk["idle_s"] / window_s, 1 - busy_s / window_s, delta=0.02)
        # The job's waits for the disk and then for a CPU are as long as fio says that its requests took.
        stats = json.loads(out)["jobs"][0]
        latencies_s = sum(stats[way]["total_ios"] * stats[way]["lat_ns"]["mean"] for way in ("read", "write")) / 1e9
        worker = disk["users"][0]["actor"]
        waited_s = sum(e["wait_s"] for e in report["edges"] if e["from"] == worker and e["to"] == actor)
        self.assertLessEqual(waited_s, 1.02 * latencies_s)
        self.assertGreaterEqual(waited_s + report["actors"][worker]["runnable_s"], 0.98 * latencies_s)

    def test_idle_fraction_is_that_of_the_counters(self):
        with loop_device(self.directory, 64) as device:
            job = fio(device, "--rw=randread", "--ioengine=psync", "--runtime=5", "--rate_iops=16000")
            worker = worker_of(job)
            time.sleep(1)
            path = os.path.join(self.directory, "report.json")
            # 10 µs each, less than a request takes here: time without one in flight is idle whatever the capacity.
            recorder = recording.start_offwait(OFFWAIT, ["-p", str(worker), "--json", path, "--disk-capacity", f"{device}=100G,100k"])
            # The counters are read when the window begins and ends, as the rate is not steady on a busy machine.
            before, started = counters(device), time.monotonic()
            time.sleep(2)
            after, ended = counters(device), time.monotonic()
            recorder.send_signal(signal.SIGINT)
            recorder.communicate()
            job.communicate()
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
        _, disk = self.disk(report, device)
        used = (after[0] - before[0]) / (ended - started) / 100_000
        self.assertEqual(disk["capacity"]["source"], "given")
        self.assertAlmostEqual(disk["idle_s"] / report["recording"]["window_s"], 1 - used, delta=0.02)

    def test_journal_commits_are_the_knot(self):
        mount = os.path.join(self.directory, "mnt")
        os.mkdir(mount)
        with loop_device(self.directory, 64) as device, mounted_ext4(device, mount):
            writer = subprocess.Popen([sys.executable, "-c", """
import os, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
while os.getppid() == int(sys.argv[2]):
    if os.lseek(fd, 0, os.SEEK_CUR) > 4 << 20:  # the device is small
        os.ftruncate(fd, os.lseek(fd, 0, os.SEEK_SET))
    os.write(fd, b"x" * 4096)
    os.fsync(fd)
""", os.path.join(mount, "file"), str(os.getpid())])
            try:
                time.sleep(0.5)
                report = self.report(writer.pid, 3)
            finally:
                writer.kill()
                writer.wait()
        actor, disk = self.disk(report, device)
        by_name = {a["name"]: a["id"] for a in report["actors"]}
        journal = by_name[f"jbd2/{device}-8"]
        writer_actor, = [a["id"] for a in report["actors"] if a.get("tid") == writer.pid]
        knots = self.knots_with(report, actor)
        self.assertEqual(len(knots), 1, report["knots"])
        names = [report["actors"][a]["name"] for a in knots[0]["actors"]]
        self.assertLessEqual({writer_actor, journal, actor}, set(knots[0]["actors"]), names)
        # A worker of the loop device reports the completions; the journal still waits for the disk.
        waited = {e["to"]: e["wait_s"] for e in report["edges"]
                  if e["from"] == journal and "disk" in e["classes"] and not e["idle"]}
        self.assertGreaterEqual(waited.pop(actor), 0.95 * (sum(waited.values()) + 1e-9))
        self.assertIn(journal, [u["actor"] for u in disk["users"]])


if __name__ == "__main__":
    sys.exit(runner.run(sys.argv[3:], tools=("fio", "losetup", "mkfs.ext4")))
