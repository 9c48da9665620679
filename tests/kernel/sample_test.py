# SPDX-License-Identifier: GPL-2.0-or-later
"""CPU samples show in which code a thread runs while another waits for it, for a program that knows the answer.

    sample_test.py OFFWAIT WORKLOAD"""
import ctypes
import errno
import json
import math
import platform
import struct
import subprocess
import sys
import unittest

import recording
import runner

OFFWAIT, WORKLOAD = sys.argv[1], sys.argv[2]
HZ = 997


def share_of(samples, function):
    return sum(place["share"] for place in samples["stacks"]
               if any(frame.startswith(function + "+") for frame in place["stack"]))


def without_perf_events():
    """Lets this process's perf_event_open() fail, as a container's seccomp profile does."""
    number = {"x86_64": 298, "aarch64": 241}[platform.machine()]
    load, equal, back = 0x20, 0x15, 0x06
    deny = 0x00050000 | errno.EACCES
    allow = 0x7fff0000
    program = b"".join(struct.pack("HBBI", *instruction) for instruction in
                       ((load, 0, 0, 0), (equal, 0, 1, number), (back, 0, 0, deny), (back, 0, 0, allow)))
    buffer = ctypes.create_string_buffer(program)
    head = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer)))
    set_seccomp, filter_mode = 22, 2
    if ctypes.CDLL(None, use_errno=True).prctl(set_seccomp, filter_mode, head) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


class SampleTest(unittest.TestCase):
    def assert_share(self, share, expected, samples):
        """Checks a share of the samples to five standard deviations."""
        tolerance = 5 * math.sqrt(expected * (1 - expected) / samples)
        self.assertLessEqual(abs(share - expected), tolerance, f"{share} of {samples} samples, expected {expected}")

    def test_waker_in_known_functions(self):
        with recording.recorded(OFFWAIT, WORKLOAD, ["busy_waker"], extra=["--sample-hz", str(HZ)]) as (file, truths, _):
            report = json.loads(subprocess.run([OFFWAIT, "report", "--no-merge", "--json", "-", file], check=True,
                                               capture_output=True).stdout)
        waker, waiter = ({t["truth"]: t for t in truths}[kind] for kind in ("waker", "waiter"))
        self.assertEqual(report["recording"]["sample_hz"], HZ)
        ids = {actor.get("tid"): actor["id"] for actor in report["actors"]}
        edge, = (e for e in report["edges"] if (e["from"], e["to"]) == (ids[waiter["tid"]], ids[waker["tid"]]))
        samples = edge["waker_samples"]
        # There is one sample every 1/HZ s of running time, but for the time that the host takes away.
        expected = edge["waker_running_s"] * HZ
        self.assertLessEqual(abs(samples["samples"] - expected), 0.1 * expected + 5)
        hot = waker["hot_ns"] / (waker["hot_ns"] + waker["cool_ns"])
        self.assert_share(share_of(samples, "workload_hot"), hot, samples["samples"])
        self.assert_share(share_of(samples, "workload_cool"), 1 - hot, samples["samples"])
        self.assertLessEqual(share_of(samples, "workload_unwaited"), 0.01)
        # The waker is always busy, so it is a sink, and a sink shows the samples of the whole window.
        sink, = (s for s in report["sinks"] if s["actor"] == ids[waker["tid"]])
        self.assert_share(share_of(sink["samples"], "workload_hot"), waker["hot_ns"] / waker["cpu_ns"],
                          sink["samples"]["samples"])
        unwaited = 1 - (waker["hot_ns"] + waker["cool_ns"]) / waker["cpu_ns"]
        self.assert_share(share_of(sink["samples"], "workload_unwaited"), unwaited, sink["samples"]["samples"])

    def test_none_unless_asked_for(self):
        for extra in (["--sample-hz", "0"], ["--no-stacks"]):
            with self.subTest(extra=extra), recording.recorded(OFFWAIT, WORKLOAD, ["busy_waker", "--rounds", "10"],
                                                               extra=extra) as (file, _, _):
                with open(file, encoding="ascii") as lines:
                    self.assertEqual([line for line in lines if line.startswith("on_cpu ")], [])

    def test_perf_events_forbidden(self):
        """The recording goes on without samples, and offwait says so."""
        # A workload would not do: its annotations are probes, which need perf events too.
        target = subprocess.Popen(["sh", "-c", "while :; do sleep 0.02; done"])
        recorder = subprocess.Popen([OFFWAIT, "-p", str(target.pid), "-d", "500ms"], stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, text=True, preexec_fn=without_perf_events)
        text, errors = recorder.communicate()
        target.kill()
        target.wait()
        # Whether dash and sleep have names here depends on the packages that are installed.
        notes = [line for line in errors.splitlines() if "have no names here" not in line]
        self.assertEqual((recorder.returncode, notes),
                         (0, [f"offwait: recording pid {target.pid} (sh)",
                              "offwait: threads are not sampled while they run (perf_event_open: Permission denied): the "
                              "report cannot say what code they run"]))
        self.assertNotIn(" samples in ", text)


if __name__ == "__main__":
    sys.exit(runner.run(sys.argv[3:]))
