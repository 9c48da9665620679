#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints what offwait answered for each server, and what the fix gained.

    table.py REPORTS NAME     prints the case NAME of the directory REPORTS
    table.py REPORTS --write  writes the tables of all cases, between the two marks, into the README.md
                              beside this file

REPORTS holds, for each case, NAME.json (the report) and NAME.runs (three lines that name the load, the
state before and the fix; then a line `BEFORE AFTER` in operations/s for each pair of runs).
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
    return name


WORDS = {"cpu": "{}: CPU", "io": "{}: requests to {}", "disk": "{}", "sleep": "{}: sleeps", "remote": "{}: remote services",
         "cpus": "more CPUs", "sync": "syncs to {}"}


def first_answer(report):
    """The first answer as the text report gives it: what would gain most if it were twice as fast, and its gain."""
    actors = {actor["id"]: actor for actor in report["actors"]}
    if not report["answers"]:
        return report["verdict"]["kind"]
    answer = report["answers"][0]
    if answer["what"] == "lock":
        part = f"{answer['lock']['name']} split"
    else:
        part = WORDS[answer["what"]].format(*(name_of(actors[actor]) for actor in (answer["actor"], answer["device"])
                                              if actor is not None))
    most = max(answer["gain"], (answer["high"] or 0) if answer["certainty"] == "up-to" else 0)
    if answer["certainty"] == "up-to":
        return f"{part}; up to {100 * most:+.0f}%"
    gain = "" if answer["certainty"] == "rough" else f" {100 * most:+.0f}%"
    certainty = answer["certainty"].replace("approximate", "appr.")
    return f"{part};{gain} {certainty}"


def rounded(number):
    """The number rounded to three digits, with commas between thousands."""
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

    @property
    def load(self):
        return f"{self.what}; {self.before}"

    def answer_row(self, number):
        return f"| [{self.load}][{number}] | {self.answer} | {self.after} | ×{self.ratio:.2f} |"

    def rate_row(self, number):
        return f"| [{self.load}][{number}] | {rounded(self.before_rate)} | {rounded(self.after_rate)} |"


def answers(cases):
    """The table of what offwait named first and what the fix gained, with links to the reports."""
    return ["| load; before | first answer: twice as fast | the fix | gain |", "|---|---|---|---:|",
            *(case.answer_row(number) for number, case in enumerate(cases, 1)), "",
            *(f"[{number}]: reports/{case.name}.txt" for number, case in enumerate(cases, 1))]


def rates(cases):
    return ["", "| load; before | before, op/s | after, op/s |", "|---|---:|---:|",
            *(case.rate_row(number) for number, case in enumerate(cases, 1))]


def put(readme, lines):
    head, rest = readme.read_text().split(MARKS[0])
    _, tail = rest.split(MARKS[1])
    readme.write_text("\n".join([head + MARKS[0], *lines, MARKS[1] + tail]))


def write(reports):
    cases = [Case(reports, name) for name in sorted(path.stem for path in reports.glob("*.runs"))]
    put(pathlib.Path(__file__).parent / "README.md", answers(cases) + rates(cases))


def main():
    reports = pathlib.Path(sys.argv[1])
    if sys.argv[2] == "--write":
        write(reports)
    else:
        case = Case(reports, sys.argv[2])
        print(f"{case.name}: {case.what}\n  offwait: {case.answer}\n"
              f"  before   {rounded(case.before_rate)}/s  {case.before}\n"
              f"  after    {rounded(case.after_rate)}/s  {case.after}  ×{case.ratio:.2f}")


main()
