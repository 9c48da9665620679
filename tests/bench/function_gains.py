#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Predicted and really measured gains of functions that are twice as fast, in the two cases of Figure 1 of the blocked
samples paper (tests/profiles).

    function_gains.py OFFWAIT PROFILES [--pairs N]

Records each case, then runs it with and without each function's speed-up alternately. Needs root, and a machine that does
nothing else."""
import argparse
import json
import statistics
import subprocess
import tempfile

CASES = ("figure1_case1", "figure1_case2")
FUNCTIONS = ("compute_heavy", "compute_light", "read_for")


def run(profiles, program, *faster, recorder=()):
    """How many seconds the run took."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
        subprocess.run([profiles, "make_files", directory], check=True)
        command = [*recorder, profiles, program, directory, *faster]
        printed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        return float(printed.splitlines()[0])


def predicted(offwait, profiles, program):
    """By function: the gain, and its certainty; nothing for a function that has none."""
    with tempfile.NamedTemporaryFile("r", suffix=".json") as report:
        run(profiles, program, recorder=(offwait, "-q", "--json", report.name, "--"))
        gains = {}
        for row in json.load(report)["functions"]["rows"]:
            for name in FUNCTIONS:
                if f"{name}(" in row["function"] + "(" and name not in gains and row["gains"]["all"]:
                    gains[name] = row["gains"]["all"]
        return gains


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("offwait")
    parser.add_argument("profiles")
    parser.add_argument("--pairs", type=int, default=5)
    arguments = parser.parse_args()
    print(f"{'program':15}{'function':15}{'predicted':>18}{'measured':>22}")
    for program in CASES:
        gains = predicted(arguments.offwait, arguments.profiles, program)
        for function in FUNCTIONS:
            ratios = [run(arguments.profiles, program) / run(arguments.profiles, program, function) - 1
                      for _ in range(arguments.pairs)]
            gain = gains.get(function)
            told = f"{gain['gain']:+.0%} {gain['certainty']}" if gain else "none"
            print(f"{program:15}{function:15}{told:>18}"
                  f"{statistics.median(ratios):+12.0%} [{min(ratios):+.0%}..{max(ratios):+.0%}]", flush=True)


if __name__ == "__main__":
    main()
