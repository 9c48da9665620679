#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""offwait -- COMMAND: what the command inherits, how the command and offwait end, and the exit status."""

import os
import pathlib
import re
import signal
import subprocess
import tempfile
import textwrap

import harness
from harness import OFFWAIT, TestCase, Workload, environment, run
from terminal_test import ESCAPE, Terminal

# Prints what a process inherits, apart from memory.
INHERITED = textwrap.dedent("""\
    import os, pathlib
    status = pathlib.Path('/proc/self/status').read_text().splitlines()
    print([line for line in status if line.startswith(('Sig', 'Shd', 'Cap', 'NoNew', 'Seccomp', 'Uid', 'Groups'))])
    print(sorted(os.readlink(f'/proc/self/fd/{fd}') for fd in os.listdir('/proc/self/fd') if fd != '3'))
    print(os.getcwd(), os.getpgrp(), os.getsid(0), dict(os.environ), os.sched_getaffinity(0))
    print(open('/proc/self/limits').read(), open('/proc/self/oom_score_adj').read(), input())
""")


def python(program):
    return ["--", "/usr/bin/python3", "-S", "-c", program]


def sh(script):
    return ["--", "sh", "-c", script]


class Statuses(TestCase):
    def test_its_own(self):
        for status in (0, 1, 2, 77, 255):
            result = run(*sh(f"sleep 0.01; exit {status}"))
            self.assertEqual(result.returncode, status)
            self.assertEqual(result.stdout, b"")
            self.is_report(result.stderr[1:])

    def test_where_the_ends_of_children_are_ignored(self):
        result = run(*sh("sleep 0.01; exit 3"), preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual(result.returncode, 3)

    def test_a_signal(self):
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV):
            result = run(*sh(f"sleep 0.01; kill -{number} $$"))
            self.assertEqual(result.returncode, 128 + number)
            self.assertIn(f"\noffwait: the command died of signal {int(number)} (".encode(), result.stderr)

    def test_of_a_dump(self):
        with tempfile.NamedTemporaryFile() as file:
            result = run("dump", "-o", file.name, *sh("sleep 0.01; exit 3"))
            self.assertEqual((result.stdout, result.stderr, result.returncode), (b"", b"", 3))
            self.assertEqual(run("report", file.name).returncode, 0)

    def test_of_a_command_that_never_waits(self):
        result = run(*sh("exit 5"))
        self.assertEqual(result.returncode, 5)

    def test_a_report_that_cannot_be_written_is_a_failure_of_offwait(self):
        result = run("--json", "/dev/full", *sh("sleep 0.01"))
        self.assertEqual(result.returncode, 1)
        report, failure = result.stderr.decode().rsplit("\noffwait: ", 1)
        self.is_report(report.lstrip("\n").encode())
        self.assertEqual(failure, "cannot write /dev/full: No space left on device\n")

    def test_the_command_does_not_run_if_nothing_can_be_recorded(self):
        with tempfile.TemporaryDirectory() as directory:
            mark = pathlib.Path(directory) / "mark"
            self.fails(1, f"cannot write {directory}: Is a directory", "--json", directory, "--", "touch", mark)
            self.fails(1, re.compile("^offwait: recording needs privileges"), "--", "touch", mark,
                       wrapper=["capsh", "--drop=cap_sys_ptrace", "--", "-c", 'exec "$0" "$@"'])
            self.assertFalse(mark.exists())


class Inheritance(TestCase):
    def test_the_command_has_what_it_would_have_without_offwait(self):
        def ignore_signals():
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)

        def say(*before):
            # A shell would pass ignored signals and an open descriptor to its command; offwait has to do so too.
            with open("/dev/zero") as more:
                os.dup2(more.fileno(), 9)
                result = subprocess.run([*before, "/usr/bin/python3", "-S", "-c", INHERITED], input=b"what is read\n",
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=[9],
                                        preexec_fn=ignore_signals,
                                        env=environment(), check=False)
                os.close(9)
            self.assertEqual(result.returncode, 0, result.stderr)
            return re.sub(r"pipe:\[\d+\]", "pipe", result.stdout.decode())

        self.assertEqual(say(OFFWAIT, "--"), say())

    def test_its_arguments(self):
        words = ["-p", "", "a b", "--", "-d", "\xff", "dump"]
        result = run("--", "printf", "[%s]", *words)
        self.assertEqual(result.stdout.decode("utf-8"), "".join(f"[{word}]" for word in words))

    def test_a_script_that_does_not_say_what_runs_it(self):
        with tempfile.TemporaryDirectory() as directory:
            script = pathlib.Path(directory) / "script"
            script.write_text("sleep 0.01; echo $1; exit 4\n")
            script.chmod(0o755)
            for path, name in (("", script), (f"{directory}:", "script")):
                result = run("--", name, "word", env=environment(PATH=path + os.environ["PATH"]))
                self.assertEqual((result.stdout, result.returncode), (b"word\n", 4), result.stderr)


