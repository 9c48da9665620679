# SPDX-License-Identifier: GPL-2.0-or-later
"""What offwait says of a program that lacks CPUs: its quota, its pinning, itself, or other programs.

    cpus_test.py OFFWAIT

Whatever else runs on this machine uses its CPUs, too: where that would change the cause, the test is skipped."""
import json
import os
import subprocess
import sys
import time
import unittest

import runner
from cgroup import mount

OFFWAIT = sys.argv[1]
SECONDS = 2
ONLINE = sorted(os.sched_getaffinity(0))
BUSY = 0.8  # kMachineBusy


def cpu_hierarchy():
    """(directory, is it v1) of the hierarchy with the controller of CPUs; None if there is none."""
    with open("/proc/self/mountinfo", encoding="utf-8") as lines:
        for line in lines:
            if " - cgroup " in line and "cpu" in line.split()[-1].split(","):
                return line.split()[4], True
    v2 = mount()
    if v2 and "cpu" in open(v2 + "/cgroup.controllers", encoding="ascii").read().split():
        return v2, False
    return None


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(str(text))


def machine_busy():
    """How busy the CPUs are, 0 to 1, measured for half a second."""
    def ticks():
        with open("/proc/stat", encoding="ascii") as stat:
            fields = [int(word) for word in stat.readline().split()[1:9]]
        return sum(fields), fields[3] + fields[4]
    before = ticks()
    time.sleep(0.5)
    after = ticks()
    return 1 - (after[1] - before[1]) / max(1, after[0] - before[0])


# Sleeps now and then, since a recording without a wait has no report.
TARGET = r"""
import time
while True:
    end = time.thread_time() + 0.002
    while time.thread_time() < end:
        pass
    time.sleep(0.0001)
"""


