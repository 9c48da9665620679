# SPDX-License-Identifier: GPL-2.0-or-later
"""Families of random programs for simulator.py. Each is a function from a random.Random to a Program."""

from simulator import Kind, Program

CLIENTS = 5000  # the process of clients that are no part of the target


def forever(step):
    """A body that repeats `step`."""

    def body(thread):
        while True:
            yield from step(thread)

    return body


def work(thread, what, us):
    """`us` of the time of `what`: cpu, sleep, remote, or a disk's name."""
    if what == "cpu":
        yield from thread.run(us)
    elif what == "sleep":
        yield from thread.sleep(us)
    elif what == "remote":
        yield from thread.remote(us)
    else:
        yield from thread.request(what, us)


def clients(number, queue, outside=True):
    def step(thread):
        yield from thread.run(30)
        yield from thread.call(queue)
        thread.count()

    return Kind("client", number, forever(step), outside, CLIENTS if outside else 1000)


def map_reduce(random):
    """A driver gives tasks to mappers and, when all are done, has one reducer put the results together."""
    tasks, mappers = random.choice([4, 8, 16]), random.choice([2, 4])
    what, task_us, reduce_us = random.choice(["cpu", "vda"]), random.uniform(500, 4000), random.uniform(500, 8000)

    def driver(thread):
        yield from thread.run(100)
        for _ in range(tasks):
            yield from thread.put("tasks", thread)
        yield from thread.answers(tasks)
        yield from thread.call("results")
        thread.count()

    def mapper(thread):
        asker = yield from thread.take("tasks")
        yield from thread.run(50)
        yield from work(thread, what, task_us)
        thread.answer(asker)

    def reducer(thread):
        asker = yield from thread.take("results")
        yield from thread.run(reduce_us)
        thread.answer(asker)

    return Program([Kind("driver", 1, forever(driver)), Kind("mapper", mappers, forever(mapper)),
                    Kind("reducer", 1, forever(reducer))],
                   disks={"vda": random.choice([1, 4])}, queues={"tasks": 0, "results": 0})


def single_flight(random):
    """Of the threads that miss the same key in a cache, one reads the disk, and the others wait for what it reads."""
    keys, misses, read_us = random.choice([1, 2, 4]), random.uniform(0.2, 0.8), random.uniform(1000, 5000)
    hit_us = random.uniform(50, 600)

    def step(thread):
        reading = thread.world.state  # key: threads that wait for it
        asker = yield from thread.take("requests")
        yield from thread.run(hit_us)
        if thread.chance(misses):
            key = thread.random.randrange(keys)
            if key in reading:
                reading[key].append(thread)
                yield from thread.answers(1)
            else:
                reading[key] = []
                yield from thread.request("vda", read_us)
                for other in reading.pop(key):
                    thread.answer(other)
        thread.answer(asker)

    return Program([clients(random.choice([4, 12]), "requests"), Kind("server", random.choice([4, 8]), forever(step))],
                   disks={"vda": 32}, queues={"requests": 0})


def replication(random):
    """A leader writes its log while two followers write theirs, and answers when itself and one of them are done."""
    leader_us, follower_us, send_us = (random.uniform(300, 4000) for _ in range(3))

    def leader(thread):
        asker = yield from thread.take("writes")
        yield from thread.run(200)
        round_ = Round(thread)
        for queue in ("first", "second"):
            yield from thread.put(queue, round_)
        yield from thread.request("vda", leader_us)
        yield from thread.answers(1)
        thread.answer(asker)

    def follower(queue, disk):
        def step(thread):
            round_ = yield from thread.take(queue)
            yield from thread.remote(send_us)
            yield from thread.request(disk, follower_us)
            round_.acknowledge(thread)

        return forever(step)

    return Program([clients(random.choice([1, 4, 8]), "writes"), Kind("leader", 1, forever(leader)),
                    Kind("mirror", 1, follower("first", "vdb")), Kind("replica", 1, follower("second", "vdc"))],
                   disks={"vda": 1, "vdb": 1, "vdc": 1}, queues={"writes": 0, "first": 0, "second": 0})


class Round:
    """Only the first acknowledgement counts."""

    def __init__(self, leader):
        self.leader, self.acknowledged = leader, False

    def acknowledge(self, follower):
        if not self.acknowledged:
            self.acknowledged = True
            follower.answer(self.leader)


def frames(random):
    """Decode, filter in slices, encode: each frame is split among helpers, and few frames are under way."""
    decode_us, slice_us, encode_us = (random.uniform(500, 5000) for _ in range(3))
    slices = random.choice([2, 4])

    def decoder(thread):
        yield from thread.run(decode_us)
        yield from thread.put("decoded")

    def filter_(thread):
        yield from thread.take("decoded")
        for _ in range(slices):
            yield from thread.put("slices", thread)
        yield from thread.answers(slices)
        yield from thread.put("filtered")

    def helper(thread):
        asker = yield from thread.take("slices")
        yield from thread.run(slice_us)
        thread.answer(asker)

    def encoder(thread):
        yield from thread.take("filtered")
        yield from thread.run(encode_us)
        thread.count()

    return Program([Kind("decode", 1, forever(decoder)), Kind("filter", 1, forever(filter_)),
                    Kind("helper", slices, forever(helper)), Kind("encode", 1, forever(encoder))],
                   queues={"decoded": random.choice([1, 4]), "slices": 0, "filtered": random.choice([1, 4])})


