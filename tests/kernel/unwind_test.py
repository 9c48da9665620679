# SPDX-License-Identifier: GPL-2.0-or-later
"""User stacks of programs without frame pointers, compared with gdb's, address by address.

    unwind_test.py OFFWAIT RECORD_PCS BLOCKED_PLACES SLOW_FILE|- [test names]"""
import contextlib
import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import runner

OFFWAIT, RECORD_PCS, BLOCKED_PLACES, SLOW_FILE = sys.argv[1:5]
ROOT, DEEP = 0, 1  # enum offwait_stack_end
MOST_FRAMES = 128

# Inlined functions and tail calls have no frame of their own, so they are left out.
GDB_WALK = """
import gdb
for thread in gdb.selected_inferior().threads():
    thread.switch()
    frame, pcs = gdb.newest_frame(), []
    while frame is not None and len(pcs) < 2000:
        if frame.type() in (gdb.NORMAL_FRAME, gdb.SIGTRAMP_FRAME):
            pcs.append(frame.pc())
        frame = frame.older()
    print("STACK", thread.ptid[1], " ".join(f"{pc:x}" for pc in pcs))
"""


def stacks_by_gdb(pid):
    """{tid: addresses, leaf first}"""
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(GDB_WALK)
        script.flush()
        out = subprocess.run(["gdb", "-batch", "-nx", "-ex", "set debuginfod enabled off",
                              "-ex", "set backtrace past-main on", "-ex", "set backtrace past-entry on",
                              "-p", str(pid), "-x", script.name],
                             capture_output=True, text=True, check=True).stdout
    return {int(tid): [int(pc, 16) for pc in pcs]
            for _, tid, *pcs in (line.split() for line in out.splitlines() if line.startswith("STACK "))}


def is_called(pid, name):
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8") as comm:
            return comm.read() == name + "\n"
    except OSError:
        return False


