# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of node for the tests beside this file: where one is missing, a test is skipped, and says why."""

import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77
WORK = pathlib.Path(os.environ.get("OFFWAIT_HTML_WORK", ROOT / "build" / "html"))


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def require(*programs):
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        skip(f"{', '.join(missing)} missing (packaging/install-packages.sh html)")


def packages(source, name):
    """A copy of the directory with the packages of its lock file; the sources are new each time."""
    directory = WORK / name
    directory.mkdir(parents=True, exist_ok=True)
    for entry in directory.iterdir():
        if entry.name not in ("node_modules", "installed-lock.json"):
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    for entry in source.iterdir():
        if entry.name == "node_modules":
            continue
        copy = shutil.copytree if entry.is_dir() else shutil.copyfile
        copy(entry, directory / entry.name)
    lock, installed = directory / "package-lock.json", directory / "installed-lock.json"
    if installed.exists() and installed.read_bytes() == lock.read_bytes():
        return directory
    got = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=directory, check=False,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if got.returncode != 0:
        skip(f"npm cannot get its packages: {got.stdout.decode(errors='replace').strip().splitlines()[-1]}")
    shutil.copyfile(lock, installed)
    return directory