class CpusTest(unittest.TestCase):
    def started(self, *command):
        process = subprocess.Popen(command)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process.pid

    def stranger(self):
        """A process that runs all the time, if it gets a CPU."""
        return self.started("/bin/sh", "-c", "while :; do :; done")

    def spinner(self, cpu=None):
        """A process of the target that runs nearly all the time, if it gets a CPU."""
        pid = self.started(sys.executable, "-c", TARGET)
        if cpu is not None:
            os.sched_setaffinity(pid, {cpu})
        return pid

    def record(self, *pids):
        """The report's cpu_supply, and its text."""
        done = subprocess.run([OFFWAIT, "-p", ",".join(map(str, pids)), "-d", f"{SECONDS}s", "--json", "-"],
                              check=True, capture_output=True, text=True)
        report = json.loads(done.stdout)
        supply = report["cpu_supply"]
        self.assertGreater(report["totals"]["runnable_s"], 0.1, supply)
        self.assertEqual(supply["sentence"] == "", supply["cause"] in ("none", "unknown"), supply)
        self.assertFalse({process["tgid"] for process in supply["others"]} & set(pids), supply)
        return supply

    def quota(self, above, name, quota_us):
        """Makes a cgroup with a quota, and returns its name."""
        directory, v1 = cpu_hierarchy()
        path = f"{directory}{above}/{name}"
        os.mkdir(path)
        self.addCleanup(os.rmdir, path)
        if not v1 and not os.path.exists(path + "/cpu.max"):
            self.skipTest("cgroups here have no controller of CPUs")
        if v1:
            write(path + "/cpu.cfs_quota_us", quota_us)
        else:
            write(path + "/cpu.max", f"{quota_us} 100000")
        return f"{above}/{name}"

    def test_a_quota(self):
        if cpu_hierarchy() is None:
            self.skipTest("no hierarchy of cgroups has the controller of CPUs")
        name = self.quota("", f"offwait-quota-{os.getpid()}", 5000)
        pid = self.spinner()
        write(f"{cpu_hierarchy()[0]}{name}/cgroup.procs", pid)
        supply = self.record(pid)
        self.assertEqual(supply["cause"], "quota", supply)
        self.assertEqual((supply["quota"]["cgroup"], supply["quota"]["cpus"]), (name, 0.05))
        self.assertGreaterEqual(supply["quota"]["throttled_periods"], SECONDS * 10 * 0.7)
        self.assertGreaterEqual(supply["quota"]["periods"], supply["quota"]["throttled_periods"])
        self.assertGreater(supply["quota"]["throttled_s"], SECONDS * 0.6)
        self.assertIsNone(supply["pinning"])
        self.assertTrue(supply["sentence"].startswith(f"CPU quota of cgroup {name}: 0.05 CPUs."), supply)

    def test_a_quota_of_an_ancestor(self):
        if cpu_hierarchy() is None or not cpu_hierarchy()[1]:
            self.skipTest("only in cgroup v1 a process may be in a cgroup below one with a quota without more ado")
        name = self.quota("", f"offwait-above-{os.getpid()}", 5000)
        below = f"{cpu_hierarchy()[0]}{name}/below"
        os.mkdir(below)
        self.addCleanup(os.rmdir, below)
        pid = self.spinner()
        write(below + "/cgroup.procs", pid)
        supply = self.record(pid)
        self.assertEqual((supply["cause"], supply["quota"]["cgroup"]), ("quota", name), supply)

    def test_pinned(self):
        if len(ONLINE) < 2:
            self.skipTest("only one CPU")
        pids = [self.spinner(ONLINE[0]), self.spinner(ONLINE[0])]
        supply = self.record(*pids)
        pinning = supply["pinning"]
        self.assertEqual((pinning["allowed"], pinning["allowed_cpus"], pinning["threads"]), (str(ONLINE[0]), 1, 2))
        self.assertEqual(pinning["online_cpus"], os.sysconf("SC_NPROCESSORS_ONLN"))
        self.assertGreater(pinning["allowed_busy"], 0.9)
        self.assertGreater(pinning["runnable_s"], SECONDS * 0.4)
        if pinning["others_busy"] >= BUSY:
            self.assertIn(supply["cause"], ("own", "others", "steal"))
            self.skipTest("the other CPUs are busy with something else")
        self.assertEqual(supply["cause"], "pinning", supply)
        self.assertTrue(supply["sentence"].startswith(f"Pinned: 2 threads may use 1 of {len(ONLINE)} CPUs ({ONLINE[0]})"))

    def test_another_program(self):
        others = [self.stranger() for _ in range(3 * len(ONLINE))]
        supply = self.record(self.spinner())
        self.assertEqual(supply["cause"], "others", supply)
        self.assertGreater(supply["other_cpus"], supply["target_cpus"])
        self.assertIsNone(supply["pinning"])
        for process in supply["others"]:
            self.assertGreater(process["cpu_s"] + process["children_cpu_s"], 0)
        most = supply["others"][0]
        self.assertIn(f"{most['name']} (pid {most['tgid']}) ", supply["sentence"])
        if not {process["tgid"] for process in supply["others"]} & set(others):
            self.skipTest("more than five other processes use more CPU time than the test's own")

    def test_the_target_itself(self):
        if machine_busy() > 0.2:
            self.skipTest("the machine is busy with something else")
        supply = self.record(*(self.spinner() for _ in range(2 * len(ONLINE))))
        self.assertEqual(supply["cause"], "own", supply)
        self.assertGreater(supply["target_cpus"], 0.7 * len(ONLINE))

    def test_a_program_with_free_cpus_lacks_none(self):
        if machine_busy() > 0.2 or len(ONLINE) < 2:
            self.skipTest("the machine is busy with something else, or has one CPU")
        pid = self.spinner()
        done = subprocess.run([OFFWAIT, "-p", str(pid), "-d", "1s", "--json", "-"], check=True, capture_output=True,
                              text=True)
        self.assertEqual(json.loads(done.stdout)["cpu_supply"]["cause"], "none")


if __name__ == "__main__":
    sys.exit(runner.run(sys.argv[2:]))
