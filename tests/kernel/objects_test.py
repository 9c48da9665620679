# SPDX-License-Identifier: GPL-2.0-or-later
"""What threads wait for: locks at known addresses, with known holders, and files of which a program knows what it wrote.

    objects_test.py OFFWAIT PLANTED_LOCKS"""
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import recording
import runner
from loop import loop_device, mounted_ext4

OFFWAIT, LOCKS = sys.argv[1], sys.argv[2]
RIGHT = 0.99
FEWEST = 30  # waits for one lock, of the 200 times that it is taken


def waits_by_object(dump):
    waits = collections.defaultdict(list)
    for wait in dump.waits:
        if wait.object is not None:
            waits[wait.object].append(wait)
    return waits


class LocksTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # What is checked is every single wait's stack, also of the few short ones at a place where chance took none.
        with recording.recorded(OFFWAIT, LOCKS, ["locks"], extra=["--max-overhead", "off"]) as (dump, truths, pid):
            cls.run_ = recording.Run(recording.Dump(dump), truths, pid)
            report = subprocess.run([OFFWAIT, "report", dump, "--json", "-", "--progress", "comm:planted_locks*"],
                                    stdout=subprocess.PIPE, check=True)
        cls.rows = json.loads(report.stdout)["locks"]["rows"]
        cls.waits = waits_by_object(cls.run_.dump)
        cls.truths = {truth["lock"]: truth for truth in cls.run_.truths}

    def objects(self, **keys):
        """The numbers of the objects that have all of these keys."""
        return [number for number, found in self.run_.dump.objects.items()
                if all(found.get(key) == str(value) for key, value in keys.items())]

    def check_holders(self, waits, truth):
        """Each waiting thread waits for the other thread of the pair."""
        first, second = truth["tids"]
        other = {first: second, second: first}
        of_pair = [wait for wait in waits if wait.tid in other]
        self.assertGreaterEqual(len(of_pair), FEWEST, truth)
        right = sum(wait.holder == other[wait.tid] for wait in of_pair)
        self.assertGreaterEqual(right, RIGHT * len(of_pair), truth)

    def test_mutexes_of_one_process(self):
        checked = 0
        for name, truth in self.truths.items():
            if name != "static" and not name.startswith("heap"):
                continue
            with self.subTest(lock=name):
                number, = self.objects(kind="futex", tgid=self.run_.pid, address=f"{truth['address']:x}")
                self.check_holders(self.waits[number], truth)
                checked += 1
        self.assertEqual(checked, 17)

    def test_kinds_of_locks(self):
        """Each kind is told, and nearly all of the time that was waited for it is for the other thread of the pair."""
        kinds = {"planted_static_lock": "mutex", "planted_std_mutex": "mutex", "planted_recursive_mutex": "mutex",
                 "planted_timed_mutex": "mutex", "planted_c11_mutex": "mutex", "planted_rwlock": "rwlock",
                 "planted_shared_mutex": "rwlock", "planted_semaphore": "semaphore", "planted_barrier": "barrier"}
        for name, kind in kinds.items():
            truth = self.truths["static" if name == "planted_static_lock" else name]
            with self.subTest(lock=name):
                rows = [row for row in self.rows if row["name"].split("+")[0].split(" ")[0] == name]
                self.assertEqual({row["kind"] for row in rows}, {kind})
                objects = self.objects(kind="futex", symbol=name)
                self.assertEqual(len(objects), len(rows))
                waits = [wait for number in objects for wait in self.waits[number]]
                first, second = truth["tids"]
                other = {first: second, second: first}
                self.assertGreaterEqual(len(waits), FEWEST)
                self.assertLessEqual({wait.tid for wait in waits}, set(other))
                by_other = sum((wait.holder or wait.waker) in (other[wait.tid], f"thread:{other[wait.tid]}")
                               for wait in waits)
                self.assertGreaterEqual(by_other, RIGHT * len(waits))
                if kind == "mutex":
                    self.check_holders(waits, truth)

    def test_a_static_lock_has_its_name(self):
        lock, = self.objects(kind="futex", symbol="planted_static_lock")
        found = self.run_.dump.objects[lock]
        self.assertEqual((found["module"], found.get("offset")), (os.path.basename(LOCKS), None))
        self.assertEqual(int(found["address"], 16), self.truths["static"]["address"])

    def test_a_lock_in_shared_memory_is_one_for_both_processes(self):
        truth = self.truths["shared"]
        number, = self.objects(kind="futex", file_offset=truth["address"], path="/memfd:planted")
        # Where other programs use the CPUs, it may be always the same of the two that waits.
        waits = self.waits[number]
        self.assertLessEqual({wait.tid for wait in waits}, set(truth["tids"]))
        self.check_holders(waits, truth)

    def test_words_side_by_side_are_two_locks_without_owners(self):
        for name in "word 0", "word 1":
            truth = self.truths[name]
            number, = self.objects(kind="futex", tgid=self.run_.pid, address=f"{truth['address']:x}")
            waits = self.waits[number]
            self.assertGreaterEqual(len(waits), FEWEST)
            self.assertLessEqual({wait.tid for wait in waits}, set(truth["tids"]))
            self.assertEqual({wait.holder for wait in waits}, {None})

    def test_the_two_words_of_a_condition_variable_are_one_object(self):
        truth = self.truths["condition"]
        size = 48  # sizeof(pthread_cond_t)
        inside = [number for number, found in self.run_.dump.objects.items()
                  if found["kind"] == "futex" and int(found.get("tgid", 0)) == self.run_.pid
                  and truth["address"] <= int(found.get("address", "0"), 16) < truth["address"] + size]
        self.assertEqual(len(inside), 1, inside)
        self.assertGreaterEqual(len(self.waits[inside[0]]), 30)

    def test_lock_of_an_address_space(self):
        number, = self.objects(kind="kernel_lock", symbol="mmap_lock", tgid=self.run_.pid)
        self.assertEqual(self.run_.dump.objects[number]["lock"], "rwsem")
        waits = self.waits[number]
        self.assertGreaterEqual(len([w for w in waits if w.tid in self.truths["mmap_lock"]["tids"]]), FEWEST)
        self.assertEqual({wait.cls for wait in waits}, {"lock"})
        # Every wait for it is in a function that takes it, and every wait in such a function is for it.
        for wait in waits:
            self.assertIn("rwsem_down_", wait.stack)
        in_calls = [w for w in self.run_.dump.waits if "rwsem_down_" in w.stack and "_mmap" in w.stack
                    and w.tid in self.truths["mmap_lock"]["tids"]]
        self.assertEqual({wait.object for wait in in_calls}, {number})


class FilesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.mkdtemp(dir="/dev/shm")
        cls.addClassCleanup(shutil.rmtree, directory)
        mount = os.path.join(directory, "mnt")
        os.mkdir(mount)
        workload = pathlib.Path(__file__).with_name("planted_files.py")
        with loop_device(directory, 64) as cls.device, mounted_ext4(cls.device, mount):
            cls.run_ = recording.record(OFFWAIT, sys.executable, [str(workload), mount])
        cls.files = {number: found for number, found in cls.run_.dump.objects.items() if found["kind"] == "file"}

    def numbers_of(self, truth):
        return [number for number, found in self.files.items() if found.get("path") == truth["file"]]

    def truths(self, *how):
        found = [truth for truth in self.run_.truths if truth["how"] in how]
        self.assertTrue(found)
        return found

    def test_bytes_by_file_and_direction(self):
        said = collections.Counter()
        for truth in self.truths("fdatasync", "direct", "read", "fault"):
            said[truth["file"], "read" if truth["how"] in ("read", "fault") else "write"] += truth["bytes"]
        got = collections.Counter()
        for _, keys in self.run_.dump.ios:
            if "file" in keys and keys["disk"] == self.device:
                got[self.run_.dump.objects[keys["file"]].get("path"), keys["op"]] += int(keys["bytes"])
        for (path, way), size in said.items():
            with self.subTest(path=path, way=way):
                self.assertAlmostEqual(got[path, way] / size, 1, delta=0.02)

    def test_a_renamed_file_has_its_new_name_and_a_deleted_one_says_so(self):
        for truth in self.truths("fdatasync"):
            with self.subTest(file=truth["file"]):
                number, = self.numbers_of(truth)
                self.assertEqual(self.files[number].get("deleted"), "yes" if truth["deleted"] else None)
        self.assertEqual([f for f in self.files.values() if f.get("path", "").endswith("/old")], [])

    def test_waits_in_calls_and_faults_are_for_their_file(self):
        for truth in self.truths("fdatasync", "direct", "read", "fault", "pipe"):
            cls = {"fault": "fault", "pipe": "pipe"}.get(truth["how"], "disk")
            with self.subTest(**truth):
                numbers = self.numbers_of(truth)
                waits = [w for w in self.run_.dump.waits if w.tid == truth["tid"] and w.cls == cls]
                of_file = [w for w in waits if w.object in numbers]
                self.assertGreaterEqual(len(of_file), 50)
                if truth["how"] in ("fdatasync", "pipe"):
                    self.assertGreaterEqual(len(of_file), RIGHT * len(waits))

    def test_the_journal_is_told_from_data(self):
        journals = [number for number, found in self.run_.dump.objects.items() if found["kind"] == "journal"]
        minor = int(self.device.removeprefix("loop"))
        journal, = [number for number in journals if self.run_.dump.objects[number]["dev"].endswith(f":{minor}")
                    and self.run_.dump.objects[number]["dev"].startswith("7:")]
        writers = {tid for tid, keys in self.run_.dump.ios if keys.get("file") == journal}
        names = {str(thread.tid): thread.comm for thread in self.run_.dump.threads}
        self.assertEqual({names[tid].split("/")[0] for tid in writers}, {"jbd2"})


def has_tracepoint():
    return any(os.path.exists(f"/sys/kernel/{place}/tracing/events/lock/contention_begin") for place in ("debug", ".")) or \
        b"btf_trace_contention_begin" in open("/sys/kernel/btf/vmlinux", "rb").read()


if __name__ == "__main__":
    if not has_tracepoint():
        LocksTest.test_lock_of_an_address_space = unittest.skip("no tracepoint contention_begin")(
            LocksTest.test_lock_of_an_address_space)
    sys.exit(runner.run(sys.argv[3:]))
