#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Plans with one planted bottleneck each: reads, generates and measures them.

    plans.py PLANTED DIRECTORY > plans.txt     generates plans and keeps those that prove true on this machine

A plan is kept if the program gets clearly faster when the planted piece is twice as fast, and does not when any decoy is.
What offwait says of a plan plays no part."""
import collections
import random
import statistics
import subprocess
import sys

PLANTED_GAIN = 1.2
DECOY_GAIN = 1.05
OPERATIONS = ("cpu", "sleep", "sync", "read")  # of pieces

Planted = collections.namedtuple("Planted", "piece kind name")  # kind: thread, disk (by this thread), lock


class Plan:
    def __init__(self, name):
        self.name, self.lines, self.planted, self.decoys = name, [], None, []

    # --- what a generator says ---

    def line(self, *words):
        self.lines.append(" ".join(str(w) for w in words))

    def queue(self, name, capacity, items=0):
        self.line("queue", name, capacity, items)

    def thread(self, name, count, *operations):
        self.line("thread", name, count)
        for operation in operations:
            self.line("  " + operation)

    def plant(self, piece, kind, name):
        self.planted = Planted(piece, kind, name)
        self.line("planted", piece, kind, name)

    def decoy(self, *pieces):
        self.decoys += pieces
        for piece in pieces:
            self.line("decoy", piece)

    # --- what a reader asks ---

    @property
    def text(self):
        return "\n".join(self.lines) + "\n"

    def threads(self):
        """The names of all threads, in order."""
        return [line.split()[1] for line in self.lines if line.startswith("thread ")]

    def threads_with(self, *operation):
        """The names of the threads whose operations include this one."""
        found, name = set(), None
        for line in self.lines:
            words = line.split()
            if words[0] == "thread":
                name = words[1]
            elif tuple(words[:len(operation)]) == operation or (len(words) == 3 and words[2:] == list(operation)):
                found.add(name)
        return found

    def pieces(self):
        return list(dict.fromkeys(words[2] for words in map(str.split, self.lines)
                                  if len(words) == 3 and words[0] in OPERATIONS))

    def operation_of(self, piece):
        """What a thread does in this piece: cpu, sleep, sync or read."""
        [operation] = {words[0] for words in map(str.split, self.lines)
                       if len(words) == 3 and words[2] == piece and words[0] in OPERATIONS}
        return operation


def read(path):
    """The plans of a file, in order: each begins with `plan NAME`."""
    plans = []
    with open(path, encoding="ascii") as lines:
        for line in lines:
            words = line.split("#")[0].split()
            if not words:
                continue
            if words[0] == "plan":
                plans.append(Plan(words[1]))
                continue
            plan = plans[-1]
            plan.lines.append(line.rstrip())
            if words[0] == "planted":
                plan.planted = Planted(*words[1:])
            elif words[0] == "decoy":
                plan.decoys.append(words[1])
    return plans


# --- the truth ---

def rate(planted, directory, plan, speeds=(), seconds=0.5):
    """The throughput in items per second, with the pieces of `speeds` twice as fast."""
    arguments = [word for piece in speeds for word in ("--speed", piece + "=2")]
    run = subprocess.run([planted, "--directory", directory, "--seconds", str(seconds), *arguments],
                         input=plan.text, stdout=subprocess.PIPE, text=True, check=True)
    return float(run.stdout)


def gains(planted, directory, plan, rounds=(3, 5, 7)):
    """{piece: the throughput with that piece twice as fast, divided by the throughput as it is}. Each is the median of `rounds`
    rounds, and of more where these leave open whether the plan is true, as on a busy machine."""
    ratios = collections.defaultdict(list)
    for last in rounds:
        while len(ratios[plan.planted.piece]) < last:
            for piece in [plan.planted.piece, *plan.decoys]:
                before = rate(planted, directory, plan)
                faster = rate(planted, directory, plan, [piece])
                ratios[piece].append(faster / before if before else 0.0)
        measured = {piece: statistics.median(values) for piece, values in ratios.items()}
        if is_true(plan, measured) or not is_true(plan, measured, slack=0.1):
            break
    return measured


def is_true(plan, measured, slack=0.0):
    return (measured[plan.planted.piece] >= PLANTED_GAIN - slack
            and all(measured[decoy] <= DECOY_GAIN + slack for decoy in plan.decoys))


# --- the generators ---

def service(r, kind, us, piece):
    """An operation that takes `us` of a CPU, of a disk, or of something remote, for which it sleeps."""
    return f"{'sync' if kind == 'disk' else kind} {us:.0f} {piece}"


def planted_as(kind):
    return "disk" if kind == "disk" else "thread"


def add_clutter(plan, r, period):
    """Adds what real programs also have: long waits that limit nothing. Returns operations for a working thread."""
    extra = []
    kinds = r.sample(["idle_pool", "ticked_pool", "housekeeper", "journal"], r.randint(1, 2))
    if "idle_pool" in kinds:
        plan.queue("spare", 8)
        plan.thread("spare", r.randint(2, 6), "take spare", "drop")
    if "ticked_pool" in kinds:
        plan.queue("ticks", 8)
        plan.thread("cron", 1, f"sleep {r.randint(100, 300) * 1000} cron", "put ticks")
        plan.thread("pool", r.randint(2, 4), "take ticks", "cpu 100 pool", "drop")
        plan.decoy("pool")
    if "housekeeper" in kinds:
        plan.line("lock", "stats")
        plan.thread("keeper", 1, f"sleep {r.randint(15, 40) * 1000} keeper", "hold stats", "cpu 50 keeper_stats",
                    "release stats")
        plan.decoy("keeper")
        extra += ["hold stats", "cpu 5 stats", "release stats"]
    if "journal" in kinds:
        plan.queue("journal", 512)
        plan.thread("journal", 1, "take_all journal", f"sync {period * r.uniform(0.3, 0.6):.0f} journal", "drop")
        plan.decoy("journal")
        extra += ["put journal"]
    return extra


def pipeline(plan, r, kind):
    period = r.uniform(3000, 7000)
    names = r.sample(["accept", "parse", "plan", "index", "render", "store", "ship"], r.randint(3, 5))
    limit = r.randrange(len(names))
    extra = add_clutter(plan, r, period)
    for i in range(len(names) - 1):
        plan.queue(f"to_{names[i + 1]}", r.choice([1, 2, 4, 8, 16]))
    cpu_left, disks = 0.3 if kind == "cpu" else 0.6, 0
    for i, name in enumerate(names):
        if i == limit:
            threads = {"cpu": 1, "disk": r.choice([1, 1, 2]), "sleep": r.choice([1, 1, 2, 4])}[kind]
            us, how = period * threads, kind
        else:
            threads, share = r.choice([1, 1, 2, 4]), r.uniform(0.25, 0.65)
            how = r.choice(["sleep", "sleep", "cpu", "disk"])
            if how == "disk" and disks:
                how = "sleep"
            disks += how == "disk"
            if how == "cpu":
                threads, share = 1, min(share, cpu_left / 2)
                cpu_left -= share
            us = period * share * threads
            plan.decoy(name)
        operations = [service(r, how, us, name)]
        if r.random() < 0.4 and how != "cpu":
            operations.insert(0, f"cpu {period * 0.03:.0f} {name}_prepare")
        if i > 0:
            operations.insert(0, f"take to_{name}")
        operations += [f"put to_{names[i + 1]}"] if i + 1 < len(names) else ["drop", "count", *extra]
        plan.thread(name, threads, *operations)
    plan.plant(names[limit], planted_as(kind), names[limit])


def lock(plan, r, kind):
    """Workers that serialise in one lock, with something long outside it."""
    workers, held = r.randint(3, 8), r.uniform(1000, 3000)
    if kind == "disk":
        held *= 2
    extra = add_clutter(plan, r, held)
    plan.line("lock table")
    local = held * (workers - 1) * r.uniform(0.25, 0.5)
    plan.thread("worker", workers, service(r, "sleep", local, "remote"), "hold table",
                service(r, kind, held, "table"), "release table", "count", *extra)
    plan.decoy("remote")
    plan.plant("table", "lock", "table")


def two_locks(plan, r, kind):
    """Each worker passes two locks; one of them is always held, the other is not."""
    workers, held = r.randint(4, 8), r.uniform(1500, 3000)
    extra = add_clutter(plan, r, held)
    for name in ("catalog", "cache"):
        plan.line("lock", name)
    plan.thread("worker", workers, "hold catalog", service(r, "sleep", held * r.uniform(0.3, 0.6), "catalog"),
                "release catalog", service(r, "cpu", 50, "local"), "hold cache", service(r, kind, held, "cache"),
                "release cache", "count", *extra)
    plan.decoy("catalog")
    plan.plant("cache", "lock", "cache")


def closed_loop(plan, queue, clients, work, servers, take, serve, extra):
    """Adds threads that work and then ask, and threads that answer. `clients` and `servers` are (name, number)."""
    plan.thread(*clients, *work, f"call {queue}", "count", *extra)
    plan.thread(*servers, f"{take} {queue}", serve, "reply")


def server(plan, r, kind):
    """Closed-loop clients that think, and a pool that serves them."""
    threads = 1 if kind == "cpu" else r.choice([1, 2, 3])
    period = r.uniform(2000, 5000)
    clients = r.randint(threads + 3, threads + 8)
    extra = add_clutter(plan, r, period)
    plan.queue("requests", 32)
    think = period * (clients - threads) * r.uniform(0.3, 0.5)
    closed_loop(plan, "requests", ("client", clients), [service(r, "sleep", think, "think")],
                ("server", threads), "take", service(r, kind, period * threads, "serve"), extra)
    plan.decoy("think")
    plan.plant("serve", planted_as(kind), "server")


def few_clients(plan, r, kind):
    """The pool is mostly idle; the clients limit, by how fast they ask."""
    period = r.uniform(4000, 9000)
    extra = add_clutter(plan, r, period)
    plan.queue("requests", 32)
    closed_loop(plan, "requests", ("client", r.randint(1, 3)), [service(r, kind, period, "think")],
                ("server", r.randint(4, 8)), "take", service(r, "sleep", period * 0.05, "serve"), extra)
    plan.decoy("serve")
    plan.plant("think", planted_as(kind), "client")


def group_commit(plan, r, kind):
    """Workers hand their results to a log writer, which writes all that came meanwhile at once."""
    period = r.uniform(5000, 9000)
    extra = add_clutter(plan, r, period)
    plan.queue("log", 64)
    closed_loop(plan, "log", ("worker", r.randint(3, 8)), ["cpu 60 apply", service(r, "sleep", period * 0.1, "remote")],
                ("log", 1), "take_all", service(r, kind, period, "commit"), extra)
    plan.decoy("apply")
    plan.plant("commit", planted_as(kind), "log")


def barrier(plan, r, kind):
    """Threads with unequal work that wait for each other after each step."""
    period = r.uniform(5000, 9000)
    names = r.sample(["north", "east", "south", "west"], r.randint(2, 4))
    add_clutter(plan, r, period)
    plan.line("barrier step", len(names))
    limit = r.randrange(len(names))
    for i, name in enumerate(names):
        how = kind if i == limit else r.choice(["sleep", "sleep", "disk" if kind != "disk" else "sleep"])
        us = period if i == limit else period * r.uniform(0.2, 0.6)
        plan.thread(name, 1, service(r, how, us, name), "meet step", *(["count"] if i == 0 else []))
        if i != limit:
            plan.decoy(name)
    plan.plant(names[limit], planted_as(kind), names[limit])


def scatter(plan, r, kind):
    """A coordinator that asks several and needs all answers."""
    period = r.uniform(5000, 9000)
    extra = add_clutter(plan, r, period)
    names = [f"shard_{letter}" for letter in "abcd"[:r.randint(2, 4)]]
    limit = r.randrange(len(names))
    plan.queue("answers", 8)
    for name in names:
        plan.queue(name, 4)
    plan.thread("coordinate", 1, *[f"put {name}" for name in names], *["take answers"] * len(names), "drop",
                "cpu 200 merge", "count", *extra)
    plan.decoy("merge")
    for i, name in enumerate(names):
        us = period if i == limit else period * r.uniform(0.2, 0.6)
        plan.thread(name, 1, f"take {name}", service(r, kind if i == limit else "sleep", us, name), "put answers")
        if i != limit:
            plan.decoy(name)
    plan.plant(names[limit], planted_as(kind), names[limit])


def nested(plan, r, kind):
    """A lock is held during a call to a backend; the backend takes the time."""
    period, workers = r.uniform(2000, 5000), r.randint(3, 7)
    extra = add_clutter(plan, r, period)
    plan.line("lock session")
    plan.queue("backend", 8)
    local = period * (workers - 1) * r.uniform(0.25, 0.5)
    plan.thread("worker", workers, service(r, "sleep", local, "remote"), "hold session", "call backend",
                "release session", "count", *extra)
    plan.thread("backend", r.choice([1, 2]), "take backend", service(r, kind, period, "backend"), "reply")
    plan.decoy("remote")
    plan.plant("backend", planted_as(kind), "backend")


def buffers(plan, r, kind):
    """Buffers go round between a reader and a writer."""
    period = r.uniform(4000, 8000)
    extra = add_clutter(plan, r, period)
    count = r.choice([2, 4, 8])
    plan.queue("free", count, count)
    plan.queue("full", count)
    slow, fast = r.sample(["reader", "writer"], 2)
    for name, own, other in (("reader", "free", "full"), ("writer", "full", "free")):
        work = service(r, kind, period, name) if name == slow else service(r, "sleep", period * r.uniform(0.3, 0.6), name)
        plan.thread(name, 1, f"take {own}", work, f"put {other}", *(["count", *extra] if name == "writer" else []))
    plan.decoy(fast)
    plan.plant(slow, planted_as(kind), slow)


def wperf_figure1(plan, r, kind):
    """Figure 1 of wperf-osdi18: B computes, then syncs; A is faster and waits for it the longest."""
    plan.queue("q", 4)
    plan.thread("A", 1, "cpu 2000 funA", "put q")
    plan.thread("B", 1, "take q", "cpu 5000 funB", "sync 5000 sync", "drop", "count")
    plan.decoy("funA")
    plan.plant("sync", planted_as(kind), "B")


def osdi24_case1(plan, r, kind):
    """Figure 1 of blocked-samples-osdi24, case 1: compute_heavy is on the critical path."""
    plan.line("barrier b 2")
    plan.thread("thread1", 1, "cpu 300 compute_light", "sync 1000 pwrite", "read 3000 pread", "meet b", "count")
    plan.thread("thread2", 1, "cpu 8000 compute_heavy", "meet b")
    plan.decoy("compute_light", "pwrite", "pread")
    plan.plant("compute_heavy", planted_as(kind), "thread2")


def osdi24_case2(plan, r, kind):
    """Figure 1 of blocked-samples-osdi24, case 2: the disk reads are on the critical path."""
    plan.line("barrier b 2")
    plan.thread("thread1", 1, "cpu 300 compute_light", "sync 1000 pwrite", "read 6000 pread", "meet b", "count")
    plan.thread("thread2", 1, "cpu 2000 compute_heavy", "meet b")
    plan.decoy("compute_heavy")
    plan.plant("pread", planted_as(kind), "thread1")


WANTED = [
    (osdi24_case1, "cpu", 1), (osdi24_case2, "disk", 1), (wperf_figure1, "disk", 1),
    (pipeline, "cpu", 4), (pipeline, "sleep", 5), (pipeline, "disk", 4),
    (lock, "cpu", 3), (lock, "sleep", 4), (lock, "disk", 2), (two_locks, "sleep", 2),
    (server, "cpu", 2), (server, "sleep", 3), (server, "disk", 2),
    (few_clients, "sleep", 2), (group_commit, "disk", 3),
    (barrier, "cpu", 1), (barrier, "sleep", 2), (barrier, "disk", 1),
    (scatter, "sleep", 2), (nested, "sleep", 2), (nested, "disk", 1), (buffers, "sleep", 1), (buffers, "disk", 1),
]


HEADER = """\
# SPDX-License-Identifier: GPL-2.0-or-later
# Made by plans.py: programs with one planted bottleneck each (README.md). The gain of a piece is the throughput with that
# piece twice as fast, divided by the throughput as it is, as measured when the plan was made."""


def generate(planted, directory):
    print(HEADER)
    seed = 0
    for generator, kind, count in WANTED:
        for _ in range(count):
            while True:
                seed += 1
                plan = Plan(f"{generator.__name__}-{kind}-{seed}")
                generator(plan, random.Random(seed), kind)
                measured = gains(planted, directory, plan)
                found = ", ".join(f"{piece} {gain:.2f}" for piece, gain in measured.items())
                print(f"{plan.name}: {found}:", "true" if is_true(plan, measured) else "not true, next", file=sys.stderr,
                      flush=True)
                if is_true(plan, measured):
                    break
            print(f"plan {plan.name}", f"# gains: {found}", *plan.lines, "", sep="\n", flush=True)


if __name__ == "__main__":
    generate(sys.argv[1], sys.argv[2])