class Recorded:
    """Runs record_pcs on a process; stop() returns {tid: (end, how, addresses)}."""

    def __init__(self, pid):
        self.process = subprocess.Popen([RECORD_PCS, str(pid)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.attach = self.process.stdout.readline()
        assert self.attach.startswith("recording"), self.attach

    def stop(self):
        out, _ = self.process.communicate("\n")
        stacks = {}
        for tid, end, how, *pcs in (line.split() for line in out.splitlines()):
            stacks[int(tid)] = (int(end), how, [int(pc, 16) for pc in pcs])
        return stacks


@contextlib.contextmanager
def slow_file(service_us):
    """Yields the path of a file whose fsync takes this long."""
    with tempfile.TemporaryDirectory() as directory:
        server = subprocess.Popen([SLOW_FILE, directory, "4096", str(service_us)])
        path = os.path.join(directory, "disk")
        try:
            while not os.path.exists(path):
                time.sleep(0.01)
            yield path
        finally:
            server.kill()  # the requests that it has not served do not matter
            server.wait()
            subprocess.run(["umount", "-l", directory], check=True)


@contextlib.contextmanager
def blocked_places(*arguments, within=()):
    """Starts blocked_places and yields (pid, begin). begin() lets it go and returns {name: tid} when all threads are blocked."""
    process = subprocess.Popen([*within, BLOCKED_PLACES, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               text=True)
    pid = int(process.stdout.readline())

    def begin():
        process.stdin.write("\n")
        process.stdin.flush()
        tids = {}
        while (line := process.stdout.readline()) != "blocked\n":
            name, tid = line.split()
            tids[name] = int(tid)
        return tids

    try:
        yield pid, begin
    finally:
        process.communicate("\n")


class UnwindTest(unittest.TestCase):
    def compare(self, ours, gdb, tids):
        for name, tid in tids.items():
            with self.subTest(thread=name):
                end, _, pcs = ours[tid]
                if len(gdb[tid]) > MOST_FRAMES:
                    self.assertEqual((end, pcs), (DEEP, gdb[tid][:MOST_FRAMES]))
                else:
                    self.assertEqual((end, pcs), (ROOT, gdb[tid]))

    def test_hard_places(self):
        with blocked_places() as (pid, begin):
            switched = Recorded(pid)
            tids = begin()
            switched = switched.stop()
            found = Recorded(pid).stop()
            gdb = stacks_by_gdb(pid)
        # The first recorder saw the threads go to sleep and walked their stacks in the kernel. The second one found them asleep
        # and walked them in user space.
        self.assertEqual({switched[tid][1] for tid in tids.values()}, {"switch"})
        self.assertEqual({found[tid][1] for tid in tids.values()}, {"begin"})
        self.assertGreater(len(gdb[tids["deep"]]), 1000)
        self.compare(switched, gdb, tids)
        self.compare(found, gdb, tids | {"main": pid})

    @unittest.skipIf(SLOW_FILE == "-", "libfuse3-dev missing")
    def test_fsync(self):
        with slow_file(service_us=700_000) as path, blocked_places(path) as (pid, begin):
            switched = Recorded(pid)
            tids = {"fsync": begin()["fsync"]}
            switched = switched.stop()
            found = Recorded(pid).stop()
            gdb = stacks_by_gdb(pid)  # gdb has to wait for the call to return
        self.compare(switched, gdb, tids)
        self.compare(found, gdb, tids)

    def assert_deadlock(self, pid):
        report = json.loads(subprocess.run([OFFWAIT, "-p", str(pid), "-d", "500ms", "--json", "-", "-q", "--no-merge"],
                                           check=True, capture_output=True).stdout)
        self.assertEqual(report["stack_ends"]["complete_s"], report["totals"]["blocked_s"])
        names = {actor["id"]: actor["name"] for actor in report["actors"]}
        waits = {names[wait["actor"]]: wait for wait in report["open_waits"]}
        tids = {name: wait["tid"] for name, wait in waits.items()}
        self.assertEqual(set(waits), {"blocked_places", "first", "second", "third"})
        holders = {"first": ("second", True), "second": ("first", True), "third": ("first", False)}
        for name, (holder, deadlock) in holders.items():
            with self.subTest(thread=name):
                wait = waits[name]
                self.assertTrue(wait["throughout"])
                self.assertEqual((wait["holder"]["tid"], wait["holder"]["name"]), (tids[holder], holder))
                self.assertEqual(names[wait["holder"]["actor"]], holder)
                self.assertEqual(wait["deadlock"], deadlock)
                function = "third()" if name == "third" else "lock_both("
                self.assertTrue(any(f"::{function}" in frame for frame in wait["wait_stack"]), wait["wait_stack"])
        self.assertIsNone(waits["blocked_places"]["holder"])
        self.assertTrue(report["verdict"]["sentence"].startswith("Deadlock: "), report["verdict"]["sentence"])

    def test_deadlock(self):
        with blocked_places("deadlock") as (pid, begin):
            begin()
            self.assert_deadlock(pid)

    def test_deadlock_in_a_pid_namespace(self):
        """The mutexes name their owners by tids of the namespace."""
        with blocked_places("deadlock", within=["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]) as (inner, begin):
            begin()
            self.assertEqual(inner, 1)
            # `inner` is the pid in the namespace; this is the host's.
            pid, = (int(entry) for entry in os.listdir("/proc") if entry.isdigit() and is_called(entry, "blocked_places"))
            self.assert_deadlock(pid)

    @unittest.skipUnless(shutil.which("mariadbd"), "no mariadbd")
    def test_idle_mariadbd(self):
        with tempfile.TemporaryDirectory() as home:
            # mariadb-server-core has the program but does not make the user.
            user = "mysql" if any(entry.pw_name == "mysql" for entry in pwd.getpwall()) else "nobody"
            shutil.chown(home, user)
            data, socket = os.path.join(home, "data"), os.path.join(home, "socket")
            options = ["--no-defaults", f"--user={user}", f"--datadir={data}"]
            subprocess.run(["mariadb-install-db", *options, "--auth-root-authentication-method=normal"], check=True,
                           capture_output=True)
            server = subprocess.Popen(["mariadbd", *options, f"--socket={socket}", "--skip-networking"],
                                      stderr=subprocess.DEVNULL)
            try:
                for _ in range(300):
                    if os.path.exists(socket):
                        break
                    time.sleep(0.1)
                time.sleep(1)
                recorder = Recorded(server.pid)
                time.sleep(0.2)
                ours = recorder.stop()
                gdb = stacks_by_gdb(server.pid)
            finally:
                server.terminate()
                server.wait()
        print(f"mariadbd: {recorder.attach.strip()}, {len(ours)} threads")
        # A thread that waits with a time limit may be elsewhere by now.
        self.compare(ours, gdb, {str(tid): tid for tid in ours if ours[tid][1] == "begin" and tid in gdb})
        self.assertGreaterEqual(sum(how == "begin" for _, how, _ in ours.values()), 5)


if __name__ == "__main__":
    sys.exit(runner.run(sys.argv[5:], tools=["gdb"]))
