#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A disk of known service time, with an ext4 on it, until SIGTERM.

    slow_disk.py DIRECTORY MICROSECONDS [AT_ONCE]    mounts it on DIRECTORY/disk
"""
import contextlib
import os
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import fix_cases  # noqa: E402
from predicted_gains import loop  # noqa: E402


def main():
    directory, service_us, at_once = sys.argv[1], int(sys.argv[2]), int((sys.argv + ["1"])[3])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # undoes what was done
    with contextlib.ExitStack() as undo:
        disk = undo.enter_context(loop.SlowDisk(fix_cases.compiled_slow_file(directory), directory, 256, service_us, at_once))
        undo.enter_context(loop.mounted_ext4(disk.device, os.path.join(directory, "disk")))
        while True:
            time.sleep(60)


main()
