# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the tests of the program that imports it."""
import os
import re
import shutil
import sys
import unittest

SKIP = 77  # ctest's SKIP_RETURN_CODE
ATTEMPTS = 3


def missing_tools(tools):
    return [tool for tool in tools if shutil.which(tool) is None]


def missing(tools=()):
    """What this machine lacks of these programs and of the needs of every recording; empty if it lacks nothing."""
    lacks = missing_tools(tools)
    if os.geteuid() != 0:
        lacks.append("root")
    if not os.path.exists("/sys/kernel/btf/vmlinux"):
        lacks.append("a kernel with BTF")
    return lacks


def run(names, tools=()):
    """Runs the tests with these names, or all if there are no names, and returns the exit status. A host that takes its CPUs
    away for milliseconds can spoil a recording, while a fault of the recorder repeats itself. So a failure counts when it
    happens in each of three recordings."""
    if lacks := missing(tools):
        print(f"skipped: {', '.join(lacks)} missing")
        return SKIP
    loader, module = unittest.defaultTestLoader, sys.modules["__main__"]
    suite = loader.loadTestsFromNames(names, module) if names else loader.loadTestsFromModule(module)
    for attempt in range(1, ATTEMPTS + 1):
        result = unittest.TextTestRunner(verbosity=2).run(suite)
        if result.wasSuccessful():
            return SKIP if result.skipped and not result.testsRun else 0
        names = {getattr(test, "test_case", test).id() for test, _ in result.failures + result.errors}
        failed = sorted({re.sub(r"^setUpClass \((.*)\)$", r"\1", name).removeprefix("__main__.") for name in names})
        print(f"attempt {attempt} of {ATTEMPTS}: {len(failed)} failed: {', '.join(failed)}", flush=True)
        suite = loader.loadTestsFromNames(failed, module)
    return 1
