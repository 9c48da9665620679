#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes fixes that people make, and compares what they gain with what offwait says of them.

    fixes.py [--offwait PATH] [--only NAME...] [--pairs N] [--seconds N] [--hog] [--keep DIRECTORY] [--json OUT]
    fixes.py --list

Each case is recorded for 8 s as it is. Then it runs without and with the fix in turn. A row of the table has

  predicted  what the answer that belongs to the fix says, or the answer to --what-if where that can say the fix
  certainty  of that: sure, split, rough, up-to, approximate
  place      of the answer in the report; one of the first four may be on the first screen, others need -v
  bound      the most that the fix gains: of a lock, if no thread waits for it; of threads, with as many as have work
  measured   the median of the ratios of neighbouring runs, minus 1, and all of them
  verdict    `holds`: it is in the range; `within bound`, or above by less than runs differ; or `outside by N points`.
             `no answer`: the report has none that belongs to the fix, or (`not predicted`) it says nothing of this fix,
             or (`no number`) it is rough

The cases: fixes of a lock, a pool and a language's lock; those of examples/servers, run by their scripts; and, named
faster-*, those of predicted_gains.py. --hog keeps CPU 0 busy with another program all the time. --keep writes the
recording (NAME.offwait), the report (NAME.txt) and its JSON (NAME.json) to DIRECTORY. --json writes all rows to a file.

