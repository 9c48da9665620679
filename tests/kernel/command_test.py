# SPDX-License-Identifier: GPL-2.0-or-later
"""`offwait -- COMMAND` records all waits of a program from its exec on.

    command_test.py OFFWAIT WORKLOAD"""
import json
import subprocess
import sys
import tempfile
import unittest

import recording
import runner
from truth import TruthCase

OFFWAIT, WORKLOAD = sys.argv[1], sys.argv[2]


def record(*arguments, wrapper=()):
    """Records a workload that starts by itself, from its exec to its exit."""
    with tempfile.NamedTemporaryFile(suffix=".txt") as file:
        offwait = subprocess.Popen([OFFWAIT, "dump", "-o", file.name, "--", *wrapper, WORKLOAD, *arguments], text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        said, errors = offwait.communicate()
        assert (offwait.returncode, errors) == (0, ""), (offwait.returncode, errors)
        truths = [json.loads(line) for line in said.splitlines()]
        return recording.Run(recording.Dump(file.name), [t for t in truths if "truth" in t], offwait.pid)


class CommandTest(TruthCase):
    def check_since_exec(self, run):
        """Checks that each wait that the kernel has counted since the fork is recorded, but for the one that offwait itself
        ends when it lets the command go."""
        [since_fork] = [t for t in run.truths if t["truth"] == "since_fork"]
        [thread] = [t for t in run.dump.threads if t.tid == since_fork["tid"]]
        self.assertEqual(thread.comm, "at_once")
        waits = [w for w in run.dump.waits if w.tid == thread.tid]
        self.assertGreaterEqual(len(waits), since_fork["nvcsw"] - 1 - run.dump.loss["switch_unseen"])
        # The program may wait once more while it exits.
        self.assertLessEqual(len(waits), since_fork["nvcsw"] - 1 + 2)
        # None of the waits began before the window: the wait for offwait's go is not recorded.
        self.assertGreater(min(w.block for w in waits), run.dump.begin)
        # offwait reads the program's mappings, and the program may wait for that in mmap() (mmap_lock).
        self.assertNotIn(f"thread:{run.pid}", {w.waker for w in waits if w.cls not in ("lock", "fault")})

    def test_the_first_millisecond(self):
        run = record("at_once", "--exit")
        self.check(run)
        self.check_since_exec(run)

    def test_a_single_wait(self):
        for _ in range(10):
            run = record("at_once", "--rounds", "1", "--sleep-us", "200", "--exit")
            self.check(run, durations=False, states=False)
            self.check_since_exec(run)

    def test_a_program_behind_others(self):
        # The first shell executes the program, the second one forks it.
        for script in ('exec "$@"', '"$@"; exit $?'):
            run = record("at_once", "--exit", wrapper=["sh", "-c", script, "sh"])
            self.check(run)

    def test_stack_of_a_first_wait_that_lasts(self):
        """The wait begins before offwait knows the libraries on its stack."""
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            subprocess.run([OFFWAIT, "-q", "--json", file.name, "--", "sleep", "0.5"], check=True, stderr=subprocess.DEVNULL)
            report = json.load(file)
        [stack] = [stack["wait_stack"] for edge in report["edges"] for stack in edge["stacks"] if stack["class"] == "sleep"]
        user = stack[stack.index("--") + 1:]
        self.assertTrue(user[0].startswith("clock_nanosleep"), user)
        self.assertRegex(" ".join(user[1:]), r"__libc_start_main\S* .*\[sleep\+\S+$")

    def test_what_the_command_executes(self):
        run = record("exec_middle", "--exit")
        self.check(run)
        self.assertIn("after_exec", {t.comm for t in run.dump.threads})

    def test_processes_of_the_command(self):
        run = record("fork_churn", "--processes", "--count", "200", "--exit")
        self.check(run, durations=False)
        self.assertEqual(len([t for t in run.truths if t["truth"] == "join"]), 200)


COMPUTES = "BEGIN { for (i = 0; i < %d; i++) x += i }"


def recorded(*command):
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        subprocess.run([OFFWAIT, "-q", "--json", file.name, "--", *command], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        return json.load(file)


class EndTest(unittest.TestCase):
    """The end of a command is what counts, and what it waited for is named: not the shell that waits for its children."""
    def check(self, script, what, name, slept=0):
        """The first answer saves half of what `name` ran, or half of `slept` seconds, of the whole time."""
        report = recorded("sh", "-c", script)
        [progress] = report["progress"]
        self.assertEqual((progress["how"], progress["name"]), ("end", "sh"))
        names = {actor["id"]: actor["name"] for actor in report["actors"]}
        first, *others = report["answers"]
        self.assertEqual((first["what"], names[first["actor"]]), (what, name))
        took = slept or sum(actor["running_s"] for actor in report["actors"] if actor["name"] == name)
        end = progress["end_s"]
        self.assertAlmostEqual(first["gain"], end / (end - took / 2) - 1, delta=0.1)
        self.assertNotIn("sh", [names.get(answer["actor"]) for answer in others if answer["gain"] > 0.15])

    def test_steps_one_of_which_computes(self):
        script = f"sleep 0.1; awk '{COMPUTES}'; sleep 0.1"
        self.check(script % 30_000_000, "cpu", "awk")

    def test_steps_one_of_which_sleeps(self):
        script = f"awk '{COMPUTES % 1_000_000}'; sleep %s; true"
        self.check(script % 0.8, "sleep", "sleep", slept=0.8)

    def test_a_pipeline(self):
        script = f"head -c 200000000 /dev/zero | (awk '{COMPUTES}'; cat) >/dev/null"
        self.check(script % 30_000_000, "cpu", "awk")

    def test_children_of_children(self):
        script = f"sh -c \"sh -c \\\"awk '{COMPUTES}'\\\"; sleep 0.2\" & sleep 0.1; wait"
        self.check(script % 30_000_000, "cpu", "awk")


if __name__ == "__main__":
    sys.exit(runner.run(sys.argv[3:]))