class Reports(TestCase):
    def test_the_output_is_the_commands_and_the_report_is_on_stderr(self):
        result = run(*sh("echo out; sleep 0.05; echo err >&2"))
        self.assertEqual(result.stdout, b"out\n")
        self.assertTrue(result.stderr.startswith(b"err\n\noffwait "), result.stderr)
        self.assertRegex(result.stderr.decode(), r" · command sh \(pid \d+\) · ")

    def test_json(self):
        with tempfile.NamedTemporaryFile() as file:
            result = run("--json", file.name, "--no-merge", *sh("sleep 0.05; true"))
            self.assertEqual((result.stdout, result.returncode), (b"", 0), result.stderr)
            report = self.valid_json(file.read())
        self.assertRegex(report["recording"]["target"], r"^command sh \(pid \d+\)$")
        self.assertEqual({a["name"] for a in report["actors"] if a["kind"] == "thread" and not a["outside"]},
                         {"sh", "sleep"})

    def test_its_end_is_what_counts(self):
        report = self.valid_json(run("--json", "/dev/stdout", "--what-if", "comm:sleep sleep /2", *sh("sleep 0.5; true")).stdout)
        (end,) = report["progress"]
        self.assertEqual((end["how"], end["name"]), ("end", "sh"))
        self.assertGreaterEqual(end["end_s"], 0.5)
        self.assertLessEqual(end["end_s"], report["recording"]["window_s"])
        expected = end["end_s"] / (end["end_s"] - 0.25) - 1
        self.assertAlmostEqual(report["what_if"][0]["gain"], expected, delta=0.05)

    def test_a_command_that_does_not_end_has_no_end_that_counts(self):
        result = run("-d", "300ms", "--json", "/dev/stdout", "--progress", "end", *sh("while :; do sleep 0.01; done"))
        self.assertNotIn("end", [one["how"] for one in self.valid_json(result.stdout)["progress"]])
        self.assertIn(b"offwait: --progress end: the program had not ended when the recording did; the report infers what "
                      b"counts\n", result.stderr)

    def test_it_ends_with_the_command_whatever_that_leaves_behind(self):
        with tempfile.NamedTemporaryFile() as file:
            result = run("--json", file.name, *sh("sleep 1000 >/dev/null 2>&1 & echo $!"))
            os.kill(int(result.stdout), signal.SIGKILL)
            self.assertEqual(result.returncode, 0)
            self.assertLess(self.valid_json(file.read())["recording"]["window_s"], 900)

    def test_functions_of_its_executable_can_be_probed(self):
        with tempfile.NamedTemporaryFile() as file:
            result = run("--json", file.name, "--spin", "workload_spin_lock,workload_spin_unlock", "--",
                         harness.WORKLOAD, "spin", "--exit")
            self.assertEqual(result.returncode, 0, result.stderr)
            report = self.valid_json(file.read())
        self.assertTrue(any("spin" in edge["classes"] for edge in report["edges"]))


class Ends(TestCase):
    def test_the_duration_ends_the_command(self):
        result = run("-d", "200ms", *python("import time\nwhile True: time.sleep(0.001)"))
        self.assertEqual(result.returncode, 0)
        self.is_report(result.stderr[1:])

    def test_a_command_that_ends_as_told_in_its_own_way(self):
        program = ("import signal, sys, time\n"
                   "def end(*_):\n"
                   "  time.sleep(0.2); print('ended', flush=True); sys.exit(9)\n"
                   "signal.signal(signal.SIGTERM, end)\n"
                   "while True: time.sleep(0.001)")
        result = run("-d", "500ms", *python(program))
        self.assertEqual((result.stdout, result.returncode), (b"ended\n", 9))
        self.is_report(result.stderr[1:])

    def test_sigterm_to_offwait_ends_both(self):
        with subprocess.Popen([OFFWAIT, *sh("echo $$; exec sleep 1000")], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=environment()) as offwait:
            pid = int(offwait.stdout.readline())
            offwait.send_signal(signal.SIGTERM)
            _, report = offwait.communicate(timeout=harness.GUARD_S)
        self.assertEqual(offwait.returncode, 0)
        self.is_report(report[1:])
        self.assertFalse(pathlib.Path(f"/proc/{pid}").exists())

    def test_a_command_of_another_user_is_ended(self):
        result = run("-d", "300ms", "--", "setpriv", "--reuid=65534", "--clear-groups", "sleep", "1000")
        self.assertEqual(result.returncode, 0)


