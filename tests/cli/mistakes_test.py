#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Each mistake of a user who records gives one clear line on stderr and the right exit status."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import threading
import time

import harness
from harness import OFFWAIT, TRACES, TestCase, python_target, run, sleeper, until

FOUR = ["bpf", "perfmon", "sys_ptrace", "dac_read_search"]
ALL_CAPABILITIES = "CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH"
AS_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"]
WITHOUT_BTF = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /sys/kernel/btf && exec "$@"', "sh"]


def lacking(capabilities, remedy):
    return f"offwait: recording needs privileges that this process lacks: {capabilities}; {remedy}\n"


def run_or_set(binary):
    return ("run offwait with sudo, or let everybody here record, and so read the memory of every process: sudo setcap "
            f"cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search=ep {binary}")


GIVE_CONTAINER = "they have to be given to the container or service that offwait runs in"


class Privileges(TestCase):
    def anybodys(self, *files):
        """Copies the executables to where every user can read them."""
        directory = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, directory)
        directory.chmod(0o755)
        copies = [directory / pathlib.Path(file).name for file in files]
        for file, copy in zip(files, copies):
            shutil.copy(file, copy)
            copy.chmod(0o755)
        return copies

    def test_not_root(self):
        (binary,) = self.anybodys(OFFWAIT)
        for command in ([], ["dump"]):
            result = self.fails_as(AS_NOBODY, binary, *command, "-p", os.getpid(), "-d", "1")
            self.assertEqual(result.stderr.decode(), lacking(ALL_CAPABILITIES, run_or_set(binary)))
            self.assertEqual(result.stdout, b"")

    def fails_as(self, wrapper, binary, *arguments):
        result = subprocess.run([*wrapper, binary, *map(str, arguments)], stdin=subprocess.DEVNULL,
                                capture_output=True, timeout=harness.GUARD_S, check=False)
        self.assertEqual(result.returncode, 1)
        return result

    def test_root_that_may_not_have_one_capability(self):
        for capability in ("cap_sys_ptrace", "cap_dac_read_search"):
            result = self.fails_as(["capsh", f"--drop={capability}", "--", "-c", 'exec "$0" "$@"'], OFFWAIT, "-p",
                                   os.getpid(), "-d", "1")
            self.assertEqual(result.stderr.decode(), lacking(capability.upper(), GIVE_CONTAINER))

    def test_one_of_four_missing(self):
        (binary,) = self.anybodys(OFFWAIT)
        for missing in FOUR:
            given = ",".join(f"+{one}" for one in FOUR if one != missing)
            nobody = [*AS_NOBODY[:-1], f"--inh-caps=-all,{given}", f"--ambient-caps={given}"]
            result = self.fails_as(nobody, binary, "-p", os.getpid(), "-d", "1")
            self.assertEqual(result.stderr.decode(), lacking(f"CAP_{missing.upper()}", run_or_set(binary)))

    def test_namespaces_of_their_own(self):
        for options, sentence in (
                (["--pid", "--fork", "--mount-proc"],
                 "this is a PID namespace, in which processes have other numbers than in the kernel: run offwait outside "
                 "of it, or in a container that shares the host's (--pid=host, hostPID: true)"),
                (["--map-root-user"],
                 "this is a user namespace, whose capabilities do not reach the kernel: run offwait outside of it")):
            self.fails(1, sentence, "-p", "1", "-d", "1", wrapper=["unshare", *options])

    def test_no_btf(self):
        self.fails(1, "this kernel has no BTF (/sys/kernel/btf/vmlinux): offwait needs Linux 5.8 or newer built with "
                   "CONFIG_DEBUG_INFO_BTF=y", "-p", os.getpid(), "-d", "1", wrapper=WITHOUT_BTF)

    def test_a_report_needs_neither_root_nor_btf(self):
        binary, trace = self.anybodys(OFFWAIT, TRACES / "figure1.txt")
        result = subprocess.run([*WITHOUT_BTF, *AS_NOBODY, binary, "report", trace], stdin=subprocess.DEVNULL,
                                capture_output=True, timeout=harness.GUARD_S, check=False, env=harness.environment())
        self.assertEqual(result.stderr, b"")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stdout, run("report", trace).stdout)


