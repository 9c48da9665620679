#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the judge that may lie beside the checkout on the first program of each of its families: shared_test.py OFFWAIT.

Its programs and simulator were not made with this project. Exits with 77 where there is none."""

import pathlib
import subprocess
import sys

JUDGE = pathlib.Path(__file__).resolve().parents[3] / "shared" / "truth" / "judge.py"


def main():
    if not JUDGE.exists():
        print(f"skipped: there is no {JUDGE}")
        return 77
    return subprocess.run([sys.executable, "-B", JUDGE, sys.argv[1], "all", "0", "0"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
