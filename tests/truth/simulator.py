# SPDX-License-Identifier: GPL-2.0-or-later
"""Simulates programs on CPUs, disks and the network, and writes what their threads waited for as a text form trace.

A program is a Program: resources, and kinds of threads, each with a body. A body is a generator function that gets its
Thread and yields from the thread's methods:

    def worker(thread):
        while True:
            item = yield from thread.take("jobs")
            yield from thread.run(300)
            yield from thread.request("vda", 2000)
            thread.count()

Times are in µs and vary by ± Program.variation, with random numbers of the thread's own, so that a change of one part
leaves the others' numbers alone. `speed` maps parts to factors of their time: (kind, "cpu"), (kind, "sleep"),
(kind, "remote"), (kind, "io", disk), ("disk", disk).
"""

import collections
import dataclasses
import heapq
import itertools
import random
import typing

US, MS = 1000, 1_000_000
SLICE = 1 * MS  # after this time on a CPU, a thread makes way for one that ran less
WAKE_UP = 4 * US  # from a wake, or a turn, to running


@dataclasses.dataclass
class Kind:
    """Threads with one body."""

    name: str
    threads: int
    body: typing.Callable
    outside: bool = False  # no part of the target
    process: int = 1000


@dataclasses.dataclass
class Program:
    kinds: list
    cpus: int = 8
    disks: dict = dataclasses.field(default_factory=dict)  # name: requests at a time
    queues: dict = dataclasses.field(default_factory=dict)  # name: items that fit in; 0: no limit
    locks: list = dataclasses.field(default_factory=list)
    variation: float = 0.2


@dataclasses.dataclass
class Wait:
    block: int
    wait_class: str
    stack: str
    futex: int | None
    wake: int | None = None
    waker: str = "-"


class Thread:
    """One thread, and what its body may do."""

    def __init__(self, world, kind, number, tid, seed):
        self.world, self.kind, self.number, self.tid = world, kind, number, tid
        self.random = random.Random(f"{seed} {kind.name} {number}")
        self.ran, self.left, self.on_cpu_since = 0, 0, None
        self.wait, self.out, self.given, self.missing = None, None, None, 0
        self.steps = kind.body(self)

    # What a body yields from.
    def run(self, us):
        yield ("run", self.length(us, "cpu"))

    def sleep(self, us):
        self.world.after(self.length(us, "sleep"), self.world.wake, self, "timer")
        yield self.blocked("sleep", "clock_nanosleep", "pause")

    def sleep_until_next(self, period_us):
        """Until the next multiple of a period, which is as much shorter as sleeps are."""
        period = max(1, round(period_us * US * self.world.speed.get((self.kind.name, "sleep"), 1)))
        self.world.after(period - self.world.now % period, self.world.wake, self, "timer")
        yield self.blocked("sleep", "clock_nanosleep", "next_period")

    def remote(self, us):
        self.world.after(self.length(us, "remote"), self.world.wake, self, "nic:eth0")
        yield self.blocked("net", "tcp_recvmsg", "ask")

    def request(self, disk, us):
        length = int(self.length(us, "io", disk) * self.world.speed.get(("disk", disk), 1))
        self.world.disks[disk].issue(self, length)
        yield self.blocked("disk", "io_schedule", "read")

    def take(self, queue):
        """The next item, when there is one."""
        state = self.world.queues[queue]
        if not state.items:
            state.takers.append(self)
            yield self.blocked("futex", "pthread_cond_wait", f"take_{queue}", f"take {queue}")
            item, self.given = self.given, None
        else:
            item = state.items.popleft()
        if state.putters and not (state.room and len(state.items) >= state.room):
            putter, waiting = state.putters.popleft()
            state.items.append(waiting)
            self.world.wake(putter, self)
        return item

    def put(self, queue, item=None):
        """Waits while the queue is full."""
        state = self.world.queues[queue]
        if state.takers:
            taker = state.takers.popleft()
            taker.given = item
            self.world.wake(taker, self)
        elif state.room and len(state.items) >= state.room:
            state.putters.append((self, item))
            yield self.blocked("futex", "pthread_cond_wait", f"put_{queue}", f"put {queue}")
        else:
            state.items.append(item)

    def answers(self, number):
        """Waits until answer() was called for this thread so often since expect()."""
        self.missing += number
        if self.missing > 0:
            yield self.blocked("futex", "pthread_cond_wait", "answers", f"answers {self.tid}")
        self.missing = 0

    def call(self, queue):
        yield from self.put(queue, self)
        yield from self.answers(1)

    def lock(self, name):
        state = self.world.locks[name]
        if name in self.world.free:
            return
        if state.owner is None:
            state.owner = self
        else:
            state.waiting.append(self)
            yield self.blocked("futex", "pthread_mutex_lock", f"lock_{name}", f"lock {name}")

    # What a body calls.
    def unlock(self, name):
        state = self.world.locks[name]
        state.owner = state.waiting.popleft() if state.waiting else None
        if state.owner is not None:
            self.world.wake(state.owner, self)

    def answer(self, asker):
        asker.missing -= 1
        if asker.missing == 0 and asker.wait is not None and asker.wait.futex == self.world.futex(f"answers {asker.tid}"):
            self.world.wake(asker, self)

    def count(self, number=1):
        self.world.count += number if self.world.now >= self.world.begin else 0

    def chance(self, part):
        return self.random.random() < part

    # For the world.
    def length(self, us, *part):
        varied = 1 + self.world.program.variation * (2 * self.random.random() - 1)
        return max(1, int(us * US * varied * self.world.speed.get((self.kind.name, *part), 1)))

    def blocked(self, wait_class, function, place, futex=None):
        stack = f"{function}_wait;--;{function};{place};{self.kind.name}_main"
        return Wait(self.world.now, wait_class, stack, self.world.futex(futex) if futex else None)


