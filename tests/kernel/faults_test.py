# SPDX-License-Identifier: GPL-2.0-or-later
"""What is recorded when the recorder or the target is stopped or killed: faults_test.py OFFWAIT WORKLOAD"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import recording
import runner

OFFWAIT, WORKLOAD = sys.argv[1:3]
PLAIN = ["--no-stacks", "--sample-hz", "0"]
RING_BYTES, WAIT_BYTES = 16 << 20, 72


def programs():
    """The names of the loaded BPF programs that are offwait's."""
    listed = json.loads(subprocess.run(["bpftool", "prog", "show", "--json"], check=True, capture_output=True, text=True).stdout)
    return sorted(program["name"] for program in listed if program.get("name", "").startswith(("on_sched_", "on_block_")))


def switches_of(pid):
    """How often the threads of a process have left their CPU, as the kernel counts it."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/status", encoding="ascii", errors="replace") as file:
            total += sum(int(line.split()[1]) for line in file if "ctxt_switches" in line)
    return total


class FaultsTest(unittest.TestCase):
    def start(self, *arguments):
        """A workload that waits for go(), which is called in a thread of its own."""
        target = recording.Workload(WORKLOAD, list(arguments))
        self.addCleanup(target.process.wait)
        self.addCleanup(target.process.kill)
        return target

    def dump(self, file, pid, *more):
        recorder = recording.start_offwait(OFFWAIT, ["dump", "-p", str(pid), "-o", file, *more])
        self.addCleanup(recorder.wait)
        self.addCleanup(recorder.kill)
        return recorder

    def finish(self, recorder):
        recorder.send_signal(signal.SIGINT)
        _, errors = recorder.communicate()
        self.assertEqual(recorder.returncode, 0, errors)

    def test_what_a_stopped_recorder_misses_is_counted(self):
        """Each time a thread leaves its CPU is in the recording, or among the records that were lost."""
        with tempfile.NamedTemporaryFile() as file:
            target = self.start("load", "--rate", "200000", "--seconds", "4")
            recorder = self.dump(file.name, target.pid, *PLAIN)
            truths = []
            work = threading.Thread(target=lambda: truths.extend(target.go()))
            before = switches_of(target.pid)
            os.kill(recorder.pid, signal.SIGSTOP)
            work.start()
            while work.is_alive() and switches_of(target.pid) < before + 2 * RING_BYTES // WAIT_BYTES:
                time.sleep(0.1)
            os.kill(recorder.pid, signal.SIGCONT)
            work.join()
            self.finish(recorder)
            dump = recording.Dump(file.name)
        truths = [truth for truth in truths if "nvcsw" in truth]
        switches = sum(truth["nvcsw"] + truth["nivcsw"] for truth in truths)
        seen = sum(len([one for one in dump.preemptions if one.tid == truth["tid"] and one.begin >= truth["begin_ns"]]) +
                   len(dump.waits_of(truth)) for truth in truths)
        lost = dump.loss["ringbuf_full"]
        self.assertGreater(lost, switches // 4)
        self.assertGreaterEqual(seen + lost + dump.loss["switch_unseen"], switches)
        # Records of threads outside of the target are among the lost ones, too.
        self.assertLess(seen + lost - switches, 1000)

    def test_a_killed_recorder_leaves_nothing_behind(self):
        """SIGKILL at any time detaches the programs: they belong to descriptors of the process."""
        target = self.start("load", "--rate", "20000", "--seconds", "60")
        threading.Thread(target=lambda: target.process.stdin.write("go\n") and target.process.stdin.flush()).start()
        before = programs()
        for attempt in range(12):
            with tempfile.NamedTemporaryFile() as file:
                recorder = subprocess.Popen([OFFWAIT, "dump", "-q", "-p", str(target.pid), "-o", file.name])
                time.sleep(0.15 * attempt)
                recorder.kill()
                recorder.wait()
        deadline = time.monotonic() + 10  # the kernel frees programs after a grace period
        while programs() != before and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertEqual(programs(), before)

    def test_two_recorders_of_one_target_see_the_same(self):
        with tempfile.NamedTemporaryFile() as one, tempfile.NamedTemporaryFile() as other:
            target = self.start("load", "--rate", "20000", "--seconds", "1")
            recorders = [self.dump(file.name, target.pid, *PLAIN) for file in (one, other)]
            truths = [truth for truth in target.go() if "nvcsw" in truth]
            for recorder in recorders:
                self.finish(recorder)
            dumps = [recording.Dump(file.name) for file in (one, other)]
        for truth in truths:
            counts = [len(dump.waits_of(truth)) for dump in dumps]
            self.assertEqual(counts[0], counts[1])
            self.assertGreater(counts[0], 4000)

    def test_the_target_is_killed(self):
        """The recording ends with the target, and has its waits up to then."""
        with tempfile.NamedTemporaryFile() as file:
            target = self.start("load", "--rate", "20000", "--seconds", "60")
            recorder = self.dump(file.name, target.pid, *PLAIN)
            target.process.stdin.write("go\n")
            target.process.stdin.flush()
            time.sleep(1)
            target.process.kill()
            _, errors = recorder.communicate(timeout=60)
            self.assertEqual(recorder.returncode, 0, errors)
            dump = recording.Dump(file.name)
        ends = {thread.exit for thread in dump.threads if thread.tgid == target.pid}
        self.assertNotIn(recording.NEVER, ends)
        last = max(wait.run for wait in dump.waits if wait.run != recording.NEVER)
        self.assertLess(max(ends) - last, 100_000_000)
        self.assertGreater(len(dump.waits), 10_000)


if __name__ == "__main__":
    sys.exit(runner.run(sys.argv[3:], ["bpftool"]))