def actors(random):
    """Workers take messages from one queue; each message is for an actor, and an actor does one thing at a time."""
    number, hot = random.choice([4, 16]), random.uniform(0.2, 0.9)
    what, inside_us, outside_us = random.choice(["cpu", "vda", "remote"]), random.uniform(200, 2500), random.uniform(50, 800)

    def step(thread):
        asker = yield from thread.take("messages")
        yield from thread.run(outside_us)
        actor = 0 if thread.chance(hot) else thread.random.randrange(number)
        yield from thread.lock(f"actor{actor}")
        yield from work(thread, what, inside_us)
        thread.unlock(f"actor{actor}")
        thread.answer(asker)

    return Program([clients(random.choice([4, 16]), "messages"), Kind("worker", random.choice([2, 6]), forever(step))],
                   disks={"vda": 32}, queues={"messages": 0}, locks=[f"actor{i}" for i in range(number)])


def checkpoint(random):
    """After so many operations, the thread that made the last one writes a checkpoint, with the log's lock held."""
    every, write_us = random.choice([10, 40]), random.uniform(2000, 20000)
    work_us, log_us = random.uniform(200, 2000), random.uniform(10, 100)

    def step(thread):
        yield from thread.run(work_us)
        yield from thread.lock("log")
        yield from thread.run(log_us)
        state = thread.world.state
        state["done"] = state.get("done", 0) + 1
        if state["done"] % every == 0:
            yield from thread.request("vda", write_us)
        thread.unlock("log")
        thread.count()

    return Program([Kind("writer", random.choice([2, 4, 8]), forever(step))], disks={"vda": 1}, locks=["log"])


def double_buffer(random):
    """A producer fills one of two buffers while a writer empties the other one."""
    fill = random.choice(["cpu", "vdb", "remote"])
    fill_us, pack_us, write_us = random.uniform(500, 5000), random.uniform(50, 2000), random.uniform(500, 5000)

    def producer(thread):
        yield from thread.take("empty")
        yield from work(thread, fill, fill_us)
        yield from thread.put("full")

    def writer(thread):
        while True:
            yield from thread.take("full")
            yield from thread.run(pack_us)
            yield from thread.request("vda", write_us)
            yield from thread.put("empty")
            thread.count()

    def first_of_both(thread):
        for _ in range(2):
            yield from thread.put("empty")
        yield from writer(thread)

    return Program([Kind("produce", 1, forever(producer)), Kind("write", 1, first_of_both)],
                   disks={"vda": 1, "vdb": 1}, queues={"empty": 0, "full": 0})


def hot_shard(random):
    """A router sends each request to the shard of its key; one shard gets most of them."""
    shards, hot = random.choice([2, 4]), random.uniform(0.3, 0.9)
    what, shard_us, route_us = random.choice(["cpu", "vda"]), random.uniform(300, 2500), random.uniform(10, 300)

    def router(thread):
        asker = yield from thread.take("requests")
        yield from thread.run(route_us)
        shard = 0 if thread.chance(hot) else thread.random.randrange(shards)
        yield from thread.put(f"shard{shard}", asker)

    def shard(thread):
        asker = yield from thread.take(f"shard{thread.number}")
        yield from thread.run(40)
        yield from work(thread, what, shard_us)
        thread.answer(asker)

    return Program([clients(random.choice([4, 16]), "requests"), Kind("router", 1, forever(router)),
                    Kind("shard", shards, forever(shard))],
                   disks={"vda": 32}, queues={"requests": 0} | {f"shard{i}": 0 for i in range(shards)})


def bystanders(random):
    """A small server beside threads of its process that have nothing to do with it."""
    serve_us, read_us, what = random.uniform(100, 800), random.uniform(800, 4000), random.choice(["vda", "remote", "sleep"])

    def server(thread):
        asker = yield from thread.take("requests")
        yield from thread.run(serve_us)
        yield from work(thread, what, read_us)
        thread.answer(asker)

    def spinner(thread):
        yield from thread.run(20000)

    def ticker(thread):
        yield from thread.sleep(random.choice([1000, 20000]))
        yield from thread.run(20)

    kinds = [clients(random.choice([2, 8]), "requests", outside=random.random() < 0.5),
             Kind("server", random.choice([1, 4]), forever(server))]
    kinds += [Kind("spin", 1, forever(spinner))] * (random.random() < 0.7)
    kinds += [Kind("tick", 1, forever(ticker))] * (random.random() < 0.7)
    return Program(kinds, disks={"vda": random.choice([1, 32])}, queues={"requests": 0})