class OnATerminal(TestCase):
    def test_ctrl_c_ends_both_and_still_reports(self):
        with Terminal(*sh("echo begun; sleep 1000")) as terminal:
            harness.read_terminal(terminal.ours, lambda got: b"begun\r\n" in got)
            os.write(terminal.ours, b"\x03")
            shown, _ = terminal.finish()
            self.assertEqual(terminal.process.returncode, 0, shown)
            self.assertRegex(ESCAPE.sub("", shown), r"^\^C\noffwait .* · command sh \(pid")

    def test_a_command_that_does_not_end_is_killed_by_the_next_ctrl_c(self):
        with Terminal(*sh("trap '' INT TERM; echo begun; while :; do sleep 0.1; done")) as terminal:
            harness.read_terminal(terminal.ours, lambda got: b"begun\r\n" in got)
            os.write(terminal.ours, b"\x03")
            waits = b"offwait: sent SIGTERM to the command, and waits for it to end (Ctrl-C kills it)"
            harness.read_terminal(terminal.ours, lambda got: waits in got)
            os.write(terminal.ours, b"\x03")
            shown, _ = terminal.finish()
            self.assertEqual(terminal.process.returncode, 128 + signal.SIGKILL, shown)
            self.assertIn("offwait: the command died of signal 9 (Killed)", shown)

    def test_no_progress_between_the_lines_of_the_command(self):
        with Terminal(*sh("for i in 1 2 3; do echo $i; sleep 0.3; done")) as terminal:
            shown, _ = terminal.finish()
            self.assertTrue(ESCAPE.sub("", shown).startswith("1\n2\n3\n\noffwait "), shown)


class Mistakes(TestCase):
    def test_not_found(self):
        self.fails(127, "cannot run 'no-such-command': there is none in PATH", "--", "no-such-command")
        self.fails(127, "cannot run '': there is none in PATH", "--", "")
        self.fails(127, "cannot run './no/such': No such file or directory", "--", "./no/such")
        self.fails(127, "cannot run 'true': there is none in PATH", "--", "true", env=environment(PATH="/nonexistent"))

    def test_not_executable(self):
        self.fails(126, "cannot run '/etc/passwd': Permission denied", "--", "/etc/passwd")
        self.fails(126, "cannot run '/tmp': Is a directory", "--", "/tmp")
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "command"
            file.touch()
            self.fails(126, "cannot run 'command': Permission denied", "--", "command",
                       env=environment(PATH=directory))
            file.write_text("#!/no/such/interpreter\n")
            file.chmod(0o755)
            self.fails(127, f"cannot run '{file}': No such file or directory", "--", file)

    def test_a_hostile_name(self):
        self.fails(127, r"cannot run '\x1b[31m': there is none in PATH", "--", "\x1b[31m")

    def test_where_the_waits_go(self):
        self.misused("standard output is the program's: say where the waits are to go with -o FILE", "dump", "--", "true")

    def test_one_target(self):
        for option, value in (("-p", "1"), ("-t", "1"), ("-c", "x")):
            self.misused(f"{option} and -- COMMAND each say what to record: choose one", option, value, "--", "true")
        self.misused("nothing follows --: write the program to record after it", "--")
        self.misused("nothing follows --: write the program to record after it", "dump", "-o", "x", "--")

    def test_no_function_to_probe(self):
        self.fails(2, "--spin: /bin/true has no function 'no_such_function' (it may be inlined, in a library, which -p "
                   "would find when it runs, or its symbols stripped)", "--spin", "no_such_function", "--", "/bin/true")


if __name__ == "__main__":
    harness.main(needs_root=True)