class Disk:
    """Serves `channels` requests at a time, in order."""

    def __init__(self, world, name, channels):
        self.world, self.name, self.free = world, name, channels
        self.queue = collections.deque()

    def issue(self, thread, length):
        self.queue.append((thread, length, self.world.now))
        self.serve()

    def serve(self):
        while self.free and self.queue:
            self.free -= 1
            thread, length, issued = self.queue.popleft()
            self.world.after(length, self.complete, thread, issued)

    def complete(self, thread, issued):
        self.free += 1
        self.world.requests.append((thread.tid, self.name, issued, self.world.now))
        self.world.wake(thread, f"disk:{self.name}")
        self.serve()


@dataclasses.dataclass
class Queue:
    room: int
    items: collections.deque = dataclasses.field(default_factory=collections.deque)
    takers: collections.deque = dataclasses.field(default_factory=collections.deque)
    putters: collections.deque = dataclasses.field(default_factory=collections.deque)


@dataclasses.dataclass
class Lock:
    """First come, first served."""

    owner: Thread | None = None
    waiting: collections.deque = dataclasses.field(default_factory=collections.deque)


class World:
    """A run of a program. Its window begins when the program has run for `begin_ns`. No thread waits for the `free` locks."""

    def __init__(self, program, seed, speed=None, cpus=None, begin_ns=200 * MS, window_ns=800 * MS, free=()):
        self.program, self.speed, self.free = program, speed or {}, free
        self.now, self.begin, self.end, self.count = 0, begin_ns, begin_ns + window_ns, 0
        self.events, self.order = [], itertools.count()
        self.cpus = self.free_cpus = cpus or program.cpus
        self.ready = []  # (time on a CPU so far, order, thread)
        self.futexes, self.waits, self.preemptions, self.requests = {}, [], [], []
        self.disks = {name: Disk(self, name, channels) for name, channels in program.disks.items()}
        self.queues = {name: Queue(room) for name, room in program.queues.items()}
        self.locks = {name: Lock() for name in program.locks}
        self.state = {}  # what the bodies of one program share
        self.threads = [Thread(self, kind, number, 0, seed) for kind in program.kinds for number in range(kind.threads)]
        for tid, thread in enumerate(self.threads, 1001):
            thread.tid = tid
            self.make_ready(thread)

    def run(self):
        """Units of progress a second."""
        while self.events and self.events[0][0] <= self.end:
            self.now, _, what, arguments = heapq.heappop(self.events)
            what(*arguments)
        self.now = self.end
        return self.count / ((self.end - self.begin) / 1e9)

    def after(self, length, what, *arguments):
        heapq.heappush(self.events, (self.now + length, next(self.order), what, arguments))

    def futex(self, name):
        return self.futexes.setdefault(name, 0x1000 + 16 * len(self.futexes))

    # CPUs: of those that are ready, the thread that ran least goes next.
    def make_ready(self, thread):
        if self.free_cpus:
            self.free_cpus -= 1
            self.after(WAKE_UP, self.begin_turn, thread)
        else:
            # A thread that slept for long does not get all of that time now.
            thread.ran = max(thread.ran, (self.ready[0][0] if self.ready else thread.ran) - SLICE)
            heapq.heappush(self.ready, (thread.ran, next(self.order), thread))

    def leave_cpu(self):
        if self.ready:
            self.after(WAKE_UP, self.begin_turn, heapq.heappop(self.ready)[2])
        else:
            self.free_cpus += 1

    def begin_turn(self, thread):
        if thread.wait is not None:
            self.waits.append((thread.tid, thread.wait, self.now))
            thread.wait = None
        elif thread.out is not None:
            self.preemptions.append((thread.tid, thread.out, self.now))
            thread.out = None
        self.go_on(thread)

    def go_on(self, thread):
        """Runs the thread until it blocks or its turn is over."""
        while thread.left == 0:
            step = next(thread.steps)
            if isinstance(step, Wait):
                thread.wait = step
                self.leave_cpu()
                return
            thread.left = step[1]
        thread.on_cpu_since = self.now
        self.after(min(thread.left, SLICE), self.end_turn, thread)

    def end_turn(self, thread):
        ran = self.now - thread.on_cpu_since
        thread.ran += ran
        thread.left -= ran
        if thread.left > 0 and self.ready and self.ready[0][0] < thread.ran:
            thread.out = self.now
            heapq.heappush(self.ready, (thread.ran, next(self.order), thread))
            self.leave_cpu()
        else:
            self.go_on(thread)

    def wake(self, thread, waker):
        thread.wait.wake = self.now
        thread.wait.waker = f"thread:{waker.tid}" if isinstance(waker, Thread) else waker
        self.make_ready(thread)

    # The trace.
    def text(self):
        lines = ["offwait-waits 1", f"window {self.begin} {self.end}", f"recording target=program cpus={self.cpus}"]
        lines += [f"disk {name}" for name in self.disks]
        for thread in self.threads:
            outside = " outside=yes" if thread.kind.outside else ""
            lines.append(f"thread {thread.tid} tgid={thread.kind.process} comm={thread.kind.name} start=0 exit=-{outside}")
        waits = [wait for wait in self.waits if wait[2] >= self.begin]
        waits += [(thread.tid, thread.wait, None) for thread in self.threads if thread.wait is not None]
        waits.sort(key=lambda wait: (wait[1].block, wait[0]))
        lines += [wait_line(*wait) for wait in waits]
        out = [preemption for preemption in self.preemptions if preemption[2] >= self.begin]
        out += [(thread.tid, thread.out, None) for thread in self.threads if thread.out is not None]
        out.sort(key=lambda preemption: preemption[1:2])
        lines += [f"preempt {tid} out={begin} run={or_dash(end)}" for tid, begin, end in out]
        lines += [f"io {tid} disk={disk} bytes=4096 issue={issue} complete={complete} op=read"
                  for tid, disk, issue, complete in self.requests if complete >= self.begin]
        return "\n".join(lines) + "\n"


def or_dash(value):
    return "-" if value is None else value


def wait_line(tid, wait, run):
    futex = f" futex={wait.futex:x}" if wait.futex else ""
    peer = " peer=service:10.0.0.9:5432" if wait.wait_class == "net" else ""
    return (f"wait {tid} block={wait.block} wake={or_dash(wait.wake)} run={or_dash(run)} waker={wait.waker} "
            f"class={wait.wait_class}{futex} stack={wait.stack}{peer}")
