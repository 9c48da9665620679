# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs programs for the tests beside this file."""
import contextlib
import pathlib
import subprocess
import time

GUARD_S = 180  # against hanging only


def run(*command, **more):
    """Runs a command, which has to succeed, and returns its standard output."""
    result = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=GUARD_S, check=False, **more)
    if result.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: status {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


@contextlib.contextmanager
def sleeper(command=("/bin/sleep", "600")):
    """Runs a command line that becomes a sleeping process; yields its pid."""
    process = subprocess.Popen(command)
    try:
        while pathlib.Path(f"/proc/{process.pid}/comm").read_text() != "sleep\n":
            if process.poll() is not None:
                raise AssertionError(f"{command[0]} has ended")
            time.sleep(0.01)
        yield process.pid
    finally:
        process.kill()
        process.wait()
