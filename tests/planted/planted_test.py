#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that offwait finds the bottleneck that was planted.

    planted_test.py OFFWAIT PLANTED [--verify] [--keep DIR] [PLAN...]

Runs the plans of plans.txt (all, or those whose name contains one of PLAN), records each for a moment and checks whether
the planted piece is in the first knot of the report, or is a sink that limits, and whether the first answer is about that
piece, or about one that gains at least 80 % of what it gains. Prints a line for each plan and the hit rates, and fails if
they are below 95 % and 90 %. --verify first measures each plan's truth on this machine, leaves out the plans that are not true, and
measures the gains that were predicted. --keep DIR keeps the reports in DIR."""
import argparse
import collections
import json
import os
import statistics
import subprocess
import sys
import tempfile

import plans

RECORDED_S = 1.5
WARM_UP_S = 0.2
REQUIRED = 0.95
# Of the first answers: threads whose names differ in digits only are one part, even where one of them works for all.
REQUIRED_FIRST = 0.9
NEARLY = 0.8
SKIP = 77


def thread_names(pid):
    names = {}
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/comm", encoding="ascii") as comm:
            names[int(tid)] = comm.read().strip()
    return names


def record(offwait, planted, directory, plan):
    """Records one run; returns (report, {tid: name})."""
    with tempfile.TemporaryFile("w+") as text:
        text.write(plan.text)
        text.seek(0)
        program = subprocess.Popen([planted, "--directory", directory], stdin=text, stdout=subprocess.PIPE, text=True)
    try:
        if program.stdout.readline() != "ready\n":
            sys.exit(SKIP)
        try:
            program.wait(WARM_UP_S)
        except subprocess.TimeoutExpired:
            pass
        names = thread_names(program.pid)
        run = subprocess.run([offwait, "-q", "-p", str(program.pid), "-d", f"{RECORDED_S}s", "--json", "-"],
                             stdout=subprocess.PIPE, text=True, check=True)
        return json.loads(run.stdout), names
    finally:
        program.kill()
        program.wait()
        program.stdout.close()


class Answer:
    """What the report names as the bottleneck: its first knot, and the sinks that limit."""

    def __init__(self, report, names):
        self.report, self.names = report, names
        self.kind = report["verdict"]["kind"]
        self.knot = None
        if report["knots"] and (not report["knots"][0]["background"] or self.kind == "background"):
            self.knot = report["knots"][0]
        self.actors = set(self.knot["actors"]) if self.knot else set()
        self.actors |= {sink["actor"] for sink in report["sinks"] if sink["saturated"] or sink.get("paced")}

    def threads_of(self, actor):
        """The names of an actor's threads."""
        return {self.names.get(tid, "") for tid in self.report["actors"][actor].get("tids", [])}

    def is_disk(self, actor):
        return self.report["actors"][actor]["kind"] == "disk"

    def threads(self):
        return set().union(*(self.threads_of(actor) for actor in self.actors))

    def __str__(self):
        named = sorted(" ".join(sorted(self.threads_of(a))) or self.report["actors"][a]["name"] for a in self.actors)
        return f"{self.kind}: " + (", ".join(named) or "nothing")


def names_planted(plan, answer):
    """Whether the planted piece is in the answer. A planted thread has to be in it; a planted disk together with the thread
    that waits for it; a planted lock by its holders that wait for each other, or by one that holds it all the time."""
    kind, name = plan.planted.kind, plan.planted.name
    if kind == "thread":
        return name in answer.threads()
    edges = answer.knot["edges"] if answer.knot else []
    if kind == "disk":
        return any(name in answer.threads_of(e["from"]) and answer.is_disk(e["to"]) for e in edges)
    holders = plan.threads_with("hold", name)
    return any(holders & answer.threads_of(e["from"]) and holders & answer.threads_of(e["to"]) for e in edges)


RESOURCES = {"cpu": {"cpu"}, "sleep": {"sleep"}, "sync": {"io", "disk"}, "read": {"io", "disk"}}


def pieces_of(plan, report, names, answer):
    """The pieces of the plan that an answer of the report is about: CPU work or sleeps of its threads, or their disk."""
    actor = answer["actor"]
    threads = None if actor is None else {names.get(tid, "") for tid in report["actors"][actor].get("tids", [])}
    return [piece for piece in plan.pieces() if answer["what"] in RESOURCES[plan.operation_of(piece)]
            and (threads is None or plan.threads_with(piece) & threads)]


