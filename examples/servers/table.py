#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What was measured beside what offwait says.

    table.py REPORTS NAME     prints the case NAME of the directory REPORTS
    table.py REPORTS --write  writes the table of all cases into the README.md beside this file and into the project's, between their two marks
"""
import json
import pathlib
import statistics
import sys

MARKS = ("<!-- table -->", "<!-- end of table -->")


def name_of(actor):
    name = actor["name"]
    if actor["kind"] in ("disk", "nic"):
        name = f"{actor['kind']} {name}"
    elif actor["members"] > 1:
        name += f"×{actor['members']}"
    return name + (" (outside)" if actor.get("outside") and actor["kind"] in ("thread", "group") else "")


def first_answer(report):
    """The first knot or sink that limits, as the text report has it, else its verdict."""
    actors = {actor["id"]: actor for actor in report["actors"]}
    for knot in report["knots"]:
        if not knot["background"]:
            names = [name_of(actors[actor]) for actor in knot["actors"]]
            joined = " ⇄ ".join(names) if len(names) == 2 else ", ".join(names) + (" ↺" if len(names) == 1 else "")
            return f"knot: {joined}; {knot['pattern_title']}"
    saturated = [name_of(actors[sink["actor"]]) for sink in report["sinks"] if sink["saturated"]]
    if saturated:
        return "saturated: " + ", ".join(saturated)
    return report["verdict"]["sentence"].split(". ")[0].rstrip(".")


def rounded(number):
    """Three digits, with thousands apart."""
    digits = max(0, len(str(int(number))) - 3)
    return f"{round(number, -digits):,.0f}"


class Case:
    def __init__(self, reports, name):
        self.name = name
        what, before, after, *runs = (reports / f"{name}.runs").read_text().splitlines()
        self.what, self.before, self.after = what, before, after
        pairs = [tuple(float(number) for number in run.split()) for run in runs]
        self.before_rate = statistics.median(pair[0] for pair in pairs)
        self.after_rate = statistics.median(pair[1] for pair in pairs)
        self.ratio = statistics.median(pair[1] / pair[0] for pair in pairs)
        self.answer = first_answer(json.loads((reports / f"{name}.json").read_text()))

    def row(self, reports):
        return (f"| {self.what}; {self.before} | [{self.answer}]({reports}/{self.name}.txt) | {self.after} "
                f"| {rounded(self.before_rate)} | {rounded(self.after_rate)} | ×{self.ratio:.2f} |")


def write(reports):
    here = pathlib.Path(__file__).parent
    cases = [Case(reports, name) for name in sorted(path.stem for path in reports.glob("*.runs"))]
    for readme, link in (here / "README.md", "reports"), (here / "../../README.md", "examples/servers/reports"):
        rows = ["| load; before | what offwait names first | the fix | before, op/s | after, op/s | after ÷ before |",
                "|---|---|---|---:|---:|---:|"] + [case.row(link) for case in cases]
        head, rest = readme.read_text().split(MARKS[0])
        _, tail = rest.split(MARKS[1])
        readme.write_text("\n".join([head + MARKS[0], *rows, MARKS[1] + tail]))


def main():
    reports = pathlib.Path(sys.argv[1])
    if sys.argv[2] == "--write":
        write(reports)
    else:
        case = Case(reports, sys.argv[2])
        print(f"{case.name}: {case.what}\n  offwait: {case.answer}\n  before   {rounded(case.before_rate)}/s  {case.before}\n"
              f"  after    {rounded(case.after_rate)}/s  {case.after}  ×{case.ratio:.2f}")


main()
