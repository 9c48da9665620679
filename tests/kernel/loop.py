# SPDX-License-Identifier: GPL-2.0-or-later
"""Loop devices, which are disks that only one test uses."""
import contextlib
import os
import subprocess
import time

SECTOR = 512


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@contextlib.contextmanager
def attached(path, *options):
    """Makes a loop device over this file; yields its name without /dev/."""
    device = run("losetup", "--find", "--show", *options, path)
    try:
        yield os.path.basename(device)
    finally:
        run("losetup", "--detach", device)


@contextlib.contextmanager
def loop_device(directory, mebibytes):
    """Makes a loop device over a new file; yields its name without /dev/."""
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


class SlowDisk:
    """A loop device whose requests are served one at a time, or `at_once`, in a known time, past any cache (slow_file.cpp)."""

    def __init__(self, slow_file, directory, mebibytes, service_us, at_once=1):
        self.mount = os.path.join(directory, "slow")
        os.mkdir(self.mount)
        with contextlib.ExitStack() as undo:
            undo.callback(os.rmdir, self.mount)
            server = subprocess.Popen([slow_file, self.mount, str(mebibytes << 20), str(service_us), str(at_once)],
                                      stderr=subprocess.DEVNULL)
            undo.callback(server.wait)
            while not os.path.ismount(self.mount):
                if server.poll() is not None:
                    raise AssertionError("no FUSE file system")
                time.sleep(0.01)
            undo.callback(run, "umount", self.mount)
            self.device = undo.enter_context(attached(os.path.join(self.mount, "disk"), "--direct-io=on"))
            self.undo = undo.pop_all()

    def served(self):
        """(number of requests, seconds that they took)."""
        with open(os.path.join(self.mount, "served"), encoding="ascii") as file:
            requests, busy_ns = file.read().split()
        return int(requests), int(busy_ns) / 1e9

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.undo.close()


def counters(device):
    """Requests and bytes of /sys/block/DEVICE/stat, which is its line of /proc/diskstats."""
    with open(f"/sys/block/{device}/stat", encoding="ascii") as file:
        fields = [int(word) for word in file.read().split()]
    return fields[0] + fields[4] + fields[11] + fields[15], (fields[2] + fields[6] + fields[13]) * SECTOR


def service_seconds(device):
    """The same for reads and writes together, from /sys/block/DEVICE/stat."""
    with open(f"/sys/block/{device}/stat", encoding="ascii") as file:
        fields = [int(word) for word in file.read().split()]
    return (fields[3] + fields[7]) / 1000
