#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""run.sh: which options it refuses, which steps it has, and what it prints about their results."""

import contextlib
import io
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import run

RUN_SH = Path(run.__file__).with_name("run.sh")
RESULTS = """<?xml version="1.0"?>
<testsuite tests="5">
  <testcase name="unit_base" time="0.25" status="run"><system-out>All tests passed</system-out></testcase>
  <testcase name="kernel_disk" time="12.5" status="run"><system-out>OK (skipped=2)</system-out></testcase>
  <testcase name="kernel_spin" time="3" status="fail"><failure message=""/><system-out>no</system-out></testcase>
  <testcase name="kernel_matrix" time="0" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/>
    <system-out>skipped: qemu-system-x86_64 missing
</system-out></testcase>
  <testcase name="cli_gone" time="0" status="notrun"><skipped message="Unable to find executable"/></testcase>
</testsuite>
"""


def results(status, text=RESULTS):
    """The outcome of a step that ends with this status and writes these results."""
    with tempfile.TemporaryDirectory() as directory:
        source, file = Path(directory, "source.xml"), Path(directory, "tests.xml")
        source.write_text(text, encoding="utf-8")
        return run.run(run.Step("release: kernel", 1, [["sh", "-c", f"cp {source} {file}; exit {status}"]], file))


class CommandLineTest(unittest.TestCase):
    def call(self, *arguments):
        done = subprocess.run([RUN_SH, *arguments], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    def test_an_unknown_option_is_named_and_the_usage_follows(self):
        status, output, errors = self.call("--all", "--fast")
        self.assertEqual((status, output), (2, ""))
        self.assertTrue(errors.startswith("tests/run.sh: unknown option: --fast\nusage: "), errors)

    def test_help(self):
        status, output, errors = self.call("--help")
        self.assertEqual((status, errors), (0, ""))
        self.assertTrue(output.startswith("usage: sudo tests/run.sh [--all]\n"), output)

    def test_without_an_option_five_steps_are_announced_with_a_quarter_of_an_hour_at_most(self):
        status, output, _ = self.call("--steps")
        self.assertEqual(status, 0)
        count, minutes = re.match(r"(\d+) steps, about (\d+) minutes", output).groups()
        self.assertEqual(count, "5")
        self.assertLessEqual(int(minutes), 15)

    def test_the_whole_run_is_announced_with_65_minutes_at_most(self):
        _, output, _ = self.call("--all", "--steps")
        self.assertLessEqual(int(re.search(r"about (\d+) minutes", output).group(1)), 65)


class StepsTest(unittest.TestCase):
    def test_each_test_is_in_one_group_of_the_whole_run(self):
        names = ["unit_base", "report_golden", "rooms", "cli_report", "fuzz_trace_replay", "kernel_truth", "kernel_matrix_sid",
                 "kernel_outside", "html_bundle", "planted", "profiles", "packaging_deb", "bpf_compiles_for_arm64"]
        groups = [group for group in run.GROUPS if group != "core"]
        for name in names:
            taken = [group for group in groups if re.search(run.GROUPS[group][0], name)
                     and not (run.GROUPS[group][1] and re.search(run.GROUPS[group][1], name))]
            self.assertEqual(len(taken), 1, (name, taken))

    def test_every_group_of_the_release_build_and_the_sanitized_one_is_run(self):
        names = {step.name for step in run.steps(everything=True)}
        for group in ("unit", "cli", "html", "truth", "kernel", "alone", "packaging", "matrix"):
            self.assertIn(f"release: {group}", names)
        for group in ("unit", "cli", "fuzz", "kernel", "alone"):
            self.assertIn(f"dev: {group}", names)

    def test_what_limits_a_program_is_asked_where_nothing_else_runs(self):
        plan = run.steps(everything=True)
        self.assertEqual({step.lane for step in plan if re.search(r"install packages|: alone", step.name)}, {None})
        tests = RUN_SH.parent / "kernel"
        for name in re.search(r"\((.*)\)", run.ALONE).group(1).split("|"):
            self.assertTrue((tests / f"{name}_test.py").exists(), name)

    def test_a_step_needs_one_before_it(self):
        for everything in (False, True):
            plan = run.steps(everything)
            for number, step in enumerate(plan):
                for name in step.needs:
                    self.assertIn(name, [before.name for before in plan[:number]])


class OutcomeTest(unittest.TestCase):
    def test_results_are_read(self):
        outcome = results(8)
        self.assertEqual(outcome.status, "failed")
        self.assertEqual(outcome.passed, [("unit_base", 0.25), ("kernel_disk", 12.5)])
        self.assertEqual(outcome.failed, ["kernel_spin", "cli_gone"])
        self.assertEqual(outcome.skipped, [("kernel_matrix", "qemu-system-x86_64 missing")])
        self.assertEqual(outcome.partly, [("kernel_disk", 2)])

    def test_a_step_without_results_fails_itself(self):
        outcome = run.run(run.Step("release: build", 1, [["false"], ["touch", "/nonexistent/no"]]))
        self.assertEqual((outcome.status, outcome.failed), ("failed", ["release: build"]))

    def test_a_step_that_fails_though_no_test_does_fails_itself(self):
        passed = '<testsuite><testcase name="a" time="1" status="run"/></testsuite>'
        self.assertEqual(results(1, passed).failed, ["release: kernel"])

    def test_results_of_an_earlier_run_do_not_count(self):
        with tempfile.TemporaryDirectory() as directory:
            file = Path(directory, "tests.xml")
            file.write_text(RESULTS, encoding="utf-8")
            outcome = run.run(run.Step("release: unit", 1, [["false"]], file))
        self.assertEqual((outcome.passed, outcome.failed), ([], ["release: unit"]))

    def test_a_step_that_the_machine_cannot_run_is_skipped(self):
        outcome = run.run(run.Step("arm64: build", 1, [["sh", "-c", "exit 77"]]))
        self.assertEqual((outcome.failed, outcome.skipped), ([], [("arm64: build", "this machine cannot run it")]))


def step(name, command, lane=None, needs=()):
    return run.Step(name, 1, [["sh", "-c", command]], None, needs, lane)


def ran(*plan):
    """(the run of these steps, what it printed)."""
    output, made = io.StringIO(), run.Run(plan)
    with contextlib.redirect_stdout(output):
        made.all()
    return made, output.getvalue()


class LanesTest(unittest.TestCase):
    def test_steps_of_two_lanes_run_side_by_side(self):
        with tempfile.TemporaryDirectory() as place:
            # Each waits until the other has begun.
            meet = f"touch {place}/%s; until [ -e {place}/%s ]; do sleep 0.01; done; echo met"
            made, output = ran(step("first", meet % ("a", "b"), "computes"), step("second", meet % ("b", "a"), "waits"))
        self.assertEqual([outcome.status for outcome in made.outcomes.values()], ["ok", "ok"])
        self.assertIn("first | met\n", output)
        self.assertIn("second | met\n", output)

    def test_nothing_runs_beside_a_step_without_a_lane(self):
        with tempfile.TemporaryDirectory() as place:
            busy = f"touch {place}/busy; sleep 0.2; rm {place}/busy"
            made, _ = ran(step("before", busy, "computes"), step("alone", f"! ls {place}/busy 2>&-"), step("after", busy, "waits"))
        self.assertEqual([outcome.status for outcome in made.outcomes.values()], ["ok", "ok", "ok"])

    def test_a_step_waits_for_what_it_needs_of_the_other_lane(self):
        with tempfile.TemporaryDirectory() as place:
            made, _ = ran(step("build", f"sleep 0.2; touch {place}/built", "computes"),
                          step("tests", f"ls {place}/built", "waits", ("build",)))
        self.assertEqual(made.outcomes["tests"].status, "ok")

    def test_a_step_is_not_run_without_what_it_needs_and_those_after_it_are(self):
        made, _ = ran(step("build", "exit 1", "computes"), step("tests", "true", "waits", ("build",)), step("others", "true", "waits"))
        self.assertEqual([outcome.status for outcome in made.outcomes.values()], ["failed", "not run", "ok"])

    def test_of_lanes_the_longest_counts(self):
        plan = [step("one", "", "computes"), step("two", "", "computes"), step("three", "", "waits"), step("four", "")]
        self.assertEqual(run.minutes(plan), 3)


class TableTest(unittest.TestCase):
    def test_it_names_all_that_did_not_pass_and_ends_with_the_totals(self):
        outcomes = {"release: build": run.Outcome(61, "ok"), "release: kernel": results(8), "dev: build": run.Outcome(),
                    "arm64: build": run.Outcome(1, "skipped", skipped=[("arm64: build", "this machine cannot run it")])}
        lines, totals = run.table(outcomes, 3600)
        text = "\n".join(lines)
        self.assertEqual(totals, "2 passed, 2 failed, 2 skipped")
        self.assertRegex(text, r"(?m)^release: build +ok +1:01$")
        self.assertRegex(text, r"(?m)^all +2 +2 +2 +60:00$")
        self.assertIn("Failed\n  release: kernel_spin\n  release: cli_gone\n", text)
        self.assertIn("Not run\n  dev: build\n", text)
        self.assertIn("Skipped\n  release: kernel_matrix: qemu-system-x86_64 missing\n"
                      "  arm64: build: this machine cannot run it\n", text)
        self.assertIn("Skipped in part\n  release: kernel_disk: 2 of its cases\n", text)


class BuildTimeTest(unittest.TestCase):
    def test_steps_are_summed_up_by_room_and_each_counts_once(self):
        log = ("# ninja log v5\n0\t900\t1\tsrc/CMakeFiles/offwait_report.dir/report/text.cpp.o\ta\n"
               "1000\t3000\t1\tsrc/CMakeFiles/offwait_report.dir/report/text.cpp.o\ta\n"
               "0\t500\t1\tbpf/offwait.bpf.linked.o\tb\n0\t500\t1\tbpf/offwait.skel.h\tb\n"
               "0\t250\t1\ttests/CMakeFiles/unit_event.dir/unit/event/a_test.cpp.o\tc\n0\t1250\t1\toffwait\td\n")
        with tempfile.TemporaryDirectory() as build:
            Path(build, ".ninja_log").write_text(log, encoding="utf-8")
            output = subprocess.run([sys.executable, RUN_SH.with_name("bench") / "build_time.py", build], check=True,
                                    capture_output=True, text=True).stdout
        self.assertEqual(output.splitlines()[:5], [
            "     4.0 s  all steps", "     2.0 s   50%  src/report", "     1.2 s   31%  linking and the rest",
            "     0.5 s   12%  bpf", "     0.2 s    6%  tests/unit/event"])


if __name__ == "__main__":
    unittest.main()
