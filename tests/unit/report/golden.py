#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""golden.py RENDER [--update] [NAME...]

Renders text traces and compares with tests/unit/report/NAME.expected. --update writes these files instead: read them
before committing. RENDER is the executable report_render.
"""

import difflib
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TRACES = HERE.parents[1] / "traces"

CASES = {
    "figure1": (TRACES / "figure1.txt", ["--explain"]),
    "figure1-verbose-narrow": (TRACES / "figure1.txt", ["-v", "--explain", "--width", "72"]),
    "figure1-ascii": (TRACES / "figure1.txt", ["--ascii", "--width", "60"]),
    "figure1-color": (TRACES / "figure1.txt", ["--color"]),
    "figure3": (TRACES / "figure3.txt", ["--explain"]),
    "lock-convoy": (TRACES / "lock-convoy.txt", []),
    "lock-convoy-no-merge": (TRACES / "lock-convoy.txt", ["--no-merge"]),
    "hostile-names": (TRACES / "hostile-names.txt", ["--explain"]),
    "open-ends": (TRACES / "open-ends.txt", []),
    "disks": (HERE / "disks.txt", []),
    "blocked-samples-case1": (TRACES / "blocked-samples-case1.txt", ["--explain"]),
    "barrier": (TRACES / "barrier.txt", []),
    "idle": (HERE / "idle.txt", []),
    "herd": (HERE / "herd.txt", ["--no-merge"]),
    "herd-kept": (HERE / "herd.txt", ["--no-merge", "--keep-false-wakeups"]),
    "requests": (HERE / "requests.txt", ["--explain"]),
    "remote-service": (HERE / "remote-service.txt", ["--explain"]),
    "samples": (HERE / "samples.txt", []),
    "processes": (HERE / "processes.txt", []),
    "functions": (HERE / "functions.txt", ["--functions"]),
    "functions-narrow": (HERE / "functions.txt", ["--functions", "--width", "80", "--ascii"]),
    "threads": (HERE / "functions.txt", ["--threads"]),
    "files": (HERE / "files.txt", ["--files"]),
    "files-narrow": (HERE / "files.txt", ["--files", "--width", "72", "--ascii"]),
    "goroutines": (HERE / "goroutines.txt", []),
    "files-report": (HERE / "files.txt", []),
    "refined": (HERE / "refined.txt", ["--explain"]),
}


def main():
    arguments = sys.argv[1:]
    update = "--update" in arguments
    render, *names = [argument for argument in arguments if argument != "--update"]
    failed = False
    for name in names or CASES:
        trace, options = CASES[name]
        with tempfile.NamedTemporaryFile() as output:
            subprocess.run([render, trace, output.name, *options], check=True)
            got = output.read().decode()
        expected = HERE / f"{name}.expected"
        if update:
            expected.write_text(got, encoding="utf-8")
            continue
        want = expected.read_text(encoding="utf-8") if expected.exists() else ""
        if got != want:
            failed = True
            sys.stdout.writelines(
                difflib.unified_diff(want.splitlines(True), got.splitlines(True), str(expected), "now")
            )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