def throttled_writers(random):
    """Writers that sleep a little, more often or for longer, while a compaction is behind; and stop at twice that."""
    writers, write_us, log_us = random.choice([1, 2, 4]), random.uniform(50, 400), random.choice([0, random.uniform(200, 1200)])
    each, load = random.choice([5, 20, 60]), random.choice([0.6, 1.3, 1.8, 2.5])
    merge_us = each * (write_us + log_us) / writers * load
    on_cpu, many, delay_us = random.uniform(0.2, 0.8), 3 * each, random.uniform(300, 1500)
    grows = random.random() < 0.4

    def writer(thread):
        state = thread.world.state
        yield from thread.run(write_us)
        if log_us:
            yield from thread.request("vda", log_us)
        state["behind"] = state.get("behind", 0) + 1
        if state["behind"] % each == 0:
            yield from thread.put("merges")
        behind = state["behind"] - many
        if behind >= 0:
            yield from thread.sleep(delay_us * (1 + behind / each) / 4 if grows else delay_us)
        while state["behind"] >= 2 * many:
            state["stopped"] = state.get("stopped", 0) + 1
            yield from thread.take("go_on")
        thread.count()

    def compaction(thread):
        state = thread.world.state
        yield from thread.take("merges")
        yield from thread.run(merge_us * on_cpu)
        yield from thread.request("vdb", merge_us * (1 - on_cpu))
        state["behind"] -= each
        for _ in range(state.pop("stopped", 0)):
            yield from thread.put("go_on")

    return Program([Kind("writer", writers, forever(writer)), Kind("compact", 1, forever(compaction))],
                   disks={"vda": 32, "vdb": 4}, queues={"merges": 0, "go_on": 0})


def fixed_rate(random):
    """Threads that work once in each period, and sleep for the rest of it; some have other threads do the work."""
    period_us, frames = random.uniform(2000, 10000), random.choice([1, 2, 4])
    run_us, read_us = random.uniform(0.02, 0.2) * period_us, random.uniform(0.02, 0.2) * period_us
    hands_on = random.random() < 0.4

    def frame(thread):
        yield from thread.sleep_until_next(period_us)
        yield from thread.run(run_us)
        if hands_on:
            yield from thread.call("jobs")
        else:
            yield from thread.request("vda", read_us)
        thread.count()

    def job(thread):
        asker = yield from thread.take("jobs")
        yield from thread.request("vda", read_us)
        thread.answer(asker)

    return Program([Kind("frame", frames, forever(frame))] + [Kind("job", 4, forever(job))] * hands_on,
                   disks={"vda": 32}, queues={"jobs": 0})


def checkpoint_by_time(random):
    """From time to time a thread stops all others while it writes a checkpoint. If it sleeps for less long, it does so
    more often."""
    workers, run_us, read_us = random.choice([2, 4]), random.uniform(50, 600), random.uniform(50, 600)
    pause_us, write_us = random.uniform(5000, 25000), random.uniform(2000, 12000)

    def worker(thread):
        while thread.world.state.get("stop"):
            thread.world.state["stopped"] = thread.world.state.get("stopped", 0) + 1
            yield from thread.take("go_on")
        yield from thread.run(run_us)
        yield from thread.request("vda", read_us)
        thread.count()

    def checkpoint_thread(thread):
        state = thread.world.state
        yield from thread.sleep(pause_us)
        state["stop"] = True
        yield from thread.run(write_us / 3)
        yield from thread.request("vdb", write_us)
        state["stop"] = False
        for _ in range(state.pop("stopped", 0)):
            yield from thread.put("go_on")

    return Program([Kind("worker", workers, forever(worker)), Kind("checkpoint", 1, forever(checkpoint_thread))],
                   disks={"vda": 8, "vdb": 1}, queues={"go_on": 0})


def batches(random):
    """A sender takes all that is there, waits for the rest of its batch for a while, and sends it on."""
    producers, linger_us = random.choice([4, 16]), random.uniform(100, 1000)
    make_us, send_us = random.uniform(100, 1500), random.uniform(100, 1500)
    what = random.choice(["cpu", "vda"])

    def producer(thread):
        yield from work(thread, what, make_us)
        yield from thread.call("batch")
        thread.count()

    def sender(thread):
        askers = [(yield from thread.take("batch"))]
        yield from thread.sleep(linger_us)
        while thread.world.queues["batch"].items:
            askers.append((yield from thread.take("batch")))
        yield from thread.remote(send_us)
        for asker in askers:
            thread.answer(asker)

    return Program([Kind("producer", producers, forever(producer)), Kind("sender", 1, forever(sender))],
                   disks={"vda": random.choice([2, 32])}, queues={"batch": 0})


FAMILIES = {family.__name__: family for family in
            (map_reduce, single_flight, replication, frames, actors, checkpoint, double_buffer, hot_shard, bystanders,
             throttled_writers, fixed_rate, checkpoint_by_time, batches)}
