# SPDX-License-Identifier: GPL-2.0-or-later
"""Servers whose requests and responses are known, and what offwait counts of them.

    responses_test.py OFFWAIT

A response is the first data sent on an accepted connection after data was received there."""
import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

import recording
import runner

OFFWAIT = sys.argv[1]

# Serves the sockets with the given addresses until its standard input ends, and says when it is ready. A request is one byte,
# and each way to serve (`how`) answers a request with b"ab".
SERVER = r"""
import queue, selectors, socket, sys, threading
how, *addresses = sys.argv[1:]

def listen(address):
    listener = socket.socket(socket.AF_INET if ":" in address else socket.AF_UNIX)
    if ":" in address:
        host, port = address.split(":")
        listener.bind((host, int(port)))
    else:
        listener.bind(address.replace("@", "\0"))
    listener.listen(64)
    return listener

def answer(connection):
    # Two sends are one response.
    connection.sendall(b"a")
    connection.sendall(b"b")

def blocking(connection):
    with connection:
        while connection.recv(1):
            answer(connection)

def peeking(connection):
    with connection:
        while connection.recv(1):
            connection.sendall(b"a")
            connection.settimeout(0)
            try:
                connection.recv(1, socket.MSG_PEEK)
            except BlockingIOError:
                pass
            connection.settimeout(None)
            connection.sendall(b"b")

def whole(connection):
    # All requests that have come are answered together.
    with connection:
        while requests := connection.recv(100):
            for _ in requests:
                answer(connection)

def greeting(connection):
    # What is sent before anything was received is no response.
    with connection:
        connection.sendall(b"hello")
        while connection.recv(1):
            answer(connection)

# One thread receives, others respond in turns.
jobs = [queue.SimpleQueue() for _ in range(3)]
def worker(mine):
    while True:
        connection, done = mine.get()
        answer(connection)
        done.set()

def handing_over(connection):
    with connection:
        turn = 0
        while connection.recv(1):
            done = threading.Event()
            jobs[turn % len(jobs)].put((connection, done))
            done.wait()
            turn += 1

def received(connection):
    # b"" at the end, None if nothing has come.
    try:
        return connection.recv(1)
    except BlockingIOError:
        return None

def epoll(listeners):
    # Level-triggered and not blocking: a receive that finds nothing comes before every other response, and after the rest.
    selector = selectors.EpollSelector()
    for listener in listeners:
        listener.setblocking(False)
        selector.register(listener, selectors.EVENT_READ)
    requests = 0
    while True:
        for key, _ in selector.select():
            if key.fileobj in listeners:
                connection, _ = key.fileobj.accept()
                connection.setblocking(False)
                selector.register(connection, selectors.EVENT_READ)
                continue
            connection = key.fileobj
            got = received(connection)
            while got:
                requests += 1
                if requests % 2:
                    got = received(connection)
                    answer(connection)
                else:
                    answer(connection)
                    got = received(connection)
            if got == b"":
                selector.unregister(connection)
                connection.close()

def accept(listener):
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=globals()[how], args=(connection,), daemon=True).start()

listeners = [listen(address) for address in addresses]
if how == "handing_over":
    for mine in jobs:
        threading.Thread(target=worker, args=(mine,), daemon=True).start()
if how == "epoll":
    threading.Thread(target=epoll, args=(listeners,), daemon=True).start()
else:
    for listener in listeners:
        threading.Thread(target=accept, args=(listener,), daemon=True).start()
print(*[listener.getsockname()[1] if listener.family == socket.AF_INET else 0 for listener in listeners], flush=True)
sys.stdin.read()
"""


def connect(address, own=None):
    family = socket.AF_INET if isinstance(address, tuple) else socket.AF_UNIX
    connection = socket.socket(family)
    connection.settimeout(30)
    if family == socket.AF_INET:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if own:
        connection.bind(own)
    connection.connect(address)
    return connection


def receive(connection, length):
    got = b""
    while len(got) < length:
        more = connection.recv(length - len(got))
        assert more, got
        got += more
    return got


def finish(connection):
    """Waits until the server has seen the end, and so has sent the last response."""
    connection.shutdown(socket.SHUT_WR)
    assert connection.recv(1) == b""
    connection.close()


