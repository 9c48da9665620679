# SPDX-License-Identifier: GPL-2.0-or-later
"""Recording with four capabilities and nothing else, and when offwait gives capabilities up.

    privileges_test.py OFFWAIT WORKLOAD NAMED_FRAMES STRIPPED DEBUG"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import recording
import runner

OFFWAIT, WORKLOAD, *NAMED = sys.argv[1:6]
HERE = pathlib.Path(__file__).resolve().parent
BITS = {"dac_read_search": 2, "sys_ptrace": 19, "sys_nice": 23, "syslog": 34, "perfmon": 38, "bpf": 39,
        "checkpoint_restore": 40}
GUARD_S = 120
FOUR = ["bpf", "perfmon", "sys_ptrace", "dac_read_search"]
NOBODY = "setpriv --reuid=65534 --regid=65534 --clear-groups"
# -o is opened by root: what is recorded here goes into directories that nobody may write to.
AS_NOBODY = """#!/bin/bash
arguments=() output=/dev/stdout
while [ $# -gt 0 ]; do
  case $1 in
  -o) output=$2 && shift 2 ;;
  *) arguments+=("$1") && shift ;;
  esac
done
exec {command} "${{arguments[@]}}" >"$output"
"""


def capabilities(pid, which="CapEff"):
    """The capabilities of a process: the names of those in BITS, and the numbers of others."""
    bits = int(status(pid, which), 16)
    names = {number: name for name, number in BITS.items()}
    return {names.get(bit, bit) for bit in range(64) if bits >> bit & 1}


def status(pid, field):
    return re.search(rf"^{field}:\s*(.*)$", pathlib.Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)[1]


def until(condition):
    end = time.monotonic() + GUARD_S
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("what was waited for did not happen")
        time.sleep(0.01)


USED = set(BITS) & capabilities(os.getpid())


class PrivilegesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.directory.chmod(0o755)
        plain, capable = (shutil.copy(OFFWAIT, cls.directory / name) for name in ("plain", "capable"))
        subprocess.run(["setcap", ",".join(f"cap_{one}" for one in FOUR) + "=ep", capable], check=True)
        given = ",".join(f"+{one}" for one in FOUR)
        cls.ambient = cls.script("ambient", f"{NOBODY} --inh-caps=-all,{given} --ambient-caps={given} {plain}")
        cls.capable = cls.script("by_file", f"{NOBODY} --inh-caps=-all {capable}")

    @classmethod
    def script(cls, name, command):
        script = cls.directory / name
        script.write_text(AS_NOBODY.format(command=command), encoding="ascii")
        script.chmod(0o755)
        return script

    def holds_for(self, offwait, test, arguments, names):
        """Runs tests of another file with this executable."""
        done = subprocess.run([sys.executable, HERE / test, offwait, *arguments, *names], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr[-4000:])

    def test_waits_and_wakers(self):
        names = ["condvar", "mutex", "fsync", "loopback", "exec_in_the_middle", "blocked_throughout", "child_wait"]
        self.holds_for(self.ambient, "truth_test.py", [WORKLOAD], [f"TruthTest.test_{name}" for name in names])
        self.holds_for(self.capable, "truth_test.py", [WORKLOAD], ["TruthTest.test_condvar"])

    def test_names_of_frames(self):
        self.holds_for(self.ambient, "names_test.py", NAMED, [])
        self.holds_for(self.capable, "names_test.py", NAMED, ["NamesTest.test_debug_file_that_only_the_target_sees"])

    def test_the_report_is_the_same(self):
        """The program can be read by root alone."""
        private = self.enterContext(tempfile.TemporaryDirectory())
        workload = shutil.copy(WORKLOAD, private)
        os.chmod(workload, 0o700)
        target = recording.Workload(workload, ["condvar", "--rounds", "100000000"])
        target.begin()
        reports = []
        try:
            for offwait in (OFFWAIT, self.ambient, self.capable):
                done = subprocess.run([offwait, "-p", str(target.pid), "-d", "1", "--json", "-"], capture_output=True,
                                      check=True)
                reports.append(json.loads(done.stdout))
        finally:
            target.process.kill()
            target.end()
        facts = []
        for report in reports:
            name = {actor["id"]: actor["name"] for actor in report["actors"]}
            edges = [edge for edge in report["edges"] if {name[edge["from"]], name[edge["to"]]} == {"ping", "pong"}]
            facts.append(sorted((name[edge["from"]], name[edge["to"]], stack, list(edge["classes"]),
                                 [frame for frame in edge["stacks"][0][stack] if "(workload)" in frame])
                                for edge in edges for stack in ("wait_stack", "waker_stack")))
            kernel = {frame for edge in edges for stack in edge["stacks"] for frame in stack["wait_stack"]
                      if frame.endswith("([kernel])") or frame.startswith("[kernel+")}
            self.assertTrue(all(re.match(r"\w.*\+0x[0-9a-f]+ \(\[kernel\]\)$", frame) for frame in kernel), kernel)
            self.assertTrue(any(frame.startswith("schedule+0x") for frame in kernel), kernel)
        self.assertEqual(len(facts[0]), 4)
        self.assertTrue(all(frames for *_, frames in facts[0]), facts[0])
        self.assertEqual(facts[1], facts[0])
        self.assertEqual(facts[2], facts[0])

    def test_busy_waiting(self):
        """Kernels since 2025 allow probes only with CAP_SYS_ADMIN. A probe that the user asked for then fails; probes that the
        program declares are left out, with a note."""
        target = recording.Workload(WORKLOAD, ["spin"])
        self.addCleanup(target.end)
        self.addCleanup(target.process.kill)
        arguments = [self.ambient, "-p", str(target.pid), "-d", "100ms"]
        asked = subprocess.run([*arguments, "--spin", "main"], capture_output=True, text=True, check=False)
        declared = subprocess.run(arguments, capture_output=True, text=True, check=False)
        if asked.returncode == 0:
            self.skipTest("this kernel lets CAP_PERFMON probe")
        sentence = rf"this kernel lets only CAP_SYS_ADMIN probe \S+{os.path.basename(WORKLOAD)}: run offwait as root for that"
        self.assertRegex(asked.stderr, f"^offwait: {sentence}\n$")
        self.assertRegex(declared.stderr,
                         rf"\noffwait: annotations of the target \(annotate.h\) were not recorded: {sentence}\n")
        self.assertIn("BLOCKED THROUGHOUT", declared.stdout)

    def test_java(self):
        """jcmd has to become the JVM's user. root may do so as long as jcmd may be needed; nobody may not."""
        if lacks := runner.missing_tools(["java", "jcmd"]):
            self.skipTest(f"{', '.join(lacks)} missing")
        source = self.directory / "Sleeper.java"
        source.write_text("class Sleeper { public static void main(String[] a) throws Exception {"
                          " System.out.println(); while (true) Thread.sleep(5); } }", encoding="ascii")
        # This user id has no name.
        jvm = subprocess.Popen(["setpriv", "--reuid=64321", "--regid=64321", "--clear-groups", "java", source],
                               stdout=subprocess.PIPE)
        self.addCleanup(jvm.stdout.close)
        self.addCleanup(jvm.wait)
        self.addCleanup(jvm.kill)
        jvm.stdout.readline()
        perf_map = pathlib.Path(f"/tmp/perf-{jvm.pid}.map")
        self.addCleanup(perf_map.unlink, missing_ok=True)
        arguments = ["-p", str(jvm.pid), "-d", "100ms", "--java"]
        done = subprocess.run([self.ambient, *arguments], capture_output=True, text=True, check=True)
        self.assertIn(f"\noffwait: --java: jcmd has to be run by user 64321, as process {jvm.pid} is: run offwait as that user "
                      "or as root\n", done.stderr)
        self.assertFalse(perf_map.exists())
        done = subprocess.run([OFFWAIT, *arguments], capture_output=True, text=True, check=True)
        self.assertNotIn("--java", done.stderr)
        self.assertEqual(perf_map.stat().st_uid, 64321)

    def recorder(self, offwait, arguments=(), **more):
        """Starts a recording of a process that sleeps; returns when it has begun."""
        target = subprocess.Popen(["sleep", "1000"])
        self.addCleanup(target.wait)
        self.addCleanup(target.kill)
        offwait = subprocess.Popen([offwait, "-p", str(target.pid), *arguments], stderr=subprocess.PIPE, text=True, **more)
        self.addCleanup(offwait.stderr.close)
        self.addCleanup(offwait.wait)
        self.addCleanup(offwait.kill)
        self.assertRegex(offwait.stderr.readline(), "^offwait: recording ")
        return target, offwait

    def test_while_recording(self):
        for offwait, kept in ((OFFWAIT, USED - {"perfmon"}), (self.ambient, set(FOUR) - {"perfmon"}),
                              (self.capable, set(FOUR) - {"perfmon"})):
            _, running = self.recorder(offwait)
            self.assertEqual(capabilities(running.pid), kept)
            self.assertEqual(capabilities(running.pid, "CapPrm"), kept)
            self.assertEqual(capabilities(running.pid, "CapInh") | capabilities(running.pid, "CapAmb"), set())
            self.assertEqual(status(running.pid, "NoNewPrivs"), "1")
            if offwait == OFFWAIT:
                self.assertEqual(capabilities(running.pid, "CapBnd"), set())

    def test_priority(self):
        """The recorder runs before other threads, if it may. The command that it starts, and the report, do not."""
        for offwait, scheduled in ((OFFWAIT, (os.SCHED_FIFO, -20)), (self.ambient, (os.SCHED_OTHER, 0))):
            _, running = self.recorder(offwait)
            self.assertEqual((os.sched_getscheduler(running.pid) & ~os.SCHED_RESET_ON_FORK,
                              os.getpriority(os.PRIO_PROCESS, running.pid)), scheduled)
        command = [sys.executable, "-c", "import os; print(os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0))"]
        done = subprocess.run(["nice", "-n", "3", OFFWAIT, "-q", "--json", os.devnull, "--", *command], capture_output=True,
                              text=True, check=True)
        self.assertTrue(done.stdout.startswith("0 3\n"), done.stdout[:200])

    def test_when_the_report_is_written(self):
        """The report goes to a full pipe, so that offwait waits while it writes."""
        for offwait in (OFFWAIT, self.ambient):
            end, full = os.pipe()
            os.set_blocking(full, False)
            while True:
                try:
                    os.write(full, bytes(4096))
                except BlockingIOError:
                    break
            os.set_blocking(full, True)
            _, running = self.recorder(offwait, ["-d", "200ms"], stdout=full)
            os.close(full)
            until(lambda: capabilities(running.pid) == set())
            self.assertEqual(capabilities(running.pid, "CapPrm"), set())
            self.assertEqual((os.sched_getscheduler(running.pid) & ~os.SCHED_RESET_ON_FORK,
                              os.getpriority(os.PRIO_PROCESS, running.pid)), (os.SCHED_OTHER, 0))
            os.close(end)

    def test_while_names_are_looked_up(self):
        """A program that offwait runs to look up names has the privileges of the user's other programs."""
        with tempfile.TemporaryDirectory() as directory:
            directory = pathlib.Path(directory)
            found = directory / "debuginfod-find"
            found.write_text(f"#!/bin/sh\ngrep ^Cap /proc/self/status >{directory}/own && exec sleep 20\n", encoding="ascii")
            found.chmod(0o755)
            environment = {**os.environ, "PATH": f"{directory}:{os.environ['PATH']}", "DEBUGINFOD_URLS": "http://localhost:1"}
            _, running = self.recorder(OFFWAIT, ["-d", "200ms", "--debuginfod"], stdout=subprocess.DEVNULL, env=environment)
            until(lambda: (directory / "own").exists() and "CapAmb" in (directory / "own").read_text())
            self.assertEqual(capabilities(running.pid), USED - {"perfmon", "bpf", "sys_nice"})
            own = pathlib.Path("/proc/self/status").read_text()
            self.assertEqual((directory / "own").read_text(), "".join(re.findall(r"^Cap.*\n", own, re.MULTILINE)))


if __name__ == "__main__":
    sys.exit(runner.run(sys.argv[6:], ["setpriv", "setcap"]))
