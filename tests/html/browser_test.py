#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages of offwait report --html in a browser (pages.test.mjs). Needs node, npm and chromium, or another browser that
OFFWAIT_BROWSER names: firefox-esr. The environment variable OFFWAIT names the executable."""

import os
import pathlib
import shutil
import subprocess
import sys

import node

TRACES = ("barrier", "figure1", "figure3", "hostile-names", "lock-convoy", "open-ends")
REPORTED = ("files", "functions", "processes")  # in tests/unit/report
HERE = pathlib.Path(__file__).resolve().parent


def write_pages(directory):
    """NAME.html and NAME.json of each trace and recording."""
    offwait = os.environ["OFFWAIT"]
    recordings = {name: node.ROOT / "tests" / "traces" / f"{name}.txt" for name in TRACES}
    recordings |= {name: node.ROOT / "tests" / "unit" / "report" / f"{name}.txt" for name in REPORTED}
    recordings |= {file.stem: file for file in (node.ROOT / "tests" / "recordings").glob("*.offwait")}
    for name, file in recordings.items():
        subprocess.run([offwait, "report", file, "--html", directory / f"{name}.html", "--json", directory / f"{name}.json"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    reports = node.ROOT / "tests" / "unit" / "report"
    sides = [[reports / f"diff-{side}-{number}.txt" for number in (1, 2, 3)] for side in ("before", "after")]
    subprocess.run([offwait, "diff", "--html", directory / "diff.html", "--json", directory / "diff.json", *sides[0], "--",
                    *sides[1]], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return recordings


def main():
    browser = os.environ.get("OFFWAIT_BROWSER", "chromium")
    node.require("node", "npm", browser)
    directory = node.packages(HERE, "browser")
    pages = directory / "pages"
    pages.mkdir()
    names = write_pages(pages)
    tests = subprocess.run(["node", "--test", "pages.test.mjs"], cwd=directory, check=False,
                           env={**os.environ, "PAGES": str(pages), "NAMES": " ".join(sorted(names)),
                                "BROWSER": shutil.which(browser), "KIND": "firefox" if "firefox" in browser else "chrome"})
    return tests.returncode


if __name__ == "__main__":
    sys.exit(main())
