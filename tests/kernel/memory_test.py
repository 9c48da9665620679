# SPDX-License-Identifier: GPL-2.0-or-later
"""What offwait says of a program that reads a file again and again, because its cgroup's memory has no room for it.

    memory_test.py OFFWAIT [test names]"""
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

import runner
from cgroup import mount, remove_when_empty

OFFWAIT = sys.argv[1]
FILE_BYTES = 96 << 20
LIMIT_BYTES = 40 << 20

# Reads pages of a file in no order.
READER = r"""
import os, random, sys
file = os.open(sys.argv[1], os.O_RDONLY)
pages = os.fstat(file).st_size // 4096
os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)
while True:
    os.pread(file, 4096, 4096 * random.randrange(pages))
"""


def memory_hierarchy():
    """(directory, name of the file with the limit) where cgroups have the controller of memory; None if nowhere."""
    with open("/proc/self/mountinfo", encoding="utf-8") as lines:
        for line in lines:
            if " - cgroup " in line and "memory" in line.split()[-1].split(","):
                return line.split()[4], "memory.limit_in_bytes"
    v2 = mount()
    if v2 and "memory" in open(v2 + "/cgroup.subtree_control", encoding="ascii").read().split():
        return v2, "memory.max"
    return None


@unittest.skipIf(memory_hierarchy() is None, "cgroups here have no controller of memory")
class MemoryTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(dir="/var/tmp")
        self.addCleanup(self.directory.cleanup)
        self.file = os.path.join(self.directory.name, "data")
        with open(self.file, "wb") as file:
            for _ in range(FILE_BYTES >> 20):
                file.write(os.urandom(1 << 20))
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def limited(self, limit):
        """A reader in a cgroup of its own with this limit, and the cgroup's name."""
        root, limit_file = memory_hierarchy()
        name = f"/offwait-memory-{os.getpid()}"
        os.mkdir(root + name)
        self.addCleanup(remove_when_empty, root + name)
        with open(f"{root}{name}/{limit_file}", "w", encoding="ascii") as file:
            file.write(str(limit))
        reader = subprocess.Popen(
            ["/bin/sh", "-c", f'echo $$ > "$1/cgroup.procs"; exec {sys.executable} -c "$2" "$3"', "sh", root + name, READER,
             self.file])
        self.addCleanup(reader.wait)
        self.addCleanup(reader.kill)
        return reader.pid, name

    def report(self, pid):
        done = subprocess.run([OFFWAIT, "-q", "-p", str(pid), "-d", "3s", "--json", "-"], check=True, capture_output=True,
                              text=True)
        return json.loads(done.stdout)

    def test_a_limit_that_makes_a_program_read_again(self):
        pid, name = self.limited(LIMIT_BYTES)
        time.sleep(4)  # until the file was read once
        report = self.report(pid)
        memory = report["memory"]
        self.assertEqual((memory["cgroup"], memory["limit_bytes"]), (name, LIMIT_BYTES), memory)
        self.assertGreater(memory["reached"], 100)
        self.assertLessEqual(memory["used_bytes"], LIMIT_BYTES)
        self.assertGreater(memory["read_bytes"], 1 << 20)
        self.assertGreater(memory["read_again"], 0.9, memory)
        self.assertLess(memory["refault_bytes"], 1.5 * memory["read_bytes"])
        self.assertFalse(memory["of_all_programs"])
        self.assertIn(f"cgroup {name} may use 41.9 MB", memory["sentence"])
        if report["totals"]["waits_for"].get("disk", 0) >= 0.03:
            self.assertIn("memory", report["screen"]["sections"])

    def test_a_limit_that_has_room_for_the_file(self):
        pid, _ = self.limited(3 * FILE_BYTES)
        time.sleep(1)
        report = self.report(pid)
        memory = report["memory"]
        self.assertTrue(memory is None or memory["cgroup"] is None, memory)
        self.assertNotIn("memory", report["screen"]["sections"])


if __name__ == "__main__":
    sys.exit(runner.run(sys.argv[2:]))
