# SPDX-License-Identifier: GPL-2.0-or-later
"""The names of frames in a recording: lines, inlined functions, debug files, and perf maps in another mount namespace.

    names_test.py OFFWAIT NAMED_FRAMES STRIPPED DEBUG

STRIPPED is NAMED_FRAMES without its debug information, which is in DEBUG."""
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from urllib.parse import unquote

import recording
import runner

OFFWAIT, PROGRAM, STRIPPED, DEBUG = sys.argv[1:5]
SECONDS = 1
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "named_frames.cpp")


def line(mark):
    with open(SOURCE, encoding="ascii") as lines:
        return next(number for number, text in enumerate(lines, 1) if text.rstrip().endswith(f"// line: {mark}"))


def recorded(command, seconds):
    """The tid of the program's main thread, and what was recorded of it."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "waits")
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
            assert program.stdout.readline() == "ready\n"
            tid = program.pid
            if "--fork" in command:  # of unshare
                with open(f"/proc/{tid}/task/{tid}/children", encoding="ascii") as children:
                    tid = int(children.read().split()[0])
            subprocess.run([OFFWAIT, "dump", "-q", "-p", str(tid), "-d", str(seconds), "-o", path], check=True)
            if program.poll() is None:
                os.kill(tid, signal.SIGKILL)
        return tid, recording.Dump(path)


def frames(command, seconds):
    """The program's own frames (those above libc's) where it sleeps, without offsets and directories."""
    tid, dump = recorded(command, seconds)
    stacks = [wait.stack for wait in dump.waits if wait.tid == tid and wait.cls == "sleep"]
    assert len(stacks) > 50, len(stacks)
    texts = [unquote(frame) for frame in max(set(stacks), key=stacks.count).split(";")]
    texts = [re.sub(r"\+0x[0-9a-f]+(?= \()", "", text) for text in texts]
    texts = [re.sub(r" at .*/", " at ", text) for text in texts]
    above = next(i for i, text in enumerate(texts) if "(libc" in text)
    while "(libc" in texts[above]:
        above += 1
    return texts[above:]


def expected(module):
    at = f"({module}) at named_frames.cpp"
    return [f"named::wait_for_disk() (inlined) {at}:{line('inlined')}", f"named::Store::commit() {at}:{line('commit')}",
            f"named::commit_once() {at}:{line('once')}"]


def main_in(module):
    return f"main ({module}) at named_frames.cpp:{line('main')}"


class NamesTest(unittest.TestCase):
    def test_lines_and_inlined_functions(self):
        found = frames([PROGRAM, "plain", "30"], SECONDS)
        self.assertEqual(found[:4], [*expected("named_frames"), main_in("named_frames")])
        self.assertEqual(found[-1], "_start (named_frames)")

    def test_processes_that_live_for_a_millisecond(self):
        """They have the code of the process that forked them, and are gone before they could be looked at."""
        tid, dump = recorded([PROGRAM, "forks", "30"], SECONDS)
        stacks = [wait.stack for wait in dump.waits if wait.tid != tid and wait.cls == "sleep"]
        self.assertGreater(len(stacks), 50)
        named = [stack for stack in stacks if "named::commit_once()" in unquote(stack)]
        self.assertGreaterEqual(len(named), 0.95 * len(stacks))

    def test_debug_file_that_only_the_target_sees(self):
        """The file is gone, with the target, before names are looked up."""
        with tempfile.TemporaryDirectory() as directory:
            script = (f"mount -t tmpfs none {directory} && mkdir {directory}/.debug && cp {STRIPPED} {directory}/server && "
                      f"cp {DEBUG} {directory}/.debug/ && exec {directory}/server plain {SECONDS + 2}")
            found = frames(["unshare", "--mount", "sh", "-c", script], SECONDS + 20)
            self.assertEqual(os.listdir(directory), [])
        self.assertEqual(found[:4], [*expected("server"), main_in("server")])

    def test_perf_map_in_a_container(self):
        # The program's own file may be in /tmp, which the mount hides.
        script = f"exec 3<{PROGRAM} && mount -t tmpfs none /tmp && exec /proc/self/fd/3 jit 30"
        found = frames(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script], SECONDS)
        self.assertEqual(found[:4], [*expected("named_frames"), "js:handler (server.js:3) (perf-1.map)"])


if __name__ == "__main__":
    sys.exit(runner.run(sys.argv[5:], ["unshare"]))