class Targets(TestCase):
    def test_no_such_process_or_thread(self):
        self.fails(1, "there is no process 2147483647", "-p", "2147483647", "-d", "1")
        self.fails(1, "there is no thread 2147483647", "-t", "2147483647", "-d", "1")
        self.fails(1, "there is no process 2147483647", "dump", "-p", "2147483647", "-d", "1")

    def test_one_of_several_processes(self):
        pid = os.getpid()
        self.fails(1, "there is no process 2147483647", "-p", f"{pid},2147483647", "-d", "1")
        self.misused(f"process {pid} is given twice", "-p", f"{pid},1,{pid}", "-d", "1")

    def test_a_process_that_was(self):
        gone = subprocess.Popen(["true"])
        gone.wait()
        self.fails(1, f"there is no process {gone.pid}", "-p", gone.pid, "-d", "1")

    def test_a_kernel_thread(self):
        if pathlib.Path("/proc/2/comm").read_text() != "kthreadd\n":
            self.skipTest("no kernel threads in this PID namespace")
        for option in ("-p", "-t"):
            self.fails(1, "2 is a kernel thread: record the process that waits for it, kernel threads that it waits "
                       "for are followed", option, "2", "-d", "1")

    def test_a_thread_where_a_process_is_meant(self):
        end = threading.Event()
        thread = threading.Thread(target=end.wait)
        thread.start()
        try:
            tid, pid = thread.native_id, os.getpid()
            self.fails(1, f"{tid} is a thread of process {pid}: use -t {tid} for the thread alone or -p {pid} for the "
                       "process", "-p", tid, "-d", "1")
        finally:
            end.set()
            thread.join()

    def test_a_zombie(self):
        zombie = subprocess.Popen(["true"])
        stat = pathlib.Path(f"/proc/{zombie.pid}/stat")
        try:
            until(lambda: stat.read_text().rpartition(")")[2].split()[0] == "Z", "the zombie")
            self.fails(1, f"process {zombie.pid} has already exited", "-p", zombie.pid, "-d", "1")
            self.fails(1, f"thread {zombie.pid} has already exited", "-t", zombie.pid, "-d", "1")
        finally:
            zombie.wait()

    def test_a_process_whose_main_thread_has_exited_is_recorded(self):
        program = ("import ctypes, threading, time\n"
                   "def work():\n"
                   "  while True: time.sleep(0.005)\n"
                   "threading.Thread(target=work).start()\n"
                   "print(flush=True)\n"
                   f"ctypes.CDLL(None).syscall({60 if os.uname().machine == 'x86_64' else 93}, 0)\n")
        with python_target(program) as target:
            stat = pathlib.Path(f"/proc/{target.pid}/stat")
            until(lambda: stat.read_text().rpartition(")")[2].split()[0] == "Z", "the exit of the main thread")
            result = run("-p", target.pid, "-d", "500ms")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.is_report(result.stdout)
            self.fails(1, f"thread {target.pid} has already exited", "-t", target.pid, "-d", "1")

    def test_a_target_that_never_waits(self):
        with python_target("print(flush=True)\nwhile True: pass") as target:
            os.sched_setaffinity(target.pid, {min(os.sched_getaffinity(0))})
            time.sleep(0.2)  # its last waits are then over: for the write above, and for moving to another CPU
            result = run("-p", target.pid, "-d", "1500ms")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.is_report(result.stdout)
            self.assertIn("1  python3's CPU work halved", result.stdout.decode())


class Cgroups(TestCase):
    def setUp(self):
        self.mount = harness.cgroup.mount()
        if self.mount is None:
            self.skipTest("no cgroup v2 here")

    def test_no_such_cgroup(self):
        for path in ("no/such", "/no/such", f"{self.mount}/no/such"):
            self.fails(1, f"there is no cgroup '{path}' below {self.mount}", "-c", path, "-d", "1")

    def test_not_a_cgroup(self):
        for path in ("/tmp", f"{self.mount}/cgroup.procs", "cgroup.procs"):
            self.fails(1, f"'{path}' is not a cgroup: cgroups are the directories below {self.mount}", "-c", path, "-d",
                       "1")

    def test_a_cgroup_of_version_1(self):
        with open("/proc/self/mountinfo", encoding="utf-8") as lines:
            v1 = [line.split()[4] for line in lines if " - cgroup " in line]
        if not v1:
            self.skipTest("no cgroup v1 here")
        self.fails(1, f"'{v1[0]}' is a cgroup of version 1, and offwait records those of version 2: name one below "
                   f"{self.mount}", "-c", v1[0], "-d", "1")

    def test_no_cgroup_v2_at_all(self):
        without = ["unshare", "--mount", "sh", "-c", f'umount -l {self.mount} && exec "$@"', "sh"]
        self.fails(1, "no cgroup v2 hierarchy is mounted here, and offwait looks for cgroups only there: mount it with "
                   "'mount -t cgroup2 none /mnt'", "-c", "x", "-d", "1", wrapper=without)

    def test_no_such_unit_or_container(self):
        self.fails(1, "there is no cgroup of a unit 'no-such.service': the unit is not running, or has another name "
                   "('systemctl list-units' lists those that run)", "--unit", "no-such", "-d", "1")
        self.fails(1, "there is no container 'no-such' here: give its id or the first 4 characters of it or more ('docker "
                   "ps', 'podman ps' and 'crictl ps' list them), or its cgroup with -c", "--container", "no-such", "-d", "1")

    def test_an_empty_cgroup(self):
        with harness.cgroup.Cgroup() as empty:
            for command in ([], ["dump"]):
                self.fails(1, f"no process was in the cgroup {empty.name} while it was recorded: there is nothing to "
                           "analyse", *command, "-c", empty.name, "-d", "300ms")


