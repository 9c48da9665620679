# SPDX-License-Identifier: GPL-2.0-or-later
"""Disks of a test's own: loop devices."""
import contextlib
import os
import subprocess

SECTOR = 512


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@contextlib.contextmanager
def attached(path):
    """A loop device over this file; its name without /dev/."""
    device = run("losetup", "--find", "--show", path)
    try:
        yield os.path.basename(device)
    finally:
        run("losetup", "--detach", device)


@contextlib.contextmanager
def loop_device(directory, mebibytes):
    """A loop device over a new file; its name without /dev/."""
    path = os.path.join(directory, "disk.img")
    with open(path, "wb") as file:
        file.truncate(mebibytes << 20)
    try:
        with attached(path) as device:
            yield device
    finally:
        os.unlink(path)


@contextlib.contextmanager
def mounted_ext4(device, directory):
    run("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", "/dev/" + device)
    run("mount", "/dev/" + device, directory)
    try:
        yield
    finally:
        run("umount", directory)


def counters(device):
    """Requests and bytes of /sys/block/DEVICE/stat, which is its line of /proc/diskstats."""
    with open(f"/sys/block/{device}/stat", encoding="ascii") as file:
        fields = [int(word) for word in file.read().split()]
    return fields[0] + fields[4] + fields[11] + fields[15], (fields[2] + fields[6] + fields[13]) * SECTOR
