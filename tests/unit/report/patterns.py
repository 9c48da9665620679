#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""patterns.py RENDER

The traces of tests/traces/patterns, two for each pattern: one that just is it and, -not, one that just is not. Each must
have the one knot that is said here: its pattern, its actors, and how its evidence begins. RENDER is report_render.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

TRACES = pathlib.Path(__file__).resolve().parents[2] / "traces" / "patterns"

TWO = ["a", "b"]
ASLEEP = (" The thread that the others wait for spends 23% of that time in timed sleeps (a limit on the rate, a write stall, or a "
          "remote service).")
LOG_DISK = ("Disk vda was busy for 60% of the window, with one request at a time, 6.00 ms each (latency-bound). 0.2% of its "
            "capacity was used (500 MB/s, 50,000 IO/s, given).")
CASES = {
    "lock-across-disk": ("lock-across-disk", TWO + ["vda"],
                         "For 95% of the time that its threads wait for each other, they wait for one that is at a disk meanwhile, "
                         "for 82% of the time that it keeps them waiting. For 100% of this time the next thread then waits for "
                         "the disk as well: they are there one after the other. Disk vda was busy for 80% of "
                         "the window, with one request at a time, 4.00 ms each (latency-bound). 0.4% of its capacity was used "
                         "(500 MB/s, 50,000 IO/s, given)."),
    "lock-across-disk-not": ("blocking-io", TWO + ["vda"],
                             "Disk vda was busy for 32% of the window, with one request at a time, 4.00 ms each. 0.2% of its "
                             "capacity was used (500 MB/s, 50,000 IO/s, given)."),
    "group-commit": ("group-commit", ["worker-*", "log", "vda"],
                     "66% of the wait time ended when several threads were let go at once: 3.00 on average, at "
                     "most 3. The thread that let them go spent 92% of that time waiting for a disk. As many each time: a barrier whose last thread waits for "
                     "a disk would look the same. " + LOG_DISK),
    "group-commit-not": ("blocking-io", ["worker-*", "log", "vda"], LOG_DISK),
    "blocking-io": ("blocking-io", ["a", "b", "vda"],
                    "Disk vda was busy for 20% of the window, with one request at a time, 2.00 ms each. 0.2% of its "
                    "capacity was used (500 MB/s, 50,000 IO/s, given)."),
    "blocking-io-not": ("lock-contention", TWO, "its waits are futex 100%. One thread is let go at a time."),
    "cpu-starvation": ("cpu-starvation", TWO,
                       "its threads were runnable for 86.0 ms, blocked for 100 ms; the threads they waited for ran "
                       "14% of the time they could have."),
    "cpu-starvation-not": ("lock-contention", TWO,
                           "its waits are futex 100%. One thread is let go at a time. CPUs are short, too: its threads "
                           "ran for 15.0 ms and were runnable for 85.0 ms."),
    "timer-driven": ("timer-driven", TWO, "60% of its threads' blocked time ended by a timer." + ASLEEP),
    "timer-driven-not": ("producer-consumer", TWO, "its waits are futex 100%." + ASLEEP),
    "lock-contention": ("lock-contention", TWO, "its waits are futex 60%, other 40%. One thread is let go at a time."),
    "lock-contention-not": ("mixed", TWO, "its waits are futex 60%, other 40%."),
    "lock-contention-asleep": ("lock-contention", TWO,
                               "its waits are futex 100%. One thread is let go at a time. The thread that the others wait for spends 20% of "
                               "that time in timed sleeps (a limit on the rate, a write stall, or a remote service)."),
    "lock-contention-asleep-not": ("lock-contention", TWO,
                                   "its waits are futex 100%. One thread is let go at a time."),
    "load-imbalance": ("load-imbalance", ["rank-*"],
                       "its waits are futex 100%. 100% of the wait time ended in releases of several threads at once "
                       "(2.00 on average)."),
    "load-imbalance-not": ("lock-contention", ["rank-*"],
                           "its waits are futex 100%. One thread is let go at a time."),
    "load-imbalance-two": ("load-imbalance", TWO, "a waits 35.0 ms for b, and b 30.0 ms for a, in turns."),
    "producer-consumer": ("producer-consumer", ["put", "take"], "its waits are futex 100%."),
    "producer-consumer-not": ("lock-contention", ["put", "take"],
                              "its waits are futex 100%. One thread is let go at a time."),
    "request-answer": ("request-answer", TWO, "its waits are net 60%, other 40%."),
    "request-answer-not": ("mixed", TWO, "its waits are net 60%, other 40%."),
}


def knots_of(render, trace):
    with tempfile.NamedTemporaryFile() as output:
        subprocess.run([render, trace, output.name, "--json"], check=True)
        report = json.load(output)
    return [(knot["pattern"], [report["actors"][actor]["name"] for actor in knot["actors"]], knot["evidence"])
            for knot in report["knots"]]


def main():
    failed = False
    for name, expected in CASES.items():
        knots = knots_of(sys.argv[1], TRACES / f"{name}.txt")
        if knots != [expected]:
            failed = True
            print(f"{name}: expected {expected}, found {knots}")
    for trace in TRACES.glob("*.txt"):
        if trace.stem not in CASES:
            failed = True
            print(f"{trace.stem}: nothing is expected of it")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
