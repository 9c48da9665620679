#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks what the views say of programs whose most critical code is known.

    profiles_test.py OFFWAIT PROFILES [TEST...] [--keep DIR]

Records each program of PROFILES from its start to its end. --keep DIR keeps the reports in DIR."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

SKIP = 77


class Report:
    def __init__(self, text, printed):
        """`printed`: what the program wrote; its first line is the duration."""
        report = json.loads(text)
        self.functions = report["functions"]["rows"]
        self.threads = report["threads"]
        self.measured = {name: float(gain) for name, gain in map(str.split, printed.splitlines()[1:])}
        self.cpu_supply = report["cpu_supply"]["cause"]

    def row(self, name):
        """The row of a function, by its name without arguments, templates and namespaces."""
        rows = [row for row in self.functions if name == plain(row["function"])]
        assert rows, f"no row {name} among {[row['function'] for row in self.functions]}"
        return rows[0]

    def gain(self, name, part="all"):
        """0 for a function of threads that do not count."""
        if all(name != plain(row["function"]) for row in self.functions):
            return 0.0
        gain = self.row(name)["gains"][part]
        return gain["gain"] if gain else 0.0

    @staticmethod
    def calls(stack, name):
        return any(name == plain(frame) for frame in stack["stack"])

    def files_on_disk(self):
        """Waits for the disk last milliseconds in all: one for a page of the program may be more critical."""
        return [stack for stack in self.threads["files"] if stack["class"] == "disk"]

    def critical(self, kind, name):
        """The criticality of the stacks (wakers, files) that call a function."""
        return sum(stack["critical_s"] for stack in self.threads[kind] if self.calls(stack, name))


def plain(function):
    """`ns::(anonymous namespace)::f(int)+0x1 (app) at f.c:1` → `f`"""
    name = function.replace("(anonymous namespace)::", "").split("(")[0].split("+0x")[0].split(" ")[0]
    return name.split("::")[-1]


