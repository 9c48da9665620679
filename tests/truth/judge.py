#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a report's first answer is what limits a program, for simulated programs: judge.py OFFWAIT [--help].

A program's trace is given to `offwait report`. The truth about a part of the program (the CPU work of a kind of threads,
its sleeps, its requests to a disk or a service; a disk) is how much faster the program gets when it is simulated again
with that part twice as fast and the same random numbers; of a lock, without its waits. The first answer is

    right       it gains 80 % or more of what the best part gains
    partial     less (a lock may gain more than any part; then a part is right as well)
    misleading  under 2 %
    nothing     there is no answer, or none about a part that was simulated

Where no part gains 20 % there is nothing to find: "flat", or "overstated" if the first answer says 20 % or more.
"""

import argparse
import collections
import dataclasses
import json
import multiprocessing
import random
import statistics
import subprocess
import sys

from families import FAMILIES
from simulator import MS, World

JUDGED = ("right", "partial", "misleading", "nothing")


@dataclasses.dataclass
class Verdict:
    family: str
    seed: int
    verdict: str
    split: bool = False  # the report also answers for another kind of progress
    shown: bool = False  # the first answer for one of the kinds of progress is right
    best: float = 0.0
    answers: list = dataclasses.field(default_factory=list)  # (predicted, true, low, high); not of split reports
    bounds: list = dataclasses.field(default_factory=list)  # (the most that a lock gains, true)


def parts_of(world):
    """The parts of a program that took time, as `speed` of World names them."""
    stacks = {(tid, wait.wait_class, wait.waker) for tid, wait, _ in world.waits}
    kind_of = {thread.tid: thread.kind.name for thread in world.threads}
    parts = {(thread.kind.name, "cpu") for thread in world.threads if thread.ran}
    for tid, wait_class, waker in stacks:
        if wait_class == "sleep":
            parts.add((kind_of[tid], "sleep"))
        elif wait_class == "net":
            parts.add((kind_of[tid], "remote"))
        elif wait_class == "disk":
            disk = waker.removeprefix("disk:")
            parts |= {(kind_of[tid], "io", disk), ("disk", disk)}
    return parts


def program(family, seed):
    return FAMILIES[family](random.Random(f"{family} {seed}"))


def true_gains(family, seed, parts, window_ns):
    """{part: gain with it twice as fast}, and {("lock", name): gain without its waits}."""
    def rate(speed, free=()):
        return World(program(family, seed), seed, speed, window_ns=window_ns, free=free).run()

    base = rate({})
    if not base:
        return {}, {}
    locks = program(family, seed).locks
    return ({part: rate({part: 0.5}) / base - 1 for part in parts},
            {("lock", name): rate({}, [name]) / base - 1 for name in locks})


def meant(answer, report, kind_of):
    """The parts that an answer is about."""
    actors = {actor["id"]: actor for actor in report["actors"]}
    device = actors[answer["device"]]["name"] if answer.get("device") is not None else None
    if answer["what"] == "lock":
        return [("lock", frame.removeprefix("lock_")) for frame in answer["lock"]["stack"] if frame.startswith("lock_")]
    if answer["what"] == "disk":
        return [("disk", device)]
    if answer.get("actor") is None:
        return []
    kinds = {kind_of.get(tid) for tid in actors[answer["actor"]]["tids"]} - {None}
    return [(kind, answer["what"], *([device] if device else [])) for kind in kinds]


def grade(answer, gain, best):
    if best < 0.2:
        return "flat" if answer is None or answer["gain"] < 0.2 else "overstated"
    if answer is None or gain is None:
        return "nothing"
    return "right" if gain >= 0.8 * best else "misleading" if gain < 0.02 else "partial"


def judge(offwait, family, seed, window_ns=600 * MS):
    world = World(program(family, seed), seed, window_ns=window_ns)
    world.run()
    run = subprocess.run([offwait, "report", "-", "--json", "-", "-q"], input=world.text(), capture_output=True, text=True,
                         check=True)
    report = json.loads(run.stdout)
    gains, locks = true_gains(family, seed, parts_of(world), 2 * window_ns)
    kind_of = {thread.tid: thread.kind.name for thread in world.threads}

    def gain_of(answer):
        known = locks if answer["what"] == "lock" else gains
        return max((known[part] for part in meant(answer, report, kind_of) if part in known), default=None)

    answers = report["answers"]
    best, firsts = max(gains.values(), default=0), {}
    for answer in answers:
        firsts.setdefault(answer["progress"], answer)
    first = answers[0] if answers else None
    out = Verdict(family, seed, grade(first, gain_of(first) if first else None, best), len(firsts) > 1, best=best)
    out.shown = any(grade(answer, gain_of(answer), best) == "right" for answer in firsts.values())
    if not out.split:
        known = [(answer, gain_of(answer)) for answer in answers if gain_of(answer) is not None]
        out.answers = [(answer["gain"], true, answer.get("low"), answer.get("high")) for answer, true in known
                       if answer["what"] != "lock"]
        out.bounds = [(answer["gain"], true) for answer, true in known if answer["what"] == "lock"]
    return out


@dataclasses.dataclass
class Figures:
    """What verdicts sum up to. Errors are in points of percent."""

    judged: int
    right: float  # parts of the judged, 0 to 1
    misleading: float
    split: int
    shown: int  # of the split ones
    error_median: float
    error_90: float
    ranges: int
    held: float  # part of the ranges that hold the true gain
    large_ranges: int  # of gains of 5 % or more, predicted or true
    large_held: float
    width: float  # mean, of the large ones
    bounds: int
    bounds_held: float  # part of the bounds of locks that gain no more, by 2 % of the rate


def figures(verdicts):
    count = collections.Counter(verdict.verdict for verdict in verdicts)
    judged = sum(count[grade] for grade in JUDGED)
    split = [verdict for verdict in verdicts if verdict.split]
    answers = [answer for verdict in verdicts for answer in verdict.answers]
    errors = sorted(100 * abs(gain - true) for gain, true, _, _ in answers) or [0.0]
    ranges = [answer for answer in answers if answer[2] is not None]
    large = [answer for answer in ranges if max(answer[0], answer[1]) >= 0.05]
    bounds = [bound for verdict in verdicts for bound in verdict.bounds]

    def held(some):
        return sum(low - 0.005 <= true <= high + 0.005 for _, true, low, high in some) / max(len(some), 1)

    return Figures(judged, count["right"] / max(judged, 1), count["misleading"] / max(judged, 1), len(split),
                   sum(verdict.shown for verdict in split), statistics.median(errors), errors[int(0.9 * len(errors))],
                   len(ranges), held(ranges), len(large), held(large),
                   100 * statistics.mean([high - low for _, _, low, high in large] or [0.0]), len(bounds),
                   sum(1 + true <= 1.02 * (1 + bound) for bound, true in bounds) / max(len(bounds), 1))


def describe(found):
    return (f"{found.judged} judged: {100 * found.right:.1f} % right, {100 * found.misleading:.1f} % misleading; "
            f"{found.split} split ({found.shown} show a right one)\n"
            f"predicted gains: error median {found.error_median:.1f} points, 90th percentile {found.error_90:.1f}\n"
            f"{100 * found.held:.0f} % of {found.ranges} ranges hold the truth; of {found.large_ranges} for gains of 5 % or "
            f"more {100 * found.large_held:.0f} %, {found.width:.1f} points wide\n"
            f"{100 * found.bounds_held:.0f} % of {found.bounds} bounds of locks hold")


def judge_all(offwait, families, seeds):
    with multiprocessing.Pool() as pool:
        return pool.starmap(judge, [(offwait, family, seed) for family in families for seed in seeds], chunksize=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("offwait", help="the program to judge")
    parser.add_argument("--families", default=",".join(FAMILIES), help="of %(default)s")
    parser.add_argument("--seeds", default="0-9", help="first-last; %(default)s if not given")
    parser.add_argument("--verbose", action="store_true", help="a line for each program")
    options = parser.parse_args()
    first, last = map(int, options.seeds.split("-"))
    families = options.families.split(",")
    verdicts = judge_all(options.offwait, families, range(first, last + 1))
    for family in families:
        of_family = [verdict for verdict in verdicts if verdict.family == family]
        counts = collections.Counter(verdict.verdict for verdict in of_family)
        split = sum(verdict.split for verdict in of_family)
        print(f"{family:14}", ", ".join(f"{name} {number}" for name, number in sorted(counts.items())),
              f"({split} split)" if split else "")
        for verdict in of_family if options.verbose else []:
            print("  ", verdict)
    print(describe(figures(verdicts)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