def ask(address, requests, together=1, greeted=False):
    """Sends requests on a connection of its own, `together` at a time, and waits for the responses each time."""
    connection = connect(address)
    if greeted:
        receive(connection, 5)
    for _ in range(requests // together):
        connection.sendall(b"x" * together)
        assert receive(connection, 2 * together) == b"ab" * together
    finish(connection)


def ask_at_once(clients, address, requests, **how):
    threads = [threading.Thread(target=ask, args=(address, requests), kwargs=how) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class ResponsesTest(unittest.TestCase):
    def setUp(self):
        self.directory = self.enterContext(tempfile.TemporaryDirectory())

    @contextlib.contextmanager
    def server(self, how, *addresses):
        process = subprocess.Popen([sys.executable, "-c", SERVER, how, *addresses], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        try:
            yield process.pid, [int(port) for port in process.stdout.readline().split()]
        finally:
            process.stdin.close()
            process.wait()
            process.stdout.close()

    @contextlib.contextmanager
    def recorded(self, pid):
        """Records the process during the block, and fills the list with what the dump has of responses."""
        responses = []
        file = os.path.join(self.directory, "dump.txt")
        recorder = recording.start_offwait(OFFWAIT, ["dump", "-p", str(pid), "--no-stacks", "-o", file])
        try:
            yield responses
        finally:
            recorder.send_signal(signal.SIGINT)
            _, errors = recorder.communicate()
        self.assertEqual(recorder.returncode, 0, errors)
        self.assertNotIn("not counted", errors)
        dump = recording.Dump(file)
        self.assertEqual(dump.loss["response_table_full"], 0)
        for one in dump.responses:
            self.assertTrue(dump.begin <= one.first <= one.last <= dump.end, one)
        responses += dump.responses

    def sums(self, responses):
        """{address: (responses, connections, threads)}"""
        sums = {}
        for address in {one.address for one in responses}:
            here = [one for one in responses if one.address == address]
            sums[address] = (sum(one.count for one in here), sum(one.connections for one in here), len({one.tid for one in here}))
        return sums

    def check_tcp(self, how, expected, requests=200, clients=5, **asking):
        with self.server(how, "127.0.0.1:0") as (pid, [port]):
            with self.recorded(pid) as responses:
                ask_at_once(clients, ("127.0.0.1", port), requests, **asking)
        self.assertEqual(self.sums(responses), {port: expected})
        return responses

    def test_a_thread_for_each_connection(self):
        responses = self.check_tcp("blocking", (1000, 5, 5))
        self.assertEqual({(one.count, one.connections) for one in responses}, {(200, 1)})

    def test_one_thread_with_epoll(self):
        self.check_tcp("epoll", (1000, 5, 1))

    def test_looking_at_a_request_is_not_receiving_it(self):
        self.check_tcp("peeking", (1000, 5, 5))

    def test_what_is_sent_unasked_is_no_response(self):
        self.check_tcp("greeting", (1000, 5, 5), greeted=True)

    def test_requests_sent_together_and_received_one_by_one_have_a_response_each(self):
        self.check_tcp("blocking", (1000, 5, 5), together=20)

    def test_requests_received_together_have_one_response(self):
        """TCP may deliver what was sent together in parts, so there may be more, but this is rare."""
        with self.server("whole", "127.0.0.1:0") as (pid, [port]):
            with self.recorded(pid) as responses:
                ask_at_once(5, ("127.0.0.1", port), 200, together=20)
        [(count, connections, threads)] = self.sums(responses).values()
        self.assertEqual((connections, threads), (5, 5))
        self.assertGreaterEqual(count, 50)
        self.assertLessEqual(count, 55)

    def test_a_connection_that_several_threads_serve_is_one(self):
        """The threads that receive are not those that respond."""
        responses = self.check_tcp("handing_over", (1200, 6, 3), requests=200, clients=6)
        for one in responses:
            self.assertTrue(66 * 6 <= one.count <= 67 * 6, responses)

    def test_a_connection_for_each_request(self):
        """Sockets get the addresses of earlier ones in the kernel."""
        with self.server("epoll", "127.0.0.1:0") as (pid, [port]):
            with self.recorded(pid) as responses:
                for _ in range(300):
                    ask(("127.0.0.1", port), 1)
        self.assertEqual(self.sums(responses), {port: (300, 300, 1)})

    def test_unix_sockets(self):
        path = os.path.join(self.directory, "socket")
        name = f"\0offwait {os.getpid()}"
        for how, threads in (("blocking", 4), ("epoll", 1)):
            with self.subTest(how), self.server(how, path, name.replace("\0", "@")) as (pid, _):
                with self.recorded(pid) as responses:
                    ask_at_once(4, path, 100)
                    ask_at_once(4, name, 50)
                self.assertEqual(self.sums(responses), {path.encode(): (400, 4, threads), name.encode(): (200, 4, threads)})
            os.unlink(path)

    def test_connections_from_before_the_recording(self):
        with self.server("epoll", "127.0.0.1:0") as (pid, [port]):
            connection = connect(("127.0.0.1", port))
            connection.sendall(b"x")
            receive(connection, 2)
            with self.recorded(pid) as responses:
                for _ in range(50):
                    connection.sendall(b"x")
                    receive(connection, 2)
                finish(connection)
        self.assertEqual(self.sums(responses), {port: (50, 1, 1)})

    def test_a_client_has_no_responses_and_the_server_that_it_asks_has(self):
        """On TCP and unix sockets, and also if the client has bound the unix socket before it connected."""
        path, own = (os.path.join(self.directory, name) for name in ("socket", "own"))
        client = f"""
import socket, sys
sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r})
sys.argv[1:] = ["offwait"]
import responses_test
print(flush=True)
for line in sys.stdin:
    connection = responses_test.connect(*eval(line))
    for _ in range(50):
        connection.sendall(b"x")
        responses_test.receive(connection, 2)
    responses_test.finish(connection)
    print(flush=True)
"""
        with self.server("epoll", "127.0.0.1:0", path) as (_, [port, _]):
            process = subprocess.Popen([sys.executable, "-c", client], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            process.stdout.readline()
            with self.recorded(process.pid) as responses:
                for where in ((("127.0.0.1", port),), (path,), (path, own)):
                    process.stdin.write(repr(where) + "\n")
                    process.stdin.flush()
                    self.assertEqual(process.stdout.readline(), "\n")
            process.stdin.close()
            process.wait()
            process.stdout.close()
        self.assertNotIn(process.pid, {one.tid for one in responses})
        # The server is recorded from its first answer on.
        counts = {address: count for address, (count, _, _) in self.sums(responses).items()}
        self.assertEqual(set(counts), {port, path.encode()})
        self.assertTrue(45 <= counts[port] <= 50 and 95 <= counts[path.encode()] <= 100, counts)


if __name__ == "__main__":
    sys.exit(runner.run(sys.argv[2:]))
