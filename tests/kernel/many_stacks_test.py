# SPDX-License-Identifier: GPL-2.0-or-later
"""A program that waits in more places than the kernel has room for stacks.

    many_stacks_test.py OFFWAIT MANY_STACKS SMALL_STACK_MAP"""
import json
import subprocess
import sys
import unittest

import runner

MANY_STACKS, SMALL_STACK_MAP = sys.argv[2:4]
CALLS, KERNEL_STACKS = 12, 2048


class Recording:
    """What small_stack_map prints."""

    def __init__(self, output, truth):
        lines = output.splitlines()
        self.numbers = json.loads(lines[0])
        self.paths, self.long_waits = [], []
        for line in lines[1:]:
            tid, blocked_ns, *stack = map(int, line.split())
            calls = [truth["calls"].index(pc) for pc in stack if pc in truth["calls"]]
            if not calls:
                continue  # before and after the paths
            assert len(calls) == CALLS, line
            path = sum(call << (CALLS - 1 - place) for place, call in enumerate(calls))
            if tid == truth["tid"]:
                self.long_waits.append((path, blocked_ns))
            else:
                self.paths.append(path)


class ManyStacksTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """Three recorders of different kinds record the same."""
        with subprocess.Popen([MANY_STACKS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as target:
            pid = str(json.loads(target.stdout.readline())["pid"])
            recorders = {kind: subprocess.Popen([SMALL_STACK_MAP, pid, kind], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                         for kind in ("memory", "file", "flight")}
            try:
                for recorder in recorders.values():
                    assert recorder.stdout.readline() == "recording\n"
                target.stdin.write("go\n")
                target.stdin.flush()
                cls.truth = json.loads(target.stdout.readline())
                for recorder in recorders.values():
                    recorder.stdin.write("end\n")
                    recorder.stdin.flush()
                outputs = {kind: recorder.communicate()[0] for kind, recorder in recorders.items()}
            finally:
                for recorder in recorders.values():
                    recorder.kill()
                    recorder.wait()
        cls.recordings = {kind: Recording(output, cls.truth) for kind, output in outputs.items()}

    def check(self, recording, paths):
        """The recording has waits at these paths, but for those that the host hid, and no others."""
        self.assertEqual([recording.numbers[name] for name in ("missing", "stack_store_full", "stack_collision")], [0, 0, 0])
        left = iter(paths)
        for path in recording.paths:
            self.assertIn(path, left)  # advances to the path
        self.assertLessEqual(len(paths) - len(recording.paths), recording.numbers["switch_unseen"])
        # Its stack was stored first and is used last.
        self.assertEqual([path for path, _ in recording.long_waits], [self.truth["path"]])
        self.assertGreater(recording.long_waits[0][1], 2_000_000_000)

    def test_a_recording_has_all_stacks(self):
        for kind in ("memory", "file"):
            with self.subTest(kind):
                self.check(self.recordings[kind], self.truth["paths"])
                self.assertGreater(self.recordings[kind].numbers["stacks"], 4 * KERNEL_STACKS)

    def test_a_flight_recorder_has_the_stacks_of_its_window_only(self):
        recording = self.recordings["flight"]
        # The window begins anywhere: before a sleep at the path that comes again and again, or between two at one path.
        first = next(path for path in recording.paths if path)
        del recording.paths[:recording.paths.index(first)]
        begin = self.truth["paths"].index(first) + (recording.paths[1] != first)
        self.assertGreater(len(recording.paths), 300)
        self.check(recording, self.truth["paths"][begin:])
        self.assertLess(recording.numbers["stacks"], 3 * KERNEL_STACKS)


if __name__ == "__main__":
    sys.exit(runner.run(sys.argv[4:]))