def is_as_good(planted, directory, plan, pieces):
    """Whether these pieces twice as fast gain nearly as much as the planted one."""
    def gain(speeds):
        return statistics.median(plans.rate(planted, directory, plan, speeds) / plans.rate(planted, directory, plan)
                                 for _ in range(3)) - 1
    return bool(pieces) and gain(pieces) >= NEARLY * gain([plan.planted.piece])


def first_answers(report):
    """The first answer for each progress that the report splits into."""
    firsts = {}
    for answer in report["answers"]:
        firsts.setdefault(answer["progress"], answer)
    return list(firsts.values())


def described(answers):
    return ", ".join(f"{one['what']} {one['actor']} {100 * one['gain']:+.0f}% {one['certainty']}" for one in answers)


def decoys_in(plan, answer):
    """The decoys that are in the answer by threads that do not run the planted piece."""
    return sorted(piece for piece in plan.decoys
                  if plan.threads_with(piece) & answer.threads() - plan.threads_with(plan.planted.piece))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("offwait")
    parser.add_argument("planted")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--plans", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "plans.txt"))
    parser.add_argument("--verify", action="store_true")
    parser.add_argument("--keep")
    arguments = parser.parse_intermixed_args()

    table = collections.Counter()
    answered = collections.Counter()
    errors = []  # of the predicted gains, in points
    misses = []
    with tempfile.TemporaryDirectory(dir=".") as directory:
        for plan in plans.read(arguments.plans):
            if arguments.names and not any(name in plan.name for name in arguments.names):
                continue
            if arguments.verify:
                measured = plans.gains(arguments.planted, directory, plan)
                gains = " ".join(f"{piece} ×{gain:.2f}" for piece, gain in measured.items())
                if not plans.is_true(plan, measured):
                    print(f"not true here: {plan.name}: {gains}", flush=True)
                    continue
            report, names = record(arguments.offwait, arguments.planted, directory, plan)
            firsts = first_answers(report)
            about = [pieces_of(plan, report, names, one) for one in firsts]
            right = [plan.planted.piece in pieces or is_as_good(arguments.planted, directory, plan, pieces) for pieces in about]
            first = "right" if right[:1] == [True] else "shown" if any(right) else "wrong"
            answered[first] += 1
            if arguments.verify and firsts and firsts[0]["certainty"] != "rough":
                ratios = [plans.rate(arguments.planted, directory, plan, about[0]) / plans.rate(arguments.planted, directory, plan)
                          for _ in range(3)]
                errors.append(100 * (firsts[0]["gain"] - statistics.median(ratios) + 1))
            if arguments.keep:
                with open(os.path.join(arguments.keep, plan.name + ".json"), "w", encoding="ascii") as file:
                    json.dump(report, file)
            answer = Answer(report, names)
            hit = names_planted(plan, answer)
            decoys = decoys_in(plan, answer)
            how = ("found" if hit and not decoys else "found with decoys" if hit else
                   "nothing" if not answer.actors else "something else")
            table[plan.name.rsplit("-", 1)[0], how] += 1
            if not hit:
                misses.append(plan.name)
            print(f"{'ok  ' if hit else 'MISS'} {plan.name:24} planted {' '.join(plan.planted):32} {first} {described(firsts)}; {answer}"
                  + (f"  [decoys: {' '.join(decoys)}]" if decoys else ""), flush=True)

    columns = ["found", "found with decoys", "something else", "nothing"]
    print("\n" + f"{'planted':24}" + "".join(f"{column:>20}" for column in columns))
    for row in dict.fromkeys(row for row, _ in table):
        print(f"{row:24}" + "".join(f"{table[row, column] or '':>20}" for column in columns))
    total = sum(table.values())
    rate = (total - len(misses)) / total if total else 0.0
    print(f"{'all':24}" + "".join(f"{sum(n for (_, how), n in table.items() if how == column):>20}" for column in columns))
    print(f"first answers: {dict(answered)}")
    if errors:
        sizes = sorted(abs(error) for error in errors)
        print(f"predicted gain against measured, {len(sizes)} answers: median {statistics.median(sizes):.1f} points, "
              f"90th percentile {sizes[len(sizes) * 9 // 10]:.1f}, mean of the signed errors {statistics.mean(errors):+.1f}")
    print(f"{total - len(misses)} of {total} found: {100 * rate:.1f} %" + "".join("\n  missed: " + m for m in misses))
    return 0 if rate >= REQUIRED and answered["right"] >= REQUIRED_FIRST * total else 1


if __name__ == "__main__":
    sys.exit(main())