class Profiles(unittest.TestCase):
    pauses_s = [30, 10, 2]  # all that this file waits for other programs to end

    def record(self, program, last=None):
        """The report of a run that other programs left the CPUs to, in which the function `last` was last in most
        rounds: a slow disk changes it."""
        while True:
            report = self.recorded(program)
            if report.cpu_supply in ("own", "others", "steal"):
                why = "other programs use the CPUs"
            elif last and report.measured[last] < 0.5:
                why = f"{last} was last in few rounds: {report.measured}"
            else:
                return report
            if not self.pauses_s:
                return self.skipTest(why)
            time.sleep(self.pauses_s.pop())

    @classmethod
    def recorded(cls, program):
        with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
            subprocess.run([cls.profiles, "make_files", directory], check=True)
            run = subprocess.run([cls.offwait, "-q", "--sample-hz", "999", "--view", "functions", "--json",
                                  f"{directory}/report", "--",
                                  cls.profiles, program, directory], capture_output=True, check=False)
            if run.returncode != 0:
                raise AssertionError(run.stderr.decode())
            with open(f"{directory}/report", encoding="utf-8") as report:
                text = report.read()
        if cls.keep:
            with open(os.path.join(cls.keep, program + ".json"), "w", encoding="utf-8") as kept:
                kept.write(text)
        return Report(text, run.stdout.decode())

    def test_mutex(self):
        """The lock is a bottleneck, and the sleep under it has no cause that is known."""
        report = self.record("mutex")
        self.assertGreater(report.row("mutex_work")["all"]["lock_s"], 5)  # 11 threads wait for 100 ms and more
        locks = [stack for stack in report.threads["stacks"]
                 if stack["class"] == "futex" and not report.calls(stack, "join")]
        self.assertEqual(locks[0]["cause"], "lock")
        self.assertTrue(report.calls(locks[0], "mutex_work"))
        sleeps = [stack for stack in report.threads["stacks"] if stack["class"] == "sleep"]
        self.assertTrue(sleeps and report.calls(sleeps[0], "mutex_work"))
        self.assertEqual({stack["cause"] for stack in sleeps}, {"unknown"})
        wakers = [stack for stack in report.threads["wakers"] if report.calls(stack, "__pthread_mutex_unlock_usercnt")]
        self.assertTrue(report.calls(wakers[0], "mutex_work"))

    def test_multi_mutex(self):
        """big_work does most while it holds the lock: the most critical waker, and function."""
        report = self.record("multi_mutex")
        critical = {name: report.critical("wakers", name) for name in ("big_work", "medium_work", "small_work")}
        self.assertGreater(critical["big_work"], 10 * (critical["medium_work"] + critical["small_work"]))
        self.assertGreater(report.row("big_work")["critical_all_s"], 0.8 * report.threads["critical_s"])
        self.assertLess(report.row("medium_work")["critical_all_s"], 0.1 * report.threads["critical_s"])
        self.assertTrue(report.calls(report.threads["stacks"][0], "big_work"))
        known = [stack for stack in report.threads["stacks"] if stack["cause"] != "unknown"]
        self.assertEqual(known[0]["cause"], "lock")
        self.assertGreater(report.gain("big_work", "cpu"), 0.6)
        self.assertLess(report.gain("medium_work", "cpu"), 0.1)

    def test_multi_locks(self):
        """big_work holds up medium_work, which holds up small_work."""
        report = self.record("multi_locks")
        wakers = {name: report.critical("wakers", name) for name in ("big_work", "medium_work", "small_work")}
        self.assertGreater(wakers["big_work"], wakers["medium_work"])
        self.assertGreater(wakers["medium_work"], 4 * wakers["small_work"])
        self.assertGreater(report.gain("big_work", "cpu"), 0.4)
        self.assertGreater(report.row("small_work")["all"]["lock_s"], report.row("small_work")["all"]["cpu_s"])

    def test_main_read(self):
        """Reading is the one critical cause, and it is input."""
        report = self.record("main_read")
        known = [stack for stack in report.threads["stacks"] if stack["cause"] != "unknown"]
        self.assertEqual(known[0]["cause"], "io")
        self.assertTrue(report.calls(known[0], "big_work"))
        self.assertTrue(report.calls(report.files_on_disk()[0], "big_work"))
        waits = {key: value for key, value in report.row("big_work")["all"].items() if key in ("io_s", "lock_s", "other_s")}
        self.assertEqual(max(waits, key=waits.get), "io_s")

    def test_main_write(self):
        report = self.record("main_write")
        known = [stack for stack in report.threads["stacks"] if stack["cause"] != "unknown"]
        self.assertEqual(known[0]["cause"], "io")
        self.assertTrue(report.calls(known[0], "big_work"))
        self.assertTrue(report.calls(report.files_on_disk()[0], "big_work"))
        self.assertGreater(report.row("big_work")["all"]["io_s"], report.row("big_work")["all"]["lock_s"])

    def test_figure_1_case_1(self):
        """compute_heavy is on the critical path. The disk is not, though the other thread waits for it."""
        report = self.record("figure1_case1", last="compute_heavy")
        heavy = report.gain("compute_heavy", "cpu")
        self.assertGreater(heavy, 0.3, report.measured)
        for name in ("compute_light", "read_for"):
            # Where CPUs are a little short, less of either thread's work gains something.
            self.assertLess(report.gain(name), max(report.measured[name] + 0.1, heavy / 3), name)

    def test_figure_1_case_2(self):
        """The reads are on the critical path, and compute_heavy is not."""
        report = self.record("figure1_case2", last="read_for")
        self.assertGreater(report.gain("read_for"), 0.3, report.measured)
        self.assertGreater(report.gain("read_for"), 3 * report.gain("compute_light"))
        self.assertLess(report.gain("compute_heavy"),
                        max(report.measured["compute_heavy"] + 0.1, report.gain("read_for") / 3))

    def test_who_runs_alone_is_critical(self):
        """One thread computes for 1 s, and another one for 0.1 s at the same time."""
        report = self.record("alone")
        self.assertGreater(report.threads["rows"][0]["critical_s"], 5 * report.threads["rows"][1]["critical_s"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("offwait")
    parser.add_argument("profiles")
    parser.add_argument("--keep")
    parser.add_argument("tests", nargs="*")
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        print("needs root")
        sys.exit(SKIP)
    Profiles.offwait, Profiles.profiles, Profiles.keep = arguments.offwait, arguments.profiles, arguments.keep
    unittest.main(argv=[sys.argv[0], *[f"Profiles.{test}" for test in arguments.tests]])


if __name__ == "__main__":
    main()
