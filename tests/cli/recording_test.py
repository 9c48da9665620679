#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of known programs: how they end, and that every form of output says the same."""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

import harness
from harness import OFFWAIT, Running, TestCase, Workload, environment, run, sleeper


def ping_pong():
    """A running process with two threads that wait only for each other."""
    target = Workload("condvar", "--rounds", "100000000").go()
    target.tids = {}

    def named():
        for tid in os.listdir(f"/proc/{target.pid}/task"):
            target.tids[pathlib.Path(f"/proc/{target.pid}/task/{tid}/comm").read_text().strip()] = tid
        return {"ping", "pong"} <= set(target.tids)

    harness.until(named, "the workload's two threads")
    return target


class Ends(TestCase):
    def ended_by(self, number):
        with sleeper() as target, Running("-p", target.pid) as offwait:
            offwait.process.send_signal(number)
            result = offwait.finish()
            self.assertEqual(result.returncode, 0, result.stderr)
            self.is_report(result.stdout)
            self.assertIn(f"pid {target.pid} (", result.stdout.decode())
            self.assertIsNone(target.process.poll(), "the target goes on")

    def test_ctrl_c_reports_now(self):
        self.ended_by(signal.SIGINT)

    def test_sigterm_reports_now(self):
        self.ended_by(signal.SIGTERM)

    def test_ctrl_c_ends_a_dump_and_leaves_a_whole_file(self):
        with tempfile.NamedTemporaryFile() as file, sleeper() as target:
            with Running("dump", "-p", target.pid, "-o", file.name) as offwait:
                offwait.process.send_signal(signal.SIGINT)
                self.assertEqual(offwait.finish().returncode, 0)
            self.assertEqual(run("report", file.name).returncode, 0)

    def test_the_exit_of_the_target_reports(self):
        with Workload("nanosleep", "--rounds", "100", "--exit") as target, Running("-p", target.pid) as offwait:
            target.go()
            result = offwait.finish()
            self.assertEqual(result.returncode, 0, result.stderr)
            self.is_report(result.stdout)

    def test_the_death_of_the_target_reports(self):
        with sleeper() as target, Running("-p", target.pid, "--json", "-") as offwait:
            target.process.kill()
            result = offwait.finish()
            self.assertEqual(result.returncode, 0, result.stderr)
            self.valid_json(result.stdout)

    def test_the_exit_of_a_thread_reports_while_its_process_lives(self):
        with Workload("nanosleep", "--threads", "1", "--rounds", "500") as target:
            tasks = set(os.listdir(f"/proc/{target.pid}/task"))
            target.go()
            harness.until(lambda: set(os.listdir(f"/proc/{target.pid}/task")) != tasks, "the birth of a thread")
            (tid,) = set(os.listdir(f"/proc/{target.pid}/task")) - tasks
            result = run("-t", tid)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.is_report(result.stdout)
            self.assertIn(f"tid {tid} (", result.stdout.decode())
            target.wait_done()
            self.assertIsNone(target.process.poll())

    def test_a_cgroup_that_is_removed_reports(self):
        if harness.cgroup.mount() is None:
            self.skipTest("no cgroup v2 here")
        with harness.cgroup.Cgroup() as group, sleeper() as target:
            group.add(target.pid)
            with Running("-c", group.path, "--json", "-") as offwait:
                target.process.kill()
                target.process.wait()
                group.remove()
                result = offwait.finish()
            self.assertEqual(result.returncode, 0, result.stderr)
            report = self.valid_json(result.stdout)
            self.assertEqual(report["recording"]["target"], f"cgroup {group.name}")
            self.assertIn(target.pid, {actor.get("tid") for actor in report["actors"]})

    def test_a_cgroup_that_is_empty_at_first_is_waited_for(self):
        if harness.cgroup.mount() is None:
            self.skipTest("no cgroup v2 here")
        with harness.cgroup.Cgroup() as group, sleeper() as target, Running("-c", group.path, "--json", "-") as offwait:
            group.add(target.pid)
            time.sleep(0.5)
            target.process.kill()
            offwait.process.send_signal(signal.SIGINT)
            report = self.valid_json(offwait.finish().stdout)
            self.assertEqual([(actor["tid"], actor["outside"]) for actor in report["actors"]
                              if actor["kind"] == "thread" and not actor["outside"]], [(target.pid, False)])

    def test_the_duration(self):
        with sleeper() as target:
            report = self.valid_json(run("-p", target.pid, "-d", "700ms", "--json", "-").stdout)
            # The window is never shorter than asked for; a busy machine may make it longer.
            self.assertGreaterEqual(report["recording"]["window_s"], 0.7)

    def test_the_window_begins_at_a_multiple_of_wall_clock_time(self):
        with sleeper() as target, tempfile.TemporaryDirectory() as directory:
            file = os.path.join(directory, "dump.txt")
            result = run("dump", "-p", target.pid, "-d", "300ms", "--start-at", "/2s", "-o", file)
            self.assertEqual(result.returncode, 0, result.stderr)
            begin = harness.recording.Dump(file).begin + time.time_ns() - time.monotonic_ns()
            # Late by what a busy machine may take to run a thread; 2 ms earlier is the error of the sum.
            self.assertLess((begin + 2_000_000) % 2_000_000_000, 200_000_000)

    def test_ctrl_c_before_the_window_begins_ends_offwait_at_once(self):
        command = [OFFWAIT, "-p", str(os.getpid()), "--start-at", "/24h"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as offwait:
            self.assertEqual(offwait.stderr.readline(), b"offwait: the recording begins at 00:00:00 UTC\n")
            offwait.send_signal(signal.SIGINT)
            output, errors = offwait.communicate(timeout=harness.GUARD_S)
        self.assertEqual((offwait.returncode, output, errors), (-signal.SIGINT, b"", b""))


class Reports(TestCase):
    def test_json_of_a_recording_is_valid_and_true(self):
        with ping_pong() as target:
            result = run("-p", target.pid, "-d", "1", "--json", "-")
            self.assertEqual(result.returncode, 0, result.stderr)
            report = self.valid_json(result.stdout)
        self.assertIn(("ping", "pong"), harness.knots(report))
        recording = report["recording"]
        self.assertEqual(recording["target"], f"pid {target.pid} (workload)")
        self.assertRegex(recording["start_time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        self.assertEqual(recording["kernel"], os.uname().release)
        self.assertEqual(recording["cpus"], os.sysconf("SC_NPROCESSORS_ONLN"))
        self.assertEqual(f"offwait {recording['offwait']}\n".encode(), run("--version").stdout)
        for actor in report["actors"]:
            if actor["name"] in ("ping", "pong"):
                self.assertEqual(actor["tgid"], target.pid)
                self.assertFalse(actor["outside"])

    def test_text_and_json_together(self):
        with ping_pong() as target, tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "r.json"
            result = run("-p", target.pid, "-d", "500ms", "--json", file)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.is_report(result.stdout)
            self.valid_json(file.read_bytes())

    def test_stacks_name_functions_of_kernel_and_program(self):
        with Workload("pipe", "--rounds", "100000000").go() as target:
            report = self.valid_json(run("-p", target.pid, "-d", "1", "--json", "-").stdout)
            frames = {frame for edge in report["edges"] for stack in edge["stacks"] for frame in stack["wait_stack"]}
            self.assertTrue(any(re.match(r"\w*pipe_read\+0x[0-9a-f]+ \(\[kernel\]\)$", frame) for frame in frames),
                            frames)
            self.assertTrue(any(frame.endswith(" (workload)") for frame in frames), frames)
            self.assertIn("--", frames)
            bare = self.valid_json(run("-p", target.pid, "-d", "1", "--json", "-", "--no-stacks").stdout)
            self.assertEqual(len(harness.knots(bare)), len(harness.knots(report)))
            self.assertEqual([stack["wait_stack"] for edge in bare["edges"] for stack in edge["stacks"]
                              if stack["wait_stack"]], [])

    def test_several_processes(self):
        with Workload("nanosleep", "--exit") as first, Workload("condvar", "--exit") as second, sleeper() as other:
            pids = [first.pid, second.pid]
            with Running("-p", f"{first.pid},{second.pid}", "--json", "-", "--no-merge") as offwait:
                first.go().process.wait()
                self.assertIsNone(offwait.process.poll(), "the second goes on")
                second.go()
                report = self.valid_json(offwait.finish().stdout)
            self.assertEqual(report["recording"]["target"], f"pids {first.pid} (workload), {second.pid} (workload)")
            threads = [(actor["tgid"], actor["name"]) for actor in report["actors"]
                       if not actor["outside"] and "tgid" in actor]
            self.assertEqual({tgid for tgid, _ in threads}, set(pids))
            self.assertEqual(threads.count((first.pid, "sleeper")), 2)
            self.assertNotIn(other.pid, {actor.get("tgid") for actor in report["actors"]})

    def test_many_processes_are_named_in_short(self):
        with contextlib.ExitStack() as stack:
            pids = [stack.enter_context(sleeper()).pid for _ in range(5)]
            report = self.valid_json(run("-p", ",".join(map(str, pids)), "-d", "300ms", "--json", "-").stdout)
            self.assertEqual(report["recording"]["target"],
                             "pids " + ", ".join(f"{pid} (workload)" for pid in pids[:3]) + " and 2 more")

    def test_some_threads_of_a_process(self):
        with ping_pong() as target:
            report = self.valid_json(run("-p", target.pid, "-d", "500ms", "--json", "-", "--no-merge", "--comm",
                                         "work*", "--threads", "p?ng").stdout)
            own = {actor["name"]: actor["outside"] for actor in report["actors"] if actor.get("tgid") == target.pid}
            self.assertEqual((own["ping"], own["pong"]), (False, False))
            self.assertEqual(report["totals"]["threads"], 2)

    def test_a_pattern_that_matches_nobody_is_a_warning_and_costs_no_recording(self):
        warning = b"offwait: --comm: no process of the target is called 'x'; there are 'workload'"
        with ping_pong() as target:
            result = run("-p", target.pid, "-d", "300ms", "--json", "-", "--no-merge", "--comm", "x")
            self.assertEqual(result.returncode, 0, result.stderr)
            lines = result.stderr.splitlines()
            self.assertEqual(lines[0], warning + b"; recording in case one starts")
            self.assertEqual(lines[-1], warning + b"; the report shows the whole target")
            report = self.valid_json(result.stdout)
            self.assertLessEqual(set(target.tids.values()), {str(actor["tid"]) for actor in report["actors"]
                                                             if actor["kind"] == "thread" and not actor["outside"]})
            self.assertEqual(run("-p", target.pid, "-d", "300ms", "-q", "--comm", "x").stderr, b"")

    def test_what_nobody_can_be_asked_about_is_noted_and_costs_no_recording(self):
        warning = b"offwait: --progress: no thread is called 'x'; there are "
        with ping_pong() as target:
            result = run("-p", target.pid, "-d", "300ms", "--json", "-", "--progress", "x", "--progress", "ping", "--what-if",
                         "disk nosuch /2", "--what-if", "comm:pong cpu /2")
            self.assertEqual(result.returncode, 0, result.stderr)
            lines = result.stderr.splitlines()
            self.assertTrue(lines[0].startswith(warning), lines)
            self.assertTrue(lines[0].endswith(b"; recording in case one starts"), lines)
            self.assertTrue(lines[-2].startswith(warning), lines)
            self.assertTrue(lines[-2].endswith(b"; the report goes without it"), lines)
            self.assertTrue(lines[-1].startswith(b"offwait: --what-if 'disk nosuch /2': no recorded disk is called 'nosuch'; "),
                            lines)
            report = self.valid_json(result.stdout)
            self.assertEqual([(one["how"], one["name"]) for one in report["progress"]], [("told", "ping")])
            self.assertEqual([one["asked"] for one in report["what_if"]], ["comm:pong cpu /2"])

    def test_devices_that_do_not_exist_are_told_before_the_recording(self):
        with sleeper() as target:
            begin = time.monotonic()
            for option, said in (("--disk-capacity=sdzz=1G,1k", "disk"), ("--nic-capacity=none9=1G", "interface")):
                name = option.split("=")
                self.fails(2, re.compile(rf"^offwait: {name[0]} {name[1]}: this host has no {said} of this name; there "),
                           "-p", target.pid, "-d", "60", option)
            self.assertLess(time.monotonic() - begin, 30)

    def test_one_thread_alone(self):
        with ping_pong() as target:
            report = self.valid_json(run("-t", target.tids["ping"], "-d", "500ms", "--json", "-", "--no-merge").stdout)
            self.assertEqual(report["recording"]["target"], f"tid {target.tids['ping']} (ping)")
            self.assertEqual({actor["name"]: actor["outside"] for actor in report["actors"]
                              if actor.get("tgid") == target.pid}, {"ping": False, "pong": True})

    def test_a_dump_and_its_report_say_what_a_report_says(self):
        with ping_pong() as target, tempfile.NamedTemporaryFile() as file:
            result = run("dump", "-p", target.pid, "-d", "1", "-o", file.name)
            self.assertEqual((result.stdout, result.returncode), (b"", 0), result.stderr)
            text = file.read()
            self.assertTrue(text.startswith(b"offwait-waits 1\nwindow "))
            report = self.valid_json(run("report", file.name, "--json", "-").stdout)
            self.assertIn(("ping", "pong"), harness.knots(report))
            self.assertEqual(report["recording"]["target"], f"pid {target.pid} (workload)")
            self.assertEqual(report["recording"]["kernel"], os.uname().release)
            self.is_report(run("report", file.name).stdout)

    def test_a_dump_through_a_pipe(self):
        with ping_pong() as target:
            dump = subprocess.Popen([OFFWAIT, "dump", "-p", str(target.pid), "-d", "500ms"], stdin=subprocess.DEVNULL,
                                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment())
            try:
                result = run("report", "-", "--json", "-", stdin=dump.stdout)
            finally:
                harness.stop(dump)
            self.assertEqual((result.stderr, result.returncode), (b"", 0))
            self.assertIn(("ping", "pong"), harness.knots(self.valid_json(result.stdout)))

    def test_recordings_do_not_disturb_each_other(self):
        with ping_pong() as target, Running("-p", target.pid, "-d", "2", "--json", "-") as first:
            second = self.valid_json(run("-p", target.pid, "-d", "500ms", "--json", "-").stdout)
            self.assertIn(("ping", "pong"), harness.knots(second))
            self.assertIn(("ping", "pong"), harness.knots(self.valid_json(first.finish().stdout)))

    def test_quiet_says_nothing_but_the_report(self):
        with ping_pong() as target:
            result = run("-p", target.pid, "-d", "300ms", "-q")
            self.assertEqual((result.stderr, result.returncode), (b"", 0))


class HostileNames(TestCase):
    # The names of the threads of `workload spawn_names`, as offwait shows them.
    NAMES = {
        r"\x1b[31mred", r"\x1b]0;own\x07", r"a\x0ab", r"a\x0d\x09b", r"\xff\xfe\x80", r"cut\xe2\x82", r"\xc0\xaf",
        r"\xed\xa0\x80", r"\u{009b}31m", r"\u{202e}evil", "\"'`\\", "$(id)", "<b>&amp;", "exactly15bytes!", "äöü€",
        "a b", "x=y;#z", "%s%n", r"\x7f\x01", "", "renamed",
    }

    @classmethod
    def setUpClass(cls):
        cls.file = tempfile.NamedTemporaryFile()
        with Workload("spawn_names", "--exit") as target, \
                Running("dump", "-p", target.pid, "-o", cls.file.name) as offwait:
            cls.pid = target.pid
            target.go()
            result = offwait.finish()
            if result.returncode != 0:
                raise AssertionError(result.stderr)

    @classmethod
    def tearDownClass(cls):
        cls.file.close()

    def test_text_is_harmless(self):
        for options in ([], ["-v", "--explain"], ["--no-merge", "-v"]):
            result = run("report", self.file.name, *options)
            self.assertEqual((result.stderr, result.returncode), (b"", 0))
            self.harmless(result.stdout)
            self.assertNotIn("\u202e", result.stdout.decode())

    def test_json_has_every_name_escaped(self):
        report = self.valid_json(run("report", self.file.name, "--json", "-", "--no-merge").stdout)
        names = {actor["name"] for actor in report["actors"] if actor.get("tgid") == self.pid}
        self.assertEqual(names - {"workload"}, self.NAMES)

    def test_a_dump_is_printable_ascii(self):
        text = pathlib.Path(self.file.name).read_bytes()
        self.assertTrue(text.isascii())
        self.harmless(text)

    def test_a_target_with_a_hostile_name(self):
        with harness.hostile_target() as target:
            result = run("-p", target.pid, "-d", "300ms")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.harmless(result.stdout)
            self.harmless(result.stderr)
            self.assertIn(rf"pid {target.pid} ({harness.HOSTILE_SHOWN})", result.stdout.decode())


if __name__ == "__main__":
    harness.main(needs_root=True)
