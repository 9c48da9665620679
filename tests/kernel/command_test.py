# SPDX-License-Identifier: GPL-2.0-or-later
"""`offwait -- COMMAND` records all waits of a program from its exec on.

    command_test.py OFFWAIT WORKLOAD"""
import json
import subprocess
import sys
import tempfile

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


if __name__ == "__main__":
    sys.exit(runner.run(sys.argv[3:]))
