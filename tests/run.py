#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The steps of tests/run.sh, which calls this: run.py [--all] [--steps].

When a step fails, the others still run, unless they need what it builds. Each step of tests writes its results to
build/PRESET/tests-GROUP.xml (JUnit).

Steps that stand together in the plan and name a lane are run in two lanes, side by side: one computes, and the tests of the
other mostly wait. What these print has the step's name before each line. Tests whose results depend on what else the machine
does have no lane (ALONE).
"""

import concurrent.futures
import dataclasses
import itertools
import re
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as xml
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TOGETHER = "-DOFFWAIT_TOGETHER=ON"  # a whole build takes half of the time
# For a build that nobody runs here: it takes half of the time.
UNOPTIMISED = "-DCMAKE_C_FLAGS_RELEASE=-O0 -DCMAKE_CXX_FLAGS_RELEASE=-O0"
SKIP = 77  # exit status of a test or step that this machine cannot run
# A build beside tests gets the CPU time that they leave, so that they hardly notice it.
IDLE = ["chrt", "--idle", "0"]
# Tests of the recorder that say what limits a program, or how long something took. Beside others, these limit.
ALONE = "kernel_(answers|command|disk|hung_files|outside)"
# Groups of tests by their names: the arguments of ctest's -R and -E.
GROUPS = {
    "unit": (".", "^(cli|fuzz|html|kernel|packaging|planted|profiles|truth)"),
    "cli": ("^cli_", None),
    "html": ("^html_", None),
    "fuzz": ("^fuzz_", None),
    "core": ("^kernel_(truth|spin|sample)$", None),
    "kernel": ("^kernel_", f"^({ALONE}|kernel_matrix_.*)$"),
    "alone": (f"^({ALONE}|planted|profiles)$", None),
    "truth": ("^truth", None),
    "packaging": ("^packaging_", None),
    "matrix": ("^kernel_matrix_", None),
}


@dataclasses.dataclass
class Step:
    name: str
    minutes: float  # duration on two cores, when nothing has been built yet
    commands: list
    results: Path | None = None  # the JUnit file of a step of tests
    needs: tuple = ()  # the steps without which this one cannot run
    lane: str | None = None  # "computes", "waits"; None: nothing runs beside it


@dataclasses.dataclass
class Outcome:
    seconds: float = 0.0
    status: str = "not run"  # "ok", "failed", "skipped" of the step itself
    passed: list = dataclasses.field(default_factory=list)  # (test, seconds)
    failed: list = dataclasses.field(default_factory=list)  # tests, or the step itself
    skipped: list = dataclasses.field(default_factory=list)  # (test, why)
    partly: list = dataclasses.field(default_factory=list)  # (test, how many of its cases were skipped)


def build(preset, minutes, *options, target="all", lane=None, needs=()):
    commands = [["cmake", "--preset", preset, TOGETHER, *options], ["cmake", "--build", "--preset", preset, "--target", target]]
    return Step(f"{preset}: build", minutes, [[*IDLE, *command] if lane else command for command in commands], None, needs, lane)


def tests(preset, group, minutes, lane=None, needs=()):
    wanted, unwanted = GROUPS[group]
    results = ROOT / "build" / preset / f"tests-{group}.xml"
    command = ["ctest", "--preset", preset, "-R", wanted, *(["-E", unwanted] if unwanted else []), "--output-junit",
               str(results), "--test-output-size-passed", "65536", "--test-output-truncation", "head"]
    return Step(f"{preset}: {group}", minutes, [command], results, (f"{preset}: build", *needs), lane)


def steps(everything):
    install = "packaging/install-packages.sh"
    if not everything:
        return [Step("install packages", 1, [[install, "build", "test"]]), build("release", 8, target="quick"),
                tests("release", "unit", 1.5, lane="computes"), tests("release", "cli", 3, lane="computes"),
                tests("release", "core", 4, lane="waits")]
    arm64 = (f"OFFWAIT_ARM64_SYSROOT=$(tests/matrix/arm64_sysroot.sh) || exit {SKIP}; export OFFWAIT_ARM64_SYSROOT; "
             f"cmake --preset arm64 {TOGETHER} {UNOPTIMISED} && cmake --build --preset arm64")
    # Before the other steps that wait. What the machines and the build for arm64 need is fetched here, too.
    others = Step("install others", 2, [[install, "html", "matrix", "arm64"], ["tests/matrix/fetch.py"]], None, (), "waits")
    computes = [
        build("release", 8.5, lane="computes"),
        # Programs that are the same with sanitizers are taken from the release build.
        build("dev", 21, f"-DOFFWAIT_PROGRAMS={ROOT}/build/release", needs=("release: build",), lane="computes"),
        Step("arm64: build", 4.5, [[*IDLE, "bash", "-c", arm64]], None, (others.name,), "computes"),
    ]
    waits = [
        tests("release", "unit", 1.5, lane="waits"), tests("release", "cli", 4, lane="waits"),
        tests("release", "truth", 0.5, lane="waits"), tests("release", "html", 1, lane="waits", needs=(others.name,)),
        tests("release", "kernel", 15, lane="waits"),
        tests("release", "packaging", 3, lane="waits"), tests("dev", "cli", 6.5, lane="waits"),  # beside the build for arm64
    ]
    return [
        Step("install packages", 1.5, [[install, "build", "test"]]), others, *computes, *waits,
        # Sanitizers, and guests without hardware support, take the CPUs that tests of the recorder need.
        tests("dev", "unit", 4), tests("dev", "fuzz", 0.5), tests("dev", "kernel", 3.5),
        tests("release", "alone", 8), tests("dev", "alone", 1), tests("release", "matrix", 4.5),
    ]


def read_results(file, outcome):
    """Adds what ctest says about each test."""
    for case in xml.parse(file).iter("testcase"):
        name, output = case.get("name"), case.findtext("system-out") or ""
        skipped = case.find("skipped")
        # ctest also calls a test skipped if its executable is missing; that is a failure here.
        if skipped is not None and skipped.get("message", "").startswith("SKIP_"):
            why = re.search(r"^skipped: (.*)$", output, re.MULTILINE)
            outcome.skipped.append((name, why.group(1) if why else "this machine cannot run it"))
        elif case.get("status") == "run" and case.find("failure") is None:
            outcome.passed.append((name, float(case.get("time") or 0)))
            if cases := sum(int(number) for number in re.findall(r"\bskipped=(\d+)\)", output)):
                outcome.partly.append((name, cases))
        else:
            outcome.failed.append(name)


def call(step, command):
    """The command's exit status. Of a step in a lane, each line is printed with the step's name."""
    if not step.lane:
        return subprocess.run(command, cwd=ROOT, check=False).returncode
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace") as child:
        for line in child.stdout:
            sys.stdout.write(f"{step.name} | {line}")
            sys.stdout.flush()
    return child.returncode


def run(step):
    outcome, begin = Outcome(status="ok"), time.monotonic()
    if step.results:
        step.results.unlink(missing_ok=True)
    for command in step.commands:
        status = call(step, command)
        if status:
            outcome.status = "skipped" if status == SKIP else "failed"
            break
    outcome.seconds = time.monotonic() - begin
    if step.results and step.results.exists():
        read_results(step.results, outcome)
    if outcome.status == "skipped":
        outcome.skipped.append((step.name, "this machine cannot run it"))
    elif outcome.status == "failed" and not outcome.failed:
        outcome.failed.append(step.name)
    return outcome


class Run:
    """Runs the steps of a plan; `outcomes` has what became of each."""

    def __init__(self, plan):
        self.plan = plan
        self.outcomes = {step.name: Outcome() for step in plan}
        self.ended = {step.name: threading.Event() for step in plan}
        self.interrupted = False

    def step(self, step):
        try:
            for name in step.needs:
                self.ended[name].wait()
            if self.interrupted or any(self.outcomes[name].status != "ok" for name in step.needs):
                return
            print(f"\n[{self.plan.index(step) + 1}/{len(self.plan)}] {step.name}, about {step.minutes:.1f} min", flush=True)
            self.outcomes[step.name] = run(step)
        finally:
            self.ended[step.name].set()

    def lane(self, lane):
        for step in lane:
            self.step(step)

    def all(self):
        for lanes in stretches(self.plan):
            with concurrent.futures.ThreadPoolExecutor(len(lanes)) as pool:
                running = [pool.submit(self.lane, lane) for lane in lanes]
                try:
                    for one in running:
                        one.result()
                except KeyboardInterrupt:  # the terminal has sent it to the steps that run, too
                    self.interrupted = True
            if self.interrupted:
                return


def stretches(plan):
    """The plan's parts, which are run one after the other. Each is a list of lanes, which are lists of steps."""
    for _, part in itertools.groupby(plan, lambda step: step.lane is None):
        part = list(part)
        lanes = dict.fromkeys(step.lane for step in part)
        yield [[step for step in part if step.lane == lane] for lane in lanes]


