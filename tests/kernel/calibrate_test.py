# SPDX-License-Identifier: GPL-2.0-or-later
"""`offwait calibrate`: what it does to a disk, what it stores, and that recordings on that disk alone use it. The test has a
/var/lib of its own.

    calibrate_test.py OFFWAIT [test names]"""
import datetime
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import runner
from loop import attached, counters, loop_device, mounted_ext4

OFFWAIT = sys.argv[1]
STORE = "/var/lib/offwait/disks.json"
EACH_S = 0.5
GUARD_S = 120
AS_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"]
READER = """
import mmap, os, sys
fd = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)
page = mmap.mmap(-1, 4096)
while os.getppid() == int(sys.argv[2]):
    os.preadv(fd, [page], 0)
"""


def calibrate(*arguments, wrapper=(), binary=OFFWAIT):
    return subprocess.run([*wrapper, binary, "calibrate", *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=GUARD_S, check=False)


def stored():
    with open(STORE, encoding="ascii") as file:
        return json.load(file)["disks"]


def content(path):
    with open(path, "rb") as file:
        return file.read()


def until(condition):
    end = time.monotonic() + GUARD_S
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("it did not happen")
        time.sleep(0.01)


class CalibrateTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(dir="/dev/shm")
        self.addCleanup(shutil.rmtree, self.directory)
        self.mount = os.path.join(self.directory, "mnt")
        os.mkdir(self.mount)
        shutil.rmtree(os.path.dirname(STORE), ignore_errors=True)

    def capacity(self, device, *options):
        """The entry of a report for the disk that a thread reads from."""
        path = os.path.join(self.directory, "report.json")
        reader = subprocess.Popen([sys.executable, "-c", READER, "/dev/" + device, str(os.getpid())])
        try:
            until(lambda: counters(device)[0] > 100)
            text = subprocess.run([OFFWAIT, "-p", str(reader.pid), "-d", "500ms", "--json", path, *options], check=True,
                                  capture_output=True, text=True)
        finally:
            reader.kill()
            reader.wait()
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
        disk, = [d for d in report["disks"] if report["actors"][d["actor"]]["name"] == device]
        return disk["capacity"], text

    def check_against_counters(self, claimed, ios, size):
        """Checks that the figures are at most what the kernel counted, and not much less: nothing else uses the disk."""
        claimed_ios = sum(one["ios_per_s"] for one in claimed) * EACH_S
        claimed_bytes = sum(one["bytes_per_s"] for one in claimed) * EACH_S + claimed_ios * 4096
        self.assertLessEqual(claimed_ios, ios)
        self.assertLessEqual(claimed_bytes, size)
        self.assertGreaterEqual(claimed_bytes, 0.5 * size)

    def test_device(self):
        image = os.path.join(self.directory, "disk.img")
        with loop_device(self.directory, 64) as device:
            with open(image, "r+b") as file:
                file.write(os.urandom(64 << 20))
            before, was = counters(device), content(image)
            result = calibrate("-d", f"{EACH_S}s", "/dev/" + device)
            self.assertEqual(result.returncode, 0, result.stderr)
            after = counters(device)
            self.assertEqual(result.stderr, f"offwait: calibrating disk {device}: reads /dev/{device} for 1.00 s, and "
                             "writes nothing\n")
            self.assertTrue(content(image) == was, "the device was written to")
            disk, = stored()
            self.assertEqual(disk["disk"], device)
            self.assertNotIn("write", disk)
            self.check_against_counters([disk["read"]], after[0] - before[0], after[1] - before[1])

            # The day may change between the calibration and here.
            days = {str(datetime.datetime.now(datetime.timezone.utc).date()), disk["measured_on"]}
            capacity, text = self.capacity(device)
            self.assertEqual(capacity["source"], "measured")
            self.assertIn(capacity["measured_on"], days)
            self.assertEqual((capacity["bytes_per_s"], capacity["ios_per_s"]),
                             (disk["read"]["bytes_per_s"], disk["read"]["ios_per_s"]))
            self.assertIn(f"(measured {capacity['measured_on']})", " ".join(text.stdout.split()))
            given, _ = self.capacity(device, "--disk-capacity", f"{device}=90G,90M")
            self.assertEqual((given["source"], given["ios_per_s"], given["measured_on"]), ("given", 90e6, None))

            # Another disk of the same size is not taken for this one; this one is recognised under another name.
            other = os.path.join(self.directory, "other.img")
            shutil.copy(image, other)
            with attached(other) as another:
                self.assertEqual(self.capacity(another)[0]["source"], "assumed")
            os.unlink(other)
            with attached(image) as again:
                self.assertNotEqual(again, device)
                self.assertEqual(self.capacity(again)[0]["source"], "measured")

            with open(STORE, "w", encoding="ascii") as file:
                file.write("rubbish")
            capacity, text = self.capacity(device)
            self.assertEqual(capacity["source"], "assumed")
            self.assertIn(f"offwait: cannot use the measured capacities in {STORE}: ", text.stderr)

    def test_path(self):
        size = 8_000_000
        with loop_device(self.directory, 64) as device, mounted_ext4(device, self.mount):
            with open(os.path.join(self.mount, "file"), "wb") as file:
                file.write(b"mine")
            before = counters(device)
            result = calibrate("-d", f"{EACH_S}s", "--size", "8M", os.path.join(self.mount, "file"))
            self.assertEqual(result.returncode, 0, result.stderr)
            after = counters(device)
            self.assertEqual(result.stderr, f"offwait: calibrating disk {device}: writes a file of 8 MB in {self.mount}, "
                             "reads it and removes it; takes up to 3.00 s\n")
            self.assertEqual(sorted(os.listdir(self.mount)), ["file", "lost+found"])
            self.assertEqual(content(os.path.join(self.mount, "file")), b"mine")
            disk, = stored()
            self.check_against_counters([disk["read"], disk["write"]], after[0] - before[0],
                                        after[1] - before[1] - size // 2)
            capacity, _ = self.capacity(device)
            self.assertEqual(capacity["source"], "measured")
            for what in ("bytes_per_s", "ios_per_s"):
                self.assertEqual(capacity[what], max(disk["read"][what], disk["write"][what]))

    def test_nothing_is_left_when_it_ends_early(self):
        with loop_device(self.directory, 64) as device, mounted_ext4(device, self.mount):
            free = os.statvfs(self.mount).f_bavail
            for end, status, said in ((signal.SIGINT, 1, "offwait: interrupted: nothing was stored\n"),
                                      (signal.SIGTERM, 1, "offwait: interrupted: nothing was stored\n"),
                                      (signal.SIGKILL, -signal.SIGKILL, "")):
                before = counters(device)[0]
                process = subprocess.Popen([OFFWAIT, "calibrate", "-q", "-d", "1h", "--size", "8M", self.mount],
                                           stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                until(lambda before=before: counters(device)[0] > before + 1000)
                process.send_signal(end)
                out, errors = process.communicate(timeout=GUARD_S)
                self.assertEqual((process.returncode, out, errors), (status, "", said))
                self.assertEqual(os.listdir(self.mount), ["lost+found"])
                until(lambda: os.statvfs(self.mount).f_bavail == free)
                self.assertFalse(os.path.exists(STORE))

    def fails(self, message, *arguments, **more):
        result = calibrate(*arguments, **more)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (1, "", f"offwait: {message}\n"))
        self.assertFalse(os.path.exists(STORE))

    def test_mistakes(self):
        self.fails("there is no '/nonexistent'", "/nonexistent")
        self.fails("there is no '/dev/null/x'", "/dev/null/x")
        self.fails("'/dev/null' is neither a block device nor a directory or file on a disk", "/dev/null")
        self.fails("'/dev/shm' is on a file system without a disk of its own (tmpfs): name a directory of another one, "
                   "or the block device itself", "/dev/shm")
        for name in ("proc", "sys"):
            self.fails(f"'/{name}' is on a file system without a disk of its own ({name if name == 'proc' else 'sysfs'}"
                       "): name a directory of another one, or the block device itself", "/" + name)
        binary = os.path.join(self.directory, "offwait")
        shutil.copy(OFFWAIT, binary)
        os.chmod(self.directory, 0o755)
        with loop_device(self.directory, 64) as device, mounted_ext4(device, self.mount):
            free = os.statvfs(self.mount)
            result = calibrate(self.mount)
            self.assertRegex(result.stderr, f"^offwait: not enough room on '{self.mount}': [0-9.]+ MB are free, and a "
                             r"file of 1 GB shall leave as much free \(--size makes it smaller\)\n$")
            self.assertEqual(os.statvfs(self.mount).f_bavail, free.f_bavail)
            self.fails(f"only root may read '/dev/{device}': run offwait as root, for example with sudo", "/dev/" + device,
                       wrapper=AS_NOBODY, binary=binary)
            for what in ("write to", "create"):
                self.fails(f"cannot {what} /var/lib/offwait: Permission denied; run offwait as root, for example with sudo",
                           self.mount, wrapper=AS_NOBODY, binary=binary)
                shutil.rmtree(os.path.dirname(STORE), ignore_errors=True)
            subprocess.run(["mount", "-o", "remount,ro", self.mount], check=True)
            self.fails(f"cannot write in '{self.mount}': Read-only file system", "--size", "8M", self.mount)


TOOLS = ("losetup", "mkfs.ext4", "unshare", "setpriv")

if __name__ == "__main__":
    if not runner.missing(TOOLS) and os.environ.get("OFFWAIT_OWN_MOUNTS") is None:
        os.environ["OFFWAIT_OWN_MOUNTS"] = "yes"
        os.execvp("unshare", ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o mode=755 none /var/lib && exec "$@"', "sh",
                              sys.executable, *sys.argv])
    sys.exit(runner.run(sys.argv[2:], TOOLS))
