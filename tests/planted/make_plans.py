#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes plans with one planted bottleneck each, and keeps those that prove true on this machine.

    make_plans.py PLANTED DIRECTORY PLANS     adds to the file PLANS those that it does not have yet

A plan is kept if the program gets clearly faster when the planted piece is twice as fast, and does not when any decoy is.
What offwait says of a plan plays no part."""
import collections
import os
import random
import sys

import plans


# --- parts that several generators use ---

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


# --- locks that are held across a wait for the disk ---

def lock_io(plan, r, kind):
    """Workers sync while they hold a lock. Others read the same table, and others the same disk."""
    workers, held = r.randint(3, 6), r.uniform(4000, 8000)
    extra = add_clutter(plan, r, held)
    plan.line("lock table")
    remote = held * (workers - 1) * r.uniform(0.2, 0.5)
    plan.thread("worker", workers, service(r, "sleep", remote, "remote"), "cpu 100 prepare", "hold table", "cpu 50 change",
                service(r, kind, held, "commit"), "release table", "count", *extra)
    plan.decoy("remote", "prepare")
    if r.random() < 0.5:
        plan.thread("reader", r.randint(1, 2), f"sleep {r.randint(20, 50) * 1000} pause", "hold table", "cpu 50 lookup",
                    "release table")
        plan.decoy("pause", "lookup")
    else:
        plan.thread("backup", 1, f"sleep {r.randint(5, 10) * 1000} pause", f"read {r.randint(300, 600)} backup")
        plan.decoy("pause", "backup")
    plan.plant("commit", "lock", "table")


def two_locks_io(plan, r, kind):
    """Each worker syncs under two locks; one of them is always held, the other is not."""
    workers, held = r.randint(4, 7), r.uniform(4000, 7000)
    extra = add_clutter(plan, r, held)
    for name in ("index", "log"):
        plan.line("lock", name)
    plan.thread("worker", workers, "hold index", service(r, "sleep", held * r.uniform(0.2, 0.5), "index"), "release index",
                "cpu 60 local", "hold log", service(r, kind, held, "log"), "release log", "count", *extra)
    plan.decoy("index", "local")
    plan.plant("log", "lock", "log")


def pipeline_lock_io(plan, r, kind):
    """The threads of one stage of a pipeline take turns at the disk, under a lock."""
    held = r.uniform(4000, 8000)
    extra = add_clutter(plan, r, held)
    plan.line("lock journal_file")
    for name in ("to_store", "to_ship"):
        plan.queue(name, r.choice([2, 4, 8]))
    parsers, shippers = r.choice([1, 2]), r.choice([1, 2])
    plan.thread("parse", parsers, service(r, "sleep", held * parsers * r.uniform(0.3, 0.6), "parse"), "put to_store")
    plan.thread("store", r.randint(2, 4), "take to_store", "cpu 80 encode", "hold journal_file",
                service(r, kind, held, "append"), "release journal_file", "put to_ship")
    plan.thread("ship", shippers, "take to_ship", service(r, "sleep", held * shippers * r.uniform(0.3, 0.6), "ship"), "drop",
                "count", *extra)
    plan.decoy("parse", "encode", "ship")
    plan.plant("append", "lock", "journal_file")


# --- more runnable work than CPUs ---

def cpus_workers(plan, r, kind):
    """Each worker computes in several places and waits for something remote; together they want more than one CPU."""
    workers, work = r.randint(4, 7), r.uniform(1500, 3000)
    plan.line("cpus 1")
    extra = add_clutter(plan, r, work)
    parts = r.sample(["parse", "plan", "index", "render"], r.randint(2, 4))
    plan.thread("worker", workers, service(r, "sleep", work * r.uniform(0.5, 1), "remote"),
                *[f"cpu {work / len(parts):.0f} {part}" for part in parts], "count", *extra)
    plan.decoy("remote")
    plan.plant("cpus", "cpus", "cpus")


def cpus_pipeline(plan, r, kind):
    """The stages of a pipeline share one CPU; a stage that waits for something remote has threads to spare."""
    work = r.uniform(1200, 2500)
    plan.line("cpus 1")
    names = r.sample(["accept", "parse", "plan", "index", "render"], r.randint(3, 4))
    remote = r.randrange(1, len(names))
    for name in names[1:]:
        plan.queue(f"to_{name}", r.choice([4, 8, 16]))
    for i, name in enumerate(names):
        threads = 8 if i == remote else r.choice([1, 2])
        own = service(r, "sleep", 8 * work * 0.5, name) if i == remote else f"cpu {work * r.uniform(0.8, 1.2):.0f} {name}"
        plan.thread(name, threads, *([f"take to_{name}"] if i else []), own,
                    *([f"put to_{names[i + 1]}"] if i + 1 < len(names) else ["drop", "count"]))
    plan.decoy(names[remote])
    plan.plant("cpus", "cpus", "cpus")


def cpus_server(plan, r, kind):
    """Clients that think and compute, and a pool that computes for them, on one CPU."""
    threads, work = r.randint(2, 4), r.uniform(1500, 3000)
    plan.line("cpus 1")
    plan.queue("requests", 32)
    clients = r.randint(6, 10)
    closed_loop(plan, "requests", ("client", clients), [service(r, "sleep", work * r.uniform(1, 2), "think"),
                                                        f"cpu {work * 0.5:.0f} render"],
                ("server", threads), "take", f"cpu {work:.0f} serve", [])
    plan.decoy("think")
    plan.plant("cpus", "cpus", "cpus")


def cpus_shared(plan, r, kind):
    """Workers that have one CPU together with a program that is not recorded."""
    workers, work = r.randint(3, 6), r.uniform(1500, 3000)
    plan.line("cpus 1")
    plan.process()
    plan.line("lock stats")
    plan.thread("worker", workers, service(r, "sleep", work * r.uniform(0.3, 0.6), "remote"), f"cpu {work * 0.5:.0f} parse",
                "hold stats", "cpu 20 stats", "release stats", f"cpu {work * 0.5:.0f} render", "count")
    plan.process(1, "outside")
    plan.thread("stranger", 1, "cpu 5000 stranger", f"sleep {r.randint(2, 5) * 1000} stranger_pause")
    plan.decoy("remote", "stats")
    plan.plant("cpus", "cpus", "cpus")


# --- several processes ---

def processes_in_a_row(plan, r, kind, names):
    """Processes that hand over by pipes. Returns how long the slowest takes for an item, in us."""
    period = r.uniform(3500, 7000)
    limit = r.randrange(len(names))
    for name in names[1:]:
        plan.line("pipe", f"to_{name}", r.choice([1, 2, 4, 8]))
    for i, name in enumerate(names):
        copies = 1 if kind == "cpu" and i == limit else r.choice([1, 2, 4])
        share = 1 if i == limit else r.uniform(0.25, 0.6)
        plan.process(copies)
        plan.thread(name, 1, *([f"take to_{name}"] if i else []), "cpu 50 common",
                    service(r, kind if i == limit else "sleep", period * share * copies, name),
                    *([f"put to_{names[i + 1]}"] if i + 1 < len(names) else ["drop", "count"]))
        if i != limit:
            plan.decoy(name)
    plan.plant(names[limit], planted_as(kind), names[limit])
    return period


def processes_pipeline(plan, r, kind):
    """A pipeline of processes, some of them several of one kind."""
    processes_in_a_row(plan, r, kind, r.sample(["fetch", "unpack", "sort", "store"], r.randint(3, 4)))


def prefork(plan, r, kind):
    """Clients that are not recorded, and a server that has a process for each request under way."""
    workers, period = r.randint(2, 4), r.uniform(2500, 5000)
    clients = workers + r.randint(3, 6)
    plan.line("socket requests")
    plan.process(1, "outside")
    plan.thread("client", clients, service(r, "sleep", period * (clients - workers) / workers * r.uniform(0.3, 0.5), "think"),
                "call requests", "count")
    plan.process(workers)
    plan.thread("worker", 1, "take requests", "cpu 100 parse", service(r, kind, period, "serve"), "reply")
    plan.decoy("think", "parse")
    plan.plant("serve", planted_as(kind), "worker")


def processes_scatter(plan, r, kind):
    """A process that asks several others and needs all answers."""
    period = r.uniform(4000, 8000)
    names = [f"shard_{letter}" for letter in "abcd"[:r.randint(2, 4)]]
    limit = r.randrange(len(names))
    plan.line("pipe answers 8")
    for name in names:
        plan.line("pipe", name, 2)
    plan.process()
    plan.thread("coordinate", 1, *[f"put {name}" for name in names], *["take answers"] * len(names), "drop", "cpu 150 merge",
                "count")
    plan.decoy("merge")
    for i, name in enumerate(names):
        plan.process()
        us = period if i == limit else period * r.uniform(0.2, 0.6)
        plan.thread(name, 1, f"take {name}", service(r, kind if i == limit else "sleep", us, name), "put answers")
        if i != limit:
            plan.decoy(name)
    plan.plant(names[limit], planted_as(kind), names[limit])


# --- services that are no part of the target ---

def remote_service(plan, kind, port, name, threads, us, piece):
    """Adds a process outside of the target that answers at this port."""
    plan.process(1, "outside")
    plan.thread(name, threads, f"take {port}", f"{kind} {us:.0f} {piece}", "reply")


def upstream(plan, r, kind):
    """Workers that ask a service, and another one shortly."""
    threads = 1 if kind == "cpu" else r.randint(1, 4)
    period = r.uniform(2500, 5000)
    workers = threads + r.randint(1, 3)
    plan.line("port upstream")
    plan.line("port cache")
    plan.process()
    plan.thread("app", workers, "cpu 100 parse", "call cache", f"sleep {period * r.uniform(0.1, 0.2):.0f} local",
                "call upstream", "count")
    remote_service(plan, kind, "upstream", "upstream", threads, period, "upstream")
    remote_service(plan, "cpu", "cache", "cache", 2, 60, "cache")
    plan.decoy("parse", "cache")
    plan.plant("upstream", "thread", "upstream")


def remote_in_lock(plan, r, kind):
    """A lock is held while a service is asked."""
    workers, period = r.randint(3, 6), r.uniform(2500, 5000)
    plan.line("port database")
    plan.process()
    plan.line("lock session")
    local = period * (workers - 1) * r.uniform(0.25, 0.5)
    plan.thread("worker", workers, service(r, "sleep", local, "local"), "cpu 80 parse", "hold session", "call database",
                "release session", "count")
    remote_service(plan, kind, "database", "database", r.randint(1, 2), period, "query")
    plan.decoy("local", "parse")
    plan.plant("query", "thread", "database")


def remote_in_pipeline(plan, r, kind):
    """One stage of a pipeline asks a service."""
    period = r.uniform(3500, 7000)
    plan.line("port storage")
    plan.process()
    for name in ("to_store", "to_ship"):
        plan.queue(name, r.choice([2, 4, 8]))
    askers = r.choice([1, 2, 3])
    serving = 1 if kind == "cpu" else askers
    plan.thread("parse", 1, service(r, "sleep", period * r.uniform(0.3, 0.6), "parse"), "put to_store")
    plan.thread("store", askers, "take to_store", "cpu 80 encode", "call storage", "put to_ship")
    plan.thread("ship", 1, "take to_ship", service(r, "sleep", period * r.uniform(0.3, 0.6), "ship"), "drop", "count")
    remote_service(plan, kind, "storage", "storage", serving, period * serving, "write")
    plan.decoy("parse", "encode", "ship")
    plan.plant("write", "thread", "storage")


# --- programs that end ---

def ends_after(plan, seconds, item_us):
    plan.line("end", max(20, round(seconds * 1e6 / item_us)))


def finite_pipeline(plan, r, kind):
    pipeline(plan, r, kind)
    # A pipeline's planted stage takes between 3 and 7 ms for an item.
    ends_after(plan, r.uniform(1, 1.5), 5000)


def finite_buffers(plan, r, kind):
    buffers(plan, r, kind)
    ends_after(plan, r.uniform(1, 1.5), 6000)


def finite_processes(plan, r, kind):
    """Several processes of which the parent waits for the last item."""
    period = processes_in_a_row(plan, r, kind, r.sample(["fetch", "unpack", "sort", "store"], r.randint(2, 3)))
    ends_after(plan, r.uniform(1, 1.5), period)


WANTED = [
    (osdi24_case1, "cpu", 1), (osdi24_case2, "disk", 1), (wperf_figure1, "disk", 1),
    (pipeline, "cpu", 4), (pipeline, "sleep", 5), (pipeline, "disk", 4),
    (lock, "cpu", 3), (lock, "sleep", 4), (lock, "disk", 2), (two_locks, "sleep", 2),
    (server, "cpu", 2), (server, "sleep", 3), (server, "disk", 2),
    (few_clients, "sleep", 2), (group_commit, "disk", 3),
    (barrier, "cpu", 1), (barrier, "sleep", 2), (barrier, "disk", 1),
    (scatter, "sleep", 2), (nested, "sleep", 2), (nested, "disk", 1), (buffers, "sleep", 1), (buffers, "disk", 1),
    (lock_io, "disk", 2), (two_locks_io, "disk", 1), (pipeline_lock_io, "disk", 1),
    (cpus_workers, "cpu", 1), (cpus_pipeline, "cpu", 1), (cpus_server, "cpu", 1), (cpus_shared, "cpu", 1),
    (processes_pipeline, "sleep", 1), (processes_pipeline, "disk", 1), (prefork, "sleep", 1), (processes_scatter, "sleep", 1),
    (upstream, "sleep", 1), (upstream, "cpu", 1), (remote_in_lock, "sleep", 1), (remote_in_pipeline, "sleep", 1),
    (finite_pipeline, "cpu", 1), (finite_pipeline, "sleep", 1), (finite_buffers, "disk", 1), (finite_processes, "sleep", 1),
]


HEADER = """\
# SPDX-License-Identifier: GPL-2.0-or-later
# Made by make_plans.py: programs with one planted bottleneck each (README.md). The gain of a piece is the throughput with
# that piece twice as fast, divided by the throughput as it is, as measured when the plan was made.
"""


def generate(planted, directory, path):
    """Adds to the file the wanted plans that it does not have yet. Each seed is tried once, in order."""
    made = collections.Counter(plan.name.rsplit("-", 1)[0] for plan in plans.read(path)) if os.path.exists(path) else {}
    seed = max((int(plan.name.rsplit("-", 1)[1]) for plan in plans.read(path)), default=0) if made else 0
    with open(path, "a", encoding="ascii") as file:
        if not made:
            file.write(HEADER)
        for generator, kind, count in WANTED:
            for _ in range(count - made.get(f"{generator.__name__}-{kind}", 0)):
                while True:
                    seed += 1
                    plan = plans.Plan(f"{generator.__name__}-{kind}-{seed}")
                    generator(plan, random.Random(seed), kind)
                    measured = plans.gains(planted, directory, plan)
                    found = ", ".join(f"{piece} {gain:.2f}" for piece, gain in measured.items())
                    is_true = plans.is_true(plan, measured)
                    print(f"{plan.name}: {found}:", "true" if is_true else "not true, next", file=sys.stderr, flush=True)
                    if is_true:
                        break
                print(f"plan {plan.name}", f"# gains: {found}", *plan.lines, "", sep="\n", file=file, flush=True)


if __name__ == "__main__":
    generate(*sys.argv[1:])
