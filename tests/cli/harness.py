# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs offwait and its targets for the tests beside this file.

The environment variables OFFWAIT and OFFWAIT_WORKLOAD name the two executables. Times only guard against hanging.
"""

import contextlib
import json
import os
import pathlib
import re
import select
import signal
import subprocess
import sys
import time
import unittest

OFFWAIT = os.environ["OFFWAIT"]
WORKLOAD = os.environ["OFFWAIT_WORKLOAD"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACES = ROOT / "tests" / "traces"
EXPECTED = ROOT / "tests" / "unit" / "report"
GUARD_S = 180
COMMANDS = ("record", "top", "report", "diff", "dump", "export", "calibrate", "doctor")

sys.path.insert(0, str(EXPECTED))
import validate_schema  # noqa: E402  (tests/unit/report)

sys.path.insert(0, str(ROOT / "tests" / "kernel"))
import cgroup  # noqa: E402
import recording  # noqa: E402,F401  (used as harness.recording)
import runner  # noqa: E402

sys.dont_write_bytecode = True

# The line that offwait prints on stderr when the recording has begun and stderr is no terminal.
BEGUN = re.compile(rb"^offwait: recording ((pids?|tid) \d+ \(|cgroup /|the whole system$)")


def main(needs_root):
    if needs_root:  # it records
        sys.exit(runner.run(sys.argv[1:]))
    unittest.main(verbosity=2)


def environment(**changes):
    """The environment of a user with a UTF-8 terminal and no preferences."""
    env = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    env.update(LC_ALL="C.UTF-8", TERM="xterm-256color")
    env.update(changes)
    return env


def run(*arguments, stdin=subprocess.DEVNULL, wrapper=(), **more):
    more.setdefault("env", environment())
    more.setdefault("stdout", subprocess.PIPE)
    return subprocess.run([*wrapper, OFFWAIT, *map(str, arguments)], stdin=stdin, stderr=subprocess.PIPE,
                          timeout=GUARD_S, check=False, **more)


def stop(process):
    """Kills a process that the test started."""
    if process.poll() is None:
        process.kill()
    process.wait(timeout=GUARD_S)
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream:
            stream.close()


class Workload:
    """A running workload (tests/workloads/README.md)."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([WORKLOAD, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        start_new_session=True)
        line = self.process.stdout.readline()
        if not line:
            stop(self.process)
            raise unittest.SkipTest(f"workload {arguments[0]}: status {self.process.returncode}")
        self.pid = json.loads(line)["pid"]

    def go(self):
        self.process.stdin.write(b"go\n")
        self.process.stdin.flush()
        return self

    def wait_done(self):
        """All truths of its threads."""
        truths = []
        for line in self.process.stdout:
            said = json.loads(line)
            if said.get("done"):
                return truths
            truths.append(said)
        raise AssertionError("the workload ended early")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # Some workloads are several processes.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        stop(self.process)


def sleeper():
    """A process that sleeps and wakes for longer than any test takes."""
    return Workload("nanosleep", "--rounds", "1000000000").go()


@contextlib.contextmanager
def python_target(program):
    """Starts a Python program as a target; yields it once it has printed a line."""
    process = subprocess.Popen([sys.executable, "-S", "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        if not process.stdout.readline():
            raise AssertionError("the target did not start")
        yield process
    finally:
        stop(process)


@contextlib.contextmanager
def called(name):
    """A process of this name that sleeps and wakes."""
    with python_target("import time\n"
                       f"with open('/proc/self/comm', 'w') as comm: comm.write('{name}')\n"
                       "print(flush=True)\n"
                       "while True: time.sleep(0.005)") as process:
        yield process


HOSTILE_SHOWN = r"\x1b[2J\xff)(R\x07"


def hostile_target():
    """A process that sleeps and whose name clears the screen where it is printed unescaped."""
    return python_target("import time\n"
                         "with open('/proc/self/comm', 'wb') as comm: comm.write(b'\\x1b[2J\\xff)(R\\x07')\n"
                         "print(flush=True)\n"
                         "while True: time.sleep(0.005)")


class Running:
    """Starts offwait; yields it once it records."""

    def __init__(self, *arguments, wait=True):
        self.process = subprocess.Popen([OFFWAIT, *map(str, arguments)], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
        if wait:
            line = self.process.stderr.readline()
            if not BEGUN.match(line):
                rest = self.process.stderr.read()
                stop(self.process)
                raise AssertionError(f"no recording began: {line + rest}")

    def finish(self):
        out, err = self.process.communicate(timeout=GUARD_S)
        return subprocess.CompletedProcess([], self.process.returncode, out, err)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        stop(self.process)


def until(condition, what):
    """Waits for something that happens soon."""
    for _ in range(GUARD_S * 100):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError(f"{what} did not happen")


def read_terminal(fd, enough=None):
    """What arrives at the other end of a terminal, until that is closed or enough(what has arrived) is true."""
    got = b""
    while not (enough and enough(got)):
        ready, _, _ = select.select([fd], [], [], GUARD_S)
        if not ready:
            raise AssertionError(f"nothing more to read after {got!r}")
        try:
            chunk = os.read(fd, 65536)
        except OSError:  # EIO: the last process has closed it
            chunk = b""
        if not chunk:
            break
        got += chunk
    return got


def knots(report):
    """The knots of a JSON report as sorted tuples of their actors' names."""
    return sorted(tuple(sorted(report["actors"][actor]["name"] for actor in knot["actors"]))
                  for knot in report["knots"])


class TestCase(unittest.TestCase):
    maxDiff = None

    def fails(self, status, sentence, *arguments, **more):
        """Checks that offwait fails with exactly this one line on stderr; `sentence` may be a compiled pattern."""
        result = run(*arguments, **more)
        lines = [line for line in result.stderr.split(b"\n") if not BEGUN.match(line)]
        self.assertEqual(lines[-1], b"", "the message ends with a newline")
        self.assertEqual(len(lines), 2, result.stderr)
        line = lines[0].decode()
        self.harmless(result.stderr)
        if isinstance(sentence, str):
            self.assertEqual(line, "offwait: " + sentence)
        else:
            self.assertRegex(line, sentence)
        self.assertEqual(result.returncode, status, line)
        return result

    def misused(self, sentence, *arguments):
        """Checks that the command line is wrong, and that the message names the help of its command."""
        command = f"{arguments[0]} " if arguments and arguments[0] in COMMANDS else ""
        result = self.fails(2, f"{sentence} (see offwait {command}--help)", *arguments)
        self.assertEqual(result.stdout, b"")

    def harmless(self, output):
        """Checks that the output is valid UTF-8 without any control character but the newline."""
        text = output.decode("utf-8")
        wrong = sorted({c for c in text if c != "\n" and (ord(c) < 0x20 or 0x7f <= ord(c) < 0xa0)})
        self.assertEqual(wrong, [], "control characters")

    def is_report(self, output):
        self.assertRegex(output.decode(), r"^offwait \d+\.\d+\.\d+ · ")

    def valid_json(self, output):
        """Checks a JSON report against the schema and returns it."""
        self.harmless(output)
        report = json.loads(output)
        schema = json.loads((ROOT / "src" / "report" / "offwait-report-1.schema.json").read_text("utf-8"))
        validator = validate_schema.jsonschema.Draft202012Validator(schema)
        self.assertEqual([f"{error.json_path}: {error.message}" for error in validator.iter_errors(report)], [])
        self.assertEqual(list(validate_schema.dangling(report)), [])
        return report
