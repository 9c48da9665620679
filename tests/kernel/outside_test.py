# SPDX-License-Identifier: GPL-2.0-or-later
"""What offwait says of a program that is limited by its peer: a slow client, or a service on this host or beyond it.

    outside_test.py OFFWAIT

"Beyond" is a network namespace behind a bridge that floods: each port gets a copy of the packet. The sender of a copy cannot
be followed, as if the packet had come through a wire."""
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import runner

OFFWAIT = sys.argv[1]
SECONDS = 2
HOST, BEYOND = "198.51.100.1", "198.51.100.2"

# Client and server each print their port. `work` is CPU time, `thought` is time asleep.
PEER = r"""
import select, socket, sys, time
side, address, port, work, thought, how = sys.argv[1:]
def compute():
    end = time.thread_time() + float(work)
    while time.thread_time() < end:
        pass
def receive(connection):
    if how == "poll":
        poll = select.poll()
        poll.register(connection, select.POLLIN)
        poll.poll()
    if not connection.recv(1):
        sys.exit()
on_unix = address.startswith("/")
def no_delay():
    if not on_unix:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
if side == "server":
    if on_unix:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(address)
        listener.listen()
    else:
        listener = socket.create_server((address, 0))
    print(0 if on_unix else listener.getsockname()[1], flush=True)
    connection, _ = listener.accept()
    no_delay()
    while True:
        receive(connection)
        compute()
        time.sleep(float(thought))
        connection.send(b"x")
else:
    if on_unix:
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(address)
    else:
        connection = socket.create_connection((address, int(port)))
    no_delay()
    print(0 if on_unix else connection.getsockname()[1], flush=True)
    while True:
        connection.send(b"x")
        receive(connection)
        compute()
        time.sleep(float(thought))
"""

# Calls itself offwait, and wakes the process that it forked before. That one prints its pid.
NAMESAKE = r"""
import ctypes, os, time
reader, writer = os.pipe()
if os.fork() == 0:
    while True:
        os.read(reader, 1)
        print(os.getpid(), flush=True)
ctypes.CDLL(None).prctl(15, b"offwait", 0, 0, 0)
while True:
    time.sleep(0.01)
    os.write(writer, b"x")
"""

# The first thread ends, another sleeps on.
WITHOUT_LEADER = r"""
import ctypes, threading, time
def sleep():
    time.sleep(0.2)
    print(threading.get_native_id(), flush=True)
    while True:
        time.sleep(0.01)
threading.Thread(target=sleep).start()
ctypes.CDLL(None).pthread_exit(None)
"""


def run(command):
    subprocess.run(command.split(), check=True, capture_output=True)