Needs root, and `packaging/install-packages.sh fixes`. Asserts nothing. A machine that does something else at the same
time makes the figures worthless.
"""
import argparse
import contextlib
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple, Optional

import fix_cases
import predicted_gains as servers
from rocksdb_gains import report

RECORDED_S = 8
FIRST_SCREEN = 4  # answers at most
SAME = 1.02  # runs whose rates differ by less are alike
COLUMNS = ("case", "the fix", "predicted", "certainty", "place", "bound", "measured", "all", "verdict")


class Prediction(NamedTuple):
    what: str
    gain: Optional[float]  # None: the report gives none
    low: Optional[float]
    high: Optional[float]
    certainty: str
    bound: Optional[float]
    place: Optional[int]  # of the answer, from 1


NOTHING = Prediction("", None, None, None, "", None, None)


class Row(NamedTuple):
    name: str
    case: str
    fix: str
    prediction: Prediction
    ratios: list  # of rates, with the fix and without it

    @property
    def measured(self):
        return statistics.median(self.ratios) - 1


def actors_of(found):
    return {actor["id"]: actor for actor in found["actors"]}


def same(answer, other):
    """Whether the report would say the same thing twice (distinct_answers in src/analysis/rankings.cpp)."""

    def key(one):
        lock = one["lock"]["name"] if one["what"] == "lock" else None
        return one["what"], lock, one["actor"], one["service"] and one["service"]["addresses"]

    if answer["device"] != other["device"]:
        return False
    same_gain = answer["progress"] == other["progress"] and abs(answer["gain"] - other["gain"]) < 0.005
    return key(answer) == key(other) or (answer["device"] is not None and same_gain)


def distinct(answers):
    """The answers as the report numbers them."""
    shown = []
    for answer in answers:
        if not any(same(answer, before) for before in shown):
            shown.append(answer)
    return shown


def predicted(offwait, file, part, asked=None):
    """What the recording says of the fix. `asked`: a --what-if that is the fix."""
    found = report(offwait, file)
    actors = actors_of(found)
    place, answer = next(((place, answer) for place, answer in enumerate(distinct(found["answers"]), 1)
                          if part.belongs(answer, actors)), (None, None))
    if part.asked and (answer or part is fix_cases.CPUS):
        asked = asked or part.asked(answer, actors)
    if asked:
        gain = report(offwait, file, "--what-if", asked)["what_if"][0]
        return Prediction(asked, gain["gain"], gain["low"], gain["high"], gain["certainty"], None, place)
    if answer is None:
        return NOTHING
    name = answer["lock"]["name"] if answer["what"] == "lock" else fix_cases.name_of(actors, answer["actor"])
    bound = part.bound(answer) if part.bound and answer["certainty"] != "rough" else None
    return Prediction(f"{answer['what']} {name}", answer["gain"], answer["low"], answer["high"], answer["certainty"],
                      bound, place)


def points(gain):
    return f"{100 * gain:+,.0f}%"


def outside(measured, low, high):
    """By how many points, as printed."""
    measured, low, high = (round(100 * gain) for gain in (measured, low, high))
    return max(low - measured, measured - high, 0)


def verdict(row, part):
    prediction = row.prediction
    if prediction.gain is None:
        return "no answer"
    if prediction.certainty == "rough":
        return "no number"
    if part.bound and prediction.bound is None:
        return "not predicted"
    bound = prediction.bound
    if bound is None and prediction.certainty == "up-to":
        bound = max(prediction.gain, prediction.high or 0)
    if bound is not None:
        beyond = outside(row.measured, -1, bound) if 1 + row.measured > SAME * (1 + bound) else 0
        return f"outside by {beyond} points" if beyond else "within bound"
    low, high = (prediction.gain if end is None else end for end in (prediction.low, prediction.high))
    beyond = outside(row.measured, low, high)
    return f"outside by {beyond} points" if beyond else "holds"


def cells(row, part):
    prediction = row.prediction
    place = "–"
    if prediction.place is not None:
        place = str(prediction.place) + ("" if prediction.place <= FIRST_SCREEN else " (-v)")
    bound = "–" if prediction.bound is None else f"up to {points(prediction.bound)}"
    return (row.case, row.fix, "–" if prediction.gain is None else servers.shown(prediction._asdict()),
            prediction.certainty or "–", place, bound, points(row.measured),
            " ".join(f"×{ratio:.2f}" for ratio in row.ratios), verdict(row, part))


def keep_report(offwait, keep, name):
    command = [offwait, "report", "-q", keep / f"{name}.offwait", "--json", keep / f"{name}.json"]
    printed = subprocess.run(command, check=True, capture_output=True)
    (keep / f"{name}.txt").write_bytes(printed.stdout)


def trial(name, options, slow_file):
    """Records and measures a case that is a class."""
    case = options.cases[name]
    file = options.keep / f"{name}.offwait"
    with contextlib.ExitStack() as undo:
        before, after = (case(undo, slow_file, changed) for changed in (False, True))
        servers.record(options.offwait, before, RECORDED_S, file, "record")
        ratios = []
        for _ in range(options.pairs):
            base, fixed = (one.rate(servers.output_of(one.load(options.seconds))) for one in (before, after))
            ratios.append(fixed / base)
        fix, asked = before.asked(after) if name in fix_cases.FASTER else (case.fix, None)
    keep_report(options.offwait, options.keep, name)
    return Row(name, case.name, fix, predicted(options.offwait, file, options.parts[name], asked), ratios)


def trials_of_script(script, names, options):
    """Has a script of examples/servers record and measure these of its cases."""
    environment = {**os.environ, "ONLY": " ".join(names), "PAIRS": str(options.pairs),
                   "SECONDS_EACH": str(options.seconds), "REPORTS": str(options.keep), "RECORDINGS": str(options.keep)}
    subprocess.run([fix_cases.ROOT / f"examples/servers/{script}.sh", options.offwait], check=True, env=environment,
                   stdout=subprocess.DEVNULL)
    for name in names:
        load, before, fix, *pairs = (options.keep / f"{name}.runs").read_text(encoding="utf-8").splitlines()
        rates = [[float(rate) for rate in pair.split()] for pair in pairs]
        prediction = predicted(options.offwait, options.keep / f"{name}.offwait", options.parts[name])
        yield Row(name, f"{load}; {before}", fix, prediction, [with_fix / without for without, with_fix in rates])


def busy_cpu():
    """Another program that takes what it can of CPU 0."""
    return servers.running("taskset", "-c", "0", "sh", "-c", "while :; do :; done")


def rows(options, slow_file):
    for name in options.only:
        if name in options.cases:
            with told_if_it_fails(name):
                yield trial(name, options, slow_file)
    for script, cases in fix_cases.SCRIPTS.items():
        names = [name for name in cases if name in options.only]
        if names:
            with told_if_it_fails(script):
                yield from trials_of_script(script, names, options)


@contextlib.contextmanager
def told_if_it_fails(name):
    """The other cases are measured all the same."""
    try:
        yield
    except (subprocess.CalledProcessError, servers.NotReady, LookupError, OSError, ArithmeticError) as error:
        print(f"Failed: {name}: {error!r}", flush=True)


def as_json(row, part, keep):
    return {**row._asdict(), "prediction": row.prediction._asdict(), "measured": row.measured,
            "verdict": verdict(row, part), "recording": str(keep / f"{row.name}.offwait")}


def measure(options, slow_file):
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}", flush=True)
    done = []
    for row in rows(options, slow_file):
        part = options.parts[row.name]
        print(f"| {' | '.join(cells(row, part))} |", flush=True)
        done.append(as_json(row, part, options.keep))
        if options.json:
            options.json.write_text(json.dumps(done, indent=1) + "\n", encoding="utf-8")


def installed(name):
    """Whether the programs are there that a case needs. Says so if not."""
    for word, program in fix_cases.NEEDED.items():
        if word in name and not shutil.which(program):
            print(f"Left out: {name}: {program} is not installed (packaging/install-packages.sh fixes)", flush=True)
            return False
    return True


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--offwait", type=Path, default=fix_cases.ROOT / "build/release/offwait")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="cases; without it, all")
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=5, help="length of a run")
    parser.add_argument("--hog", action="store_true")
    parser.add_argument("--keep", type=Path, metavar="DIRECTORY")
    parser.add_argument("--json", type=Path, metavar="OUT")
    parser.add_argument("--list", action="store_true", help="print the names of the cases, and no more")
    options = parser.parse_args()
    options.cases = fix_cases.FIXES | fix_cases.FASTER
    options.parts = {name: fix_cases.part_of(case) for name, case in options.cases.items()}
    for of_script in fix_cases.SCRIPTS.values():
        options.parts |= of_script
    unknown = set(options.only or ()) - set(options.parts)
    if unknown:
        parser.error(f"no such case: {', '.join(sorted(unknown))} (--list)")
    return options


def main():
    options = arguments()
    if options.list:
        print("\n".join(options.parts))
        return
    if os.geteuid() != 0:
        sys.exit("fixes.py: needs root")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends what was started
    options.only = [name for name in options.only or options.parts if installed(name)]
    with contextlib.ExitStack() as undo:
        directory = Path(undo.enter_context(tempfile.TemporaryDirectory(dir="/var/tmp")))
        options.keep = options.keep or directory
        options.keep.mkdir(parents=True, exist_ok=True)
        slow_file = fix_cases.compiled_slow_file(directory)
        if options.hog:
            undo.enter_context(busy_cpu())
        measure(options, slow_file)


if __name__ == "__main__":
    main()
