# SPDX-License-Identifier: GPL-2.0-or-later
"""Cgroups of a test's own."""
import os
import time


def mount():
    """Where cgroup v2 is mounted; None if it is not."""
    with open("/proc/self/mountinfo", encoding="utf-8") as lines:
        for line in lines:
            if " - cgroup2 " in line:
                return line.split()[4]
    return None


def remove_when_empty(directory):
    """Removes a cgroup once the processes in it have ended."""
    for _ in range(500):
        try:
            return os.rmdir(directory)
        except FileNotFoundError:
            return None
        except OSError:  # a process that exits
            time.sleep(0.01)
    raise AssertionError(f"{directory} is still in use")


class Cgroup:
    """A new cgroup in the root, or in the cgroup `in_`. At its end the cgroups below it are removed too, and their processes
    are killed."""

    def __init__(self, name=None, in_=None):
        self.name = f"{in_.name}/{name}" if in_ else f"/{name or 'offwait-test'}-{os.getpid()}"
        self.path = mount() + self.name
        os.mkdir(self.path)

    def write(self, file, text):
        with open(os.path.join(self.path, file), "w", encoding="ascii") as out:
            out.write(str(text))

    def add(self, pid):
        self.write("cgroup.procs", pid)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()

    def remove(self):
        directories = [directory for directory, _, _ in os.walk(self.path, topdown=False)]
        for directory in directories:
            remove_when_empty(directory)
