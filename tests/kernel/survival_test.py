# SPDX-License-Identifier: GPL-2.0-or-later
"""What becomes of a recording when its terminal, its messages or its file go away, and who may read it.

    survival_test.py OFFWAIT"""
import fcntl
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

import runner

OFFWAIT = sys.argv[1]
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"]
# Two threads that hand a byte to and fro, some thousand times a second: a recording that a busy machine makes long stays small.
PROGRAM = r"""
import os, threading, time
a, b = os.pipe(), os.pipe()
def echo(take, give):
    while os.read(take, 1):
        time.sleep(0.0002)
        os.write(give, b"x")
for ends in ((a[0], b[1]), (b[0], a[1])):
    threading.Thread(target=echo, args=ends, daemon=True).start()
os.write(a[1], b"x")
print("ready", flush=True)
input()
"""


def run(*words, **options):
    return subprocess.run([*map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **options)


def takes_signals(pid):
    """Whether the recording has begun: until then signals end offwait."""
    links = (os.readlink(file) for file in pathlib.Path(f"/proc/{pid}/fd").iterdir() if os.path.islink(file))
    return "anon_inode:[signalfd]" in links


class SurvivalTest(unittest.TestCase):
    def setUp(self):
        self.place = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.place.chmod(0o755)
        self.target = subprocess.Popen([sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(self.end_target)
        self.target.stdout.readline()

    def end_target(self):
        self.target.kill()
        self.target.communicate()

    def start(self, *arguments, before=(), **options):
        """Starts a recording of the target, and returns when it runs."""
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
        words = [*before, OFFWAIT, *arguments, "-p", self.target.pid, "-d", "60s"]
        recorder = subprocess.Popen([*map(str, words)], stdin=subprocess.DEVNULL, **options)
        self.addCleanup(recorder.communicate)
        self.addCleanup(recorder.kill)
        if options["stderr"] == subprocess.PIPE:
            self.assertIn("recording pid", recorder.stderr.readline())
        while not takes_signals(recorder.pid):
            self.assertIsNone(recorder.poll())
            time.sleep(0.05)
        time.sleep(1.5)  # a part or two
        return recorder

    def report(self, file):
        shown = run(OFFWAIT, "report", file)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        return shown.stdout

    def assert_whole(self, file):
        """All of a recording is there, with the names that are looked up at its end."""
        text = self.report(file)
        self.assertNotIn("interrupted", text)
        self.assertIn("_Py_write", run(OFFWAIT, "dump", file).stdout)

    def test_a_hang_up_ends_a_recording_as_ctrl_c_does(self):
        file, flights = self.place / "file", self.place / "flights"
        flights.mkdir()
        stored = self.start("record", "-o", file)
        live = self.start("-v")
        flight = self.start("record", "--flight", "60s", "-o", flights)
        for recorder in (stored, live, flight):
            recorder.send_signal(signal.SIGHUP)
        outputs = [recorder.communicate()[0] for recorder in (stored, live, flight)]
        self.assertEqual([recorder.returncode for recorder in (stored, live, flight)], [0, 0, 0])
        self.assert_whole(file)
        self.assertIn("KNOT 1", outputs[1])
        written, = flights.iterdir()
        self.assertTrue(written.name.endswith("-end.offwait"), written)
        self.assert_whole(written)

    def test_under_nohup_a_hang_up_does_nothing(self):
        file = self.place / "file"
        recorder = self.start("record", "-o", file, before=["nohup"], stderr=subprocess.DEVNULL)
        recorder.send_signal(signal.SIGHUP)
        time.sleep(0.5)
        self.assertIsNone(recorder.poll())
        recorder.send_signal(signal.SIGTERM)
        self.assertEqual(recorder.wait(), 0)
        self.assert_whole(file)

    def test_a_word_to_flight_recorders_ends_no_other_recorder(self):
        file = self.place / "file"
        recorder = self.start("record", "-o", file)
        recorder.send_signal(signal.SIGUSR1)
        time.sleep(0.5)
        self.assertIsNone(recorder.poll())
        recorder.send_signal(signal.SIGINT)
        recorder.communicate()
        self.assertEqual(recorder.returncode, 0)
        self.assert_whole(file)

    def test_a_second_ctrl_c_ends_offwait(self):
        ours, theirs = os.pipe()
        fcntl.fcntl(theirs, fcntl.F_SETPIPE_SZ, 4096)  # and nobody reads it: the recording's end is never written
        with os.fdopen(ours), os.fdopen(theirs, "w") as pipe:
            recorder = self.start("record", "-o", "-", stdout=pipe)
            recorder.send_signal(signal.SIGINT)
            time.sleep(1)
            self.assertIsNone(recorder.poll())
            recorder.send_signal(signal.SIGINT)
            self.assertEqual(recorder.wait(1), -signal.SIGINT)

    def test_ctrl_c_while_offwait_attaches_ends_it_without_a_report(self):
        for delay in (0.1, 0.05, 0.02):  # the machine may be fast
            recorder = subprocess.Popen([OFFWAIT, "-p", str(self.target.pid)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
            time.sleep(delay)
            recorder.send_signal(signal.SIGINT)
            output, errors = recorder.communicate()
            if "recording" not in errors:
                break
        self.assertEqual((recorder.returncode, output, errors), (-signal.SIGINT, "", ""))

    def test_a_flight_recorder_outlives_its_messages(self):
        def close_stderr():
            os.close(2)

        unread, write = os.pipe()
        os.close(unread)
        with open("/dev/full", "w", encoding="ascii") as full, os.fdopen(write, "w") as broken:
            for name, options in {"full": {"stderr": full}, "broken": {"stderr": broken},
                                  "closed": {"stderr": None, "preexec_fn": close_stderr}}.items():
                with self.subTest(name):
                    flights = self.place / name
                    flights.mkdir()
                    recorder = self.start("record", "--flight", "60s", "-o", flights, **options)
                    recorder.send_signal(signal.SIGUSR1)
                    time.sleep(1.5)
                    recorder.send_signal(signal.SIGTERM)
                    self.assertEqual(recorder.wait(), 0)
                    self.assertEqual(sorted(file.name.split("-")[-1] for file in flights.iterdir()),
                                     ["end.offwait", "usr1.offwait"])

    def test_a_file_has_one_recorder(self):
        file = self.place / "file"
        first = self.start("record", "-o", file)
        second = run(OFFWAIT, "record", "-p", self.target.pid, "-d", "1s", "-o", file)
        self.assertEqual((second.returncode, second.stderr),
                         (1, f"offwait: another offwait records into {file}: name another file\n"))
        first.send_signal(signal.SIGINT)
        first.communicate()
        self.assertEqual(first.returncode, 0)
        self.assert_whole(file)

    def test_a_file_that_others_empty_or_remove_is_said(self):
        for what, change in {"emptied or cut": lambda file: os.truncate(file, 0), "removed": os.unlink}.items():
            with self.subTest(what):
                file = self.place / "file"
                recorder = self.start("record", "-o", file)
                change(file)
                recorder.send_signal(signal.SIGINT)
                _, errors = recorder.communicate()
                self.assertEqual(recorder.returncode, 1)
                self.assertIn(f"cannot go on writing {file}: another program has {what} the file\n", errors)

    def test_a_limit_of_file_sizes_is_an_error(self):
        made = run("bash", "-c", 'ulimit -f 1; exec "$@"', "-", OFFWAIT, "record", "-p", self.target.pid, "-d", "2s", "-o",
                   self.place / "file")
        self.assertEqual(made.returncode, 1, made.stderr)
        self.assertIn(f"cannot write {self.place}/file: File too large", made.stderr)

    def test_what_was_recorded_is_for_its_owner_alone(self):
        made = run("bash", "-c", 'umask 0; exec "$@"', "-", OFFWAIT, "-p", self.target.pid, "-d", "1s", "--json",
                   self.place / "json", "--folded", self.place / "folded")
        self.assertEqual(made.returncode, 0, made.stderr)
        made = run("bash", "-c", 'umask 0; "$0" record -p $1 -d 1s -o $2 && exec "$0" dump $2 -o $3', OFFWAIT, self.target.pid,
                   self.place / "file", self.place / "dump")
        self.assertEqual(made.returncode, 0, made.stderr)
        for name in ("json", "folded", "file", "dump"):
            self.assertEqual(stat.S_IMODE((self.place / name).stat().st_mode), 0o600, name)

    def test_a_lent_capability_opens_no_file_for_its_user(self):
        capable = shutil.copy(OFFWAIT, self.place / "capable")
        subprocess.run(["setcap", "cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search=ep", capable], check=True)
        file = self.place / "file"
        self.assertEqual(run(OFFWAIT, "record", "-p", self.target.pid, "-d", "1s", "-o", file).returncode, 0)
        for command in (["report", file], ["dump", file], ["diff", file, self.place / "other"], ["export", "--format", "dot", file]):
            with self.subTest(command[0]):
                read = run(*NOBODY, capable, *command)
                self.assertEqual((read.returncode, read.stdout), (1, ""))
                self.assertEqual(read.stderr, f"offwait: cannot read {file}: Permission denied\n")
        private = self.place / "private"
        shutil.copy("/bin/true", private)
        private.chmod(0o700)
        read = run(*NOBODY, capable, "--progress-at", f"{private}:main", "-p", self.target.pid)
        self.assertEqual((read.returncode, read.stderr), (2, f"offwait: --progress-at: cannot read {private}\n"))


if __name__ == "__main__":
    sys.exit(runner.run(sys.argv[2:], ["setpriv", "setcap"]))