class Words(TestCase):
    """Command lines of a user who knows other tools, and mistyped ones."""

    def test_unknown_options(self):
        pid = os.getpid()
        self.misused("unknown option --jsn; did you mean --json?", "-p", pid, "--jsn", "f")
        self.misused("unknown option --min-weigth; did you mean --min-weight?", "-p", pid, "--min-weigth", "5%")
        self.misused("unknown option -F; did you mean --sample-hz?", "-p", pid, "-F", "99")
        self.misused("bad size '512': expected something like 256M or 1G, from 8M to 1000G", "-p", pid,
                     "--max-memory", "512")
        self.misused("unknown option -o; did you mean 'record -o' for the recording, or --json for the report?", "-p", pid, "-o",
                   "x")
        self.misused(r"unknown option --\x1b[2J", "-p", pid, "--\x1b[2J")
        self.misused("dump has no option --explain: offwait and offwait report have it", "dump", "-p", pid, "--explain")

    def test_a_process_without_an_option(self):
        self.misused("unexpected '1234'; did you mean -p 1234?", "1234")
        self.misused("unexpected '1234'; did you mean -p 1234?", "1234", "5")

    def test_unknown_commands(self):
        commands = " (commands: record, top, report, diff, dump, export, calibrate, doctor; a running process is -p NAME, a program to run stands after --)"
        self.misused("unknown command 'dupm'; did you mean dump?" + commands, "dupm", "-p", "1")

    def test_a_process_by_name(self):
        with harness.called("offwait-n-1") as target:
            result = run("-p", "offwait-n-1", "-d", "200ms")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertRegex(result.stdout.decode(), rf"^offwait [\d.]+ · pid {target.pid} \(offwait-n-1\) ")
        self.fails(1, "no process is called 'offwait-n-1' ('ps -e' lists all)", "-p", "offwait-n-1", "-d", "1")

    def test_what_a_name_of_several_processes_prints_is_taken(self):
        with harness.called("offwait-n-2"), harness.called("offwait-n-2"):
            said = self.fails(1, re.compile(r"^offwait: 2 processes are called 'offwait-n-2': \d+ \(.*\), \d+ \(.*\); choose "
                                            r"one, or record all: -p \d+,\d+$"), "-p", "offwait-n-2", "-d", "1")
            pids = said.stderr.decode().split()[-1]
            self.assertEqual(run("dump", "-p", pids, "-o", "/dev/null", "-d", "100ms", "-q").returncode, 0)

    def test_the_duration_after_the_target(self):
        with sleeper() as target:
            begin = time.monotonic()
            result = run("-p", target.pid, "0.3")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertGreaterEqual(time.monotonic() - begin, 0.3)
            self.assertRegex(result.stdout.decode(), rf"^offwait [\d.]+ · pid {target.pid} \(\w+\) · 3\d\d ms ")

    def test_several_processes_one_by_one(self):
        with sleeper() as one, sleeper() as other:
            report = self.valid_json(run("-p", one.pid, "-p", other.pid, "-d", "300ms", "--json", "-").stdout)
            # They run one program, and so may be one actor.
            inside = {tgid for actor in report["actors"] if actor["kind"] in ("thread", "group") and not actor["outside"]
                      for tgid in actor.get("tgids") or [actor["tgid"]]}
            self.assertEqual(inside, {one.pid, other.pid})