def minutes(plan):
    """How long a plan takes: of lanes that run side by side, the longest counts."""
    return sum(max(sum(step.minutes for step in lane) for lane in lanes) for lanes in stretches(plan))


def duration(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def table(outcomes, seconds):
    """The table of what became of each step, as lines, and "N passed, N failed, N skipped". All took so many seconds."""
    width = max(len(name) for name in outcomes)
    lines = [f"{'STEP':{width}}  PASSED  FAILED  SKIPPED    TIME"]
    for name, outcome in outcomes.items():
        counts = [len(outcome.passed), len(outcome.failed), len(outcome.skipped)]
        if sum(counts) == 0:
            lines.append(f"{name:{width}}  {outcome.status:>23}  {duration(outcome.seconds):>6}")
        else:
            lines.append(f"{name:{width}}  {counts[0]:6}  {counts[1]:6}  {counts[2]:7}  {duration(outcome.seconds):>6}")
    totals = [sum(len(getattr(outcome, what)) for outcome in outcomes.values()) for what in ("passed", "failed", "skipped")]
    lines.append(f"{'all':{width}}  {totals[0]:6}  {totals[1]:6}  {totals[2]:7}  {duration(seconds):>6}")

    def listed(title, rows):
        return ["", title, *(f"  {row}" for row in rows)] if rows else []

    def preset(step):
        return step.split(":")[0]

    lines += listed("Failed", [f"{name if name == step else f'{preset(step)}: {name}'}"
                               for step, outcome in outcomes.items() for name in outcome.failed])
    lines += listed("Not run", [step for step, outcome in outcomes.items() if outcome.status == "not run"])
    lines += listed("Skipped", [f"{name if name == step else f'{preset(step)}: {name}'}: {why}"
                                for step, outcome in outcomes.items() for name, why in outcome.skipped])
    lines += listed("Skipped in part", [f"{preset(step)}: {name}: {cases} of its cases"
                                        for step, outcome in outcomes.items() for name, cases in outcome.partly])
    longest = sorted(((seconds, f"{preset(step)}: {name}") for step, outcome in outcomes.items()
                      for name, seconds in outcome.passed), reverse=True)[:8]
    lines += listed("Longest tests", [f"{seconds:6.1f} s  {name}" for seconds, name in longest])
    return lines, f"{totals[0]} passed, {totals[1]} failed, {totals[2]} skipped"


def announce(plan):
    print(f"{len(plan)} steps, about {minutes(plan):.0f} minutes on two cores:")
    for number, step in enumerate(plan, 1):
        print(f"  {number:2}  {step.name:20}  {step.minutes:4.1f} min{', side by side: ' + step.lane if step.lane else ''}")
    print("Missing packages are installed with apt, which may upgrade others.", flush=True)


def main():
    plan = steps("--all" in sys.argv[1:])
    announce(plan)
    if "--steps" in sys.argv[1:]:
        return 0
    (ROOT / "build").mkdir(exist_ok=True)
    steps_run, begin = Run(plan), time.monotonic()
    try:
        steps_run.all()
    finally:
        # The owner of the checkout can then go on building in it.
        subprocess.run(["chown", "-R", "--reference=.", "build"], cwd=ROOT, check=False)
    outcomes = steps_run.outcomes
    for preset in ("release", "dev"):
        if outcomes.get(f"{preset}: build", Outcome()).status == "ok":
            print(f"\nWhere the {preset} build's time went", flush=True)
            subprocess.run(["tests/bench/build_time.py", f"build/{preset}", "--most", "5"], cwd=ROOT, check=False)
    lines, totals = table(outcomes, time.monotonic() - begin)
    print("", *lines, "", totals, sep="\n", flush=True)
    if steps_run.interrupted:
        return 130
    return 1 if any(outcome.failed or outcome.status == "not run" for outcome in outcomes.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