class OutsideTest(unittest.TestCase):
    @contextlib.contextmanager
    def beyond(self):
        """A network namespace `name` with the address BEYOND, seen from here as HOST's neighbour."""
        far, middle = f"owf{os.getpid()}", f"owm{os.getpid()}"
        near = f"ow{os.getpid()}"
        try:
            try:
                run(f"ip netns add {middle}")
                run(f"ip netns add {far}")
                run(f"ip link add {near} type veth peer name near netns {middle}")
                run(f"ip -n {middle} link add far type veth peer name wire netns {far}")
                run(f"ip -n {middle} link add other type veth peer name none")
                run(f"ip -n {middle} link add bridge type bridge")
                # The bridge's first port gets the packet itself, the others get copies.
                for port in ("other", "near", "far"):
                    run(f"ip -n {middle} link set {port} master bridge up")
                    run(f"ip -n {middle} link set {port} type bridge_slave learning off flood on")
                for device in ("none", "bridge"):
                    run(f"ip -n {middle} link set {device} up")
                run(f"ip addr add {HOST}/30 dev {near}")
                run(f"ip link set {near} up")
                run(f"ip -n {far} addr add {BEYOND}/30 dev wire")
                run(f"ip -n {far} link set wire up")
            except (OSError, subprocess.CalledProcessError) as error:
                self.skipTest(f"{error}: {getattr(error, 'stderr', '')}")
            yield ["ip", "netns", "exec", far], "nic " + near, near
        finally:
            # The kernel removes a namespace some time after its name, and its device with it.
            subprocess.run(["ip", "link", "del", near], check=False, capture_output=True)
            for name in (far, middle):
                subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)

    @contextlib.contextmanager
    def peer(self, side, address, port=0, work=0.0, thought=0.0, how="recv", within=()):
        process = subprocess.Popen([*within, sys.executable, "-c", PEER, side, address, str(port), str(work),
                                    str(thought), how], stdout=subprocess.PIPE, text=True)
        try:
            yield process.pid, int(process.stdout.readline())
        finally:
            process.kill()
            process.wait()
            process.stdout.close()

    def report(self, pid):
        time.sleep(0.2)
        done = subprocess.run([OFFWAIT, "-p", str(pid), "-d", f"{SECONDS}s", "--json", "-", "-q"], check=True,
                              capture_output=True, text=True)
        return json.loads(done.stdout)

    def check_idle(self, report, client, waker):
        self.assertEqual(report["verdict"]["kind"], "idle", report["verdict"])
        self.assertTrue(report["verdict"]["sentence"].startswith("Idle: it waits for requests"), report["verdict"])
        self.assertEqual([k for k in report["knots"] if not k["background"]], [])
        self.assertEqual([s for s in report["sinks"] if s["saturated"] or s["paced"]], [])
        [edge] = [e for e in report["edges"] if report["actors"][e["from"]]["outside"] is False
                  and any(p["role"] == "client" and p["peer"] == client for p in e["peers"])
                  and report["actors"][e["to"]]["kind"] == waker]
        self.assertEqual([p["peer"] for p in edge["peers"]], [client])
        if waker == "thread":
            self.assertTrue(report["actors"][edge["to"]]["outside"])
        self.assertIn("requests", {r["reason"] for r in report["refinement"]})
        self.assertGreater(report["totals"]["waits_for"]["requests"], 0.8 * report["totals"]["blocked_s"])

    def test_slow_client_beyond_this_host(self):
        for how in ("recv", "poll"):
            with self.subTest(how), self.beyond() as (within, _, _), \
                    self.peer("server", HOST, work=0.002, how=how) as (pid, port), \
                    self.peer("client", HOST, port, thought=0.01, within=within) as (_, client_port):
                self.check_idle(self.report(pid), f"{BEYOND}:{client_port}", "nic")

    def test_slow_client_on_this_host(self):
        for how in ("recv", "poll"):
            with self.subTest(how), self.peer("server", "127.0.0.1", work=0.002, how=how) as (pid, port), \
                    self.peer("client", "127.0.0.1", port, thought=0.01) as (_, client_port):
                self.check_idle(self.report(pid), f"127.0.0.1:{client_port}", "thread")

    def test_remote_service(self):
        with self.beyond() as (within, _, name), \
                self.peer("server", BEYOND, thought=0.02, within=within) as (_, port), \
                self.peer("client", BEYOND, port, work=0.002) as (pid, _):
            report = self.report(pid)
        service = report["answers"][0]["service"]
        self.assertEqual((service["addresses"], service["programs"]), ([f"{BEYOND}:{port}"], []))
        [sink] = [s for s in report["sinks"] if s["saturated"] or s["paced"]]
        self.assertEqual((sink["limit"], report["actors"][sink["actor"]]["name"]), ("remote-service", name))
        self.assertIn(f"the remote service {BEYOND}:{port}, outside of this host", report["verdict"]["sentence"])
        [edge] = [e for e in report["edges"] if e["peers"]]
        self.assertEqual([(p["role"], p["peer"]) for p in edge["peers"]], [("service", f"{BEYOND}:{port}")])
        self.assertEqual(edge["to"], sink["actor"])

    def asked(self, address, how="recv", **server):
        """The report on a client that computes and then asks a server on this host, and where it asks."""
        if address.startswith("/") and os.path.exists(address):
            os.unlink(address)
        with self.peer("server", address, how=how, **server) as (_, port), \
                self.peer("client", address, port, work=0.002, how=how) as (pid, _):
            report = self.report(pid)
        return report, f"{address}:{port}" if port else address

    def test_service_on_this_host(self):
        """It is the first answer, with what it did. It takes three quarters of the client's time, or more if CPUs are short."""
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "socket")
            for address, how, did, times in (("127.0.0.1", "recv", "slept", {"thought": 0.006}),
                                             ("127.0.0.1", "poll", "ran", {"work": 0.006}),
                                             (path, "recv", "slept", {"thought": 0.006}),
                                             (path, "poll", "ran", {"work": 0.006})):
                with self.subTest(address=address, how=how, did=did):
                    report, asked_at = self.asked(address, how, **times)
                    first = report["answers"][0]
                    self.assertEqual(first["what"], "remote", report["answers"])
                    self.assertEqual(report["actors"][first["actor"]]["outside"], False)
                    service = first["service"]
                    self.assertEqual(service["addresses"], [asked_at])
                    self.assertEqual([program["threads"] for program in service["programs"]], [1])
                    self.assertTrue(all(report["actors"][actor]["outside"] for actor in service["actors"]))
                    self.assertGreater(service[did] + service["runnable"], 0.85, service)
                    self.assertGreater(first["gain"], 0.25)
                    self.assertLess(first["gain"], 1.05)

    def dump(self, pid):
        """The lines of a recording's text that begin with these words."""
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "recording")
            subprocess.run([OFFWAIT, "record", "-p", str(pid), "-d", "1s", "-o", path, "-q"], check=True)
            text = subprocess.run([OFFWAIT, "dump", path], check=True, capture_output=True, text=True).stdout
        lines = [line.split() for line in text.splitlines()]
        return lambda word: [line[1:] for line in lines if line[:1] == [word]]

    @contextlib.contextmanager
    def program(self, text):
        """The number that the program prints first, and the program's own pid. Ends all processes that it started."""
        process = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True, start_new_session=True)
        try:
            yield int(process.stdout.readline()), process.pid
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            process.stdout.close()

    def test_a_namesake_is_not_the_recorder(self):
        with self.program(NAMESAKE) as (pid, namesake):
            lines = self.dump(pid)
        [thread] = [thread for thread in lines("thread") if thread[0] == str(namesake)]
        self.assertIn("comm=offwait", thread)
        self.assertIn("outside=yes", thread)
        [recorder] = [key for key in lines("recording")[0] if key.startswith("recorder=")]
        self.assertNotEqual(recorder, f"recorder={namesake}")
        for thread in lines("thread"):
            if f"tgid={recorder.split('=')[1]}" in thread:
                self.assertIn("outside=recorder", thread)

    def test_a_first_thread_that_has_ended_is_not_in_the_recording(self):
        with self.program(WITHOUT_LEADER) as (tid, pid):
            lines = self.dump(pid)
        self.assertEqual([thread[0] for thread in lines("thread") if f"tgid={pid}" in thread], [str(tid)])
        self.assertEqual([preempt for preempt in lines("preempt") if preempt[0] == str(pid)], [])


if __name__ == "__main__":
    sys.exit(runner.run(sys.argv[2:]))
