# SPDX-License-Identifier: GPL-2.0-or-later
"""What offwait says of small programs with a known bottleneck.

    answers_test.py OFFWAIT ANSWER_CASES

What their fixes gain is known from their own numbers: a lock that is held for 1.5 of 1.7 ms, and so on."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import runner

OFFWAIT, CASES = sys.argv[1:3]
SECONDS = 2
CGROUPS = pathlib.Path("/sys/fs/cgroup/unified")


@contextlib.contextmanager
def running(case):
    """The process that runs it."""
    process = subprocess.Popen([CASES, case])
    try:
        time.sleep(0.3)
        yield process
    finally:
        process.kill()
        process.wait()


class Report:
    def __init__(self, process, *options):
        with tempfile.TemporaryDirectory() as scratch:
            path = pathlib.Path(scratch) / "report.json"
            run = subprocess.run([OFFWAIT, "-p", str(process.pid), "-d", f"{SECONDS}s", "-q", "--json", path, *options],
                                 capture_output=True, text=True, timeout=60)
            assert run.returncode == 0, run.stderr
            self.text = run.stdout
            self.report = json.loads(path.read_text())

    @property
    def answers(self):
        return self.report["answers"]

    def threads_of(self, answer):
        return len(self.report["actors"][answer["actor"]].get("tids", [0]))

    def what_if(self, asked):
        return next(found for found in self.report["what_if"] if found["asked"] == asked)


class AnswersTest(unittest.TestCase):
    def check_lock(self, report, name, threads):
        first, second = report.answers[:2]
        self.assertEqual(first["what"], "lock", report.text)
        self.assertIn(name, first["lock"]["name"])
        # Split it gains nearly as many times as threads take it; held half as long a little less than twice.
        self.assertGreater(first["gain"], 0.6 * (threads - 1), report.text)
        self.assertLess(first["gain"], threads, report.text)
        self.assertAlmostEqual(first["lock"]["held_gain"], 0.95, delta=0.25, msg=report.text)
        self.assertGreater(first["lock"]["meanwhile"]["slept"], 0.8)
        self.assertEqual(first["lock"]["waiters"][0]["threads"], threads)
        self.assertEqual(second["what"], "sleep")
        self.assertEqual({answer["progress"] for answer in report.answers}, {0}, report.text)

    def test_a_lock_that_is_held_across_a_sleep(self):
        with running("lock") as process:
            report = Report(process, "--what-if", "lock registry_lock free", "--what-if", "lock registry_lock /4")
        self.check_lock(report, "registry_lock", 10)
        free = report.what_if("lock registry_lock free")
        self.assertEqual(free["gain"], report.answers[0]["gain"])
        self.assertEqual(free["certainty"], "up-to")
        # 0.375 instead of 1.5 ms
        self.assertAlmostEqual(report.what_if("lock registry_lock /4")["gain"], 3, delta=0.9)

    def test_names_do_not_hide_a_lock(self):
        with running("names") as process:
            report = Report(process)
        self.check_lock(report, "registry_lock", 8)
        self.assertIn(" etc.×8", report.text)

    def test_a_monitor_that_parks_each_thread_on_its_own(self):
        with running("monitor") as process:
            report = Report(process)
        self.check_lock(report, "use_monitor", 8)

    def test_more_threads_for_a_pool_of_one(self):
        with running("helper") as process:
            report = Report(process, "--what-if", "comm:helper threads *4")
        first = report.answers[0]
        self.assertEqual(first["what"], "sleep", report.text)
        self.assertAlmostEqual(first["gain"], 0.95, delta=0.25)
        self.assertAlmostEqual(first["more_threads"]["threads"], 1, delta=0.01)
        self.assertAlmostEqual(first["more_threads"]["waiting"], 8, delta=0.5)
        self.assertAlmostEqual(report.what_if("comm:helper threads *4")["gain"], 3, delta=0.7)
        self.assertIn("8 threads instead of 1: up to", report.text)

    def test_what_cpus_have_no_room_for_is_not_promised(self):
        with running("room") as process:
            report = Report(process)
        first = report.answers[0]
        self.assertEqual(first["what"], "sleep", report.text)
        # Eight threads that need a CPU for a seventh of their time: at most as many as the CPUs can hold.
        busy = report.report["totals"]["running_s"] / SECONDS
        self.assertLessEqual(first["gain"], os.cpu_count() / busy - 1 + 0.1, report.text)

    def test_threads_that_are_made_for_each_piece_of_work_go_at_its_pace(self):
        with running("chain") as process:
            report = Report(process)
        first = report.answers[0]
        self.assertEqual(first["what"], "cpu", report.text)
        self.assertEqual({answer["progress"] for answer in report.answers}, {0}, report.text)
        self.assertEqual(report.report["actors"][first["actor"]]["tid"], process.pid, report.text)

    def test_a_stopped_target_is_said_to_be_stopped(self):
        with running("lock") as process:
            process.send_signal(signal.SIGSTOP)
            report = Report(process)
        self.assertEqual(report.report["verdict"]["kind"], "stopped")
        self.assertIn("Stopped: its threads did not run for 100% of their time, because a signal", report.text)

    @unittest.skipUnless((CGROUPS / "cgroup.procs").exists(), "no cgroup v2")
    def test_a_frozen_target_is_said_to_be_frozen(self):
        group = CGROUPS / f"offwait-test-{os.getpid()}"
        group.mkdir()
        try:
            with running("lock") as process:
                (group / "cgroup.procs").write_text(str(process.pid))
                (group / "cgroup.freeze").write_text("1")
                report = Report(process)
                (group / "cgroup.freeze").write_text("0")
        finally:
            time.sleep(0.2)
            group.rmdir()
        self.assertIn("Frozen: its threads did not run", report.text)
        self.assertAlmostEqual(report.report["totals"]["frozen_s"], 11 * SECONDS, delta=2)


if __name__ == "__main__":
    sys.exit(runner.run(sys.argv[3:]))