class Programs(TestCase):
    """Programs that give names are looked for before the recording, which here would never end."""

    def test_no_jcmd(self):
        with sleeper() as target, tempfile.TemporaryDirectory() as directory:
            for command in ([], ["dump"]):
                self.fails(1, "--java needs jcmd, and there is none in PATH: install a JDK of version 17 or later (on Debian "
                           "openjdk-17-jdk-headless), or add its directory bin to PATH", *command, "-p", target.pid, "--java",
                           env=harness.environment(PATH=directory))

    def test_no_debuginfod_find(self):
        with sleeper() as target, tempfile.TemporaryDirectory() as directory:
            self.fails(1, "--debuginfod needs debuginfod-find, and there is none in PATH: install it (on Debian the package "
                       "debuginfod)", "-p", target.pid, "--debuginfod",
                       env=harness.environment(PATH=directory, DEBUGINFOD_URLS="http://localhost:1"))

    def test_no_servers(self):
        with sleeper() as target, tempfile.TemporaryDirectory() as directory:
            (pathlib.Path(directory) / "debuginfod-find").touch(0o755)
            for urls in ("", None):
                env = harness.environment(PATH=directory, DEBUGINFOD_URLS=urls or "")
                if urls is None:
                    del env["DEBUGINFOD_URLS"]
                self.fails(1, "--debuginfod needs the addresses of servers in DEBUGINFOD_URLS: set it (sudo does not pass it "
                           "on), as in 'sudo DEBUGINFOD_URLS=https://debuginfod.debian.net offwait ...'", "-p", target.pid,
                           "--debuginfod", env=env)

    def test_a_command_is_not_run_for_nothing(self):
        with tempfile.TemporaryDirectory() as directory:
            ran = pathlib.Path(directory) / "ran"
            result = run("--java", "--", "/usr/bin/touch", ran, env=harness.environment(PATH=directory))
            self.assertEqual(result.returncode, 1)
            self.assertTrue(result.stderr.startswith(b"offwait: --java needs jcmd"), result.stderr)
            self.assertFalse(ran.exists())


class Output(TestCase):
    def test_an_output_that_cannot_be_written_is_an_error_before_the_recording(self):
        # Without -d the recording would last until the target exits.
        with sleeper() as target:
            for path, reason in (("/nonexistent/r", "No such file or directory"), ("/tmp", "Is a directory")):
                self.fails(1, f"cannot write {path}: {reason}", "-p", target.pid, "--json", path)
                self.fails(1, f"cannot write {path}: {reason}", "dump", "-p", target.pid, "-o", path)
            for wanted, sentence in (
                    (["--json", "/tmp/x", "--folded", "/tmp/x"],
                     "--json and --folded both want /tmp/x: write one of them to another file"),
                    (["--no-stacks", "--folded", "/tmp/x"], "--folded writes stacks, and --no-stacks records none"),
                    (["--sample-hz", "0", "--folded", "/tmp/x", "--folded-kind", "on-cpu"],
                     "--folded-kind on-cpu writes samples, and --sample-hz 0 takes none"),
                    (["--folded", "/tmp/x", "--folded-kind", "on-cpu", "--folded-objects"],
                     "--folded-objects says what threads waited for, and --folded-kind on-cpu where they ran")):
                self.misused(sentence, "-p", target.pid, *wanted)

    def test_a_closed_standard_output(self):
        with sleeper() as target:
            for arguments in (["-p", target.pid], ["-p", target.pid, "--json", "-"], ["dump", "-p", target.pid]):
                self.fails(1, "cannot write to standard output: it is closed", *arguments, stdout=None,
                           wrapper=["sh", "-c", 'exec "$0" "$@" >&-'])

    def test_a_full_disk(self):
        with sleeper() as target, open("/dev/full", "wb") as full:
            short = ["-p", target.pid, "-d", "200ms"]
            self.fails(1, "cannot write to standard output: No space left on device", *short, stdout=full)
            self.fails(1, "cannot write /dev/full: No space left on device", *short, "--json", "/dev/full")
            result = self.fails(1, re.compile("^offwait: .*No space left on device$"), "dump", *short, "-o",
                                "/dev/full")
            self.assertEqual(result.stdout, b"")

    def test_a_bad_duration(self):
        self.misused("bad duration '5 s': expected something like 90, 90s, 1m30s or 500ms, at most 24h", "-p", os.getpid(),
                     "-d", "5 s")


if __name__ == "__main__":
    harness.main(needs_root=True)
