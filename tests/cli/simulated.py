# SPDX-License-Identifier: GPL-2.0-or-later
"""Text traces of a small simulated server, for tests of comparisons.

    simulated.py DIRECTORY    writes tests/unit/report/diff-*.txt anew: read what changes before committing
"""

import heapq
import pathlib
import random
import sys


def recording(seed, disk_ms=10.0, locked_ms=2.0, compute_ms=1.0, workers=3, seconds=2.0, tid=100, name="srv",
              program="/usr/sbin/srv", responses=True, kernel="6.1.0", cpus=8, samples=True, more=""):
    """Workers answer requests, one after the other: each computes, takes a lock, and writes to a disk."""
    rng = random.Random(seed)
    end = int(seconds * 1e9)
    lines = ["offwait-waits 1", f"window 0 {end}",
             f"recording target=pid%20{tid}%20({name}) start_time=2026-11-22T10:00:00Z kernel={kernel} offwait=0.1.0 "
             f"cpus={cpus} sample_hz={99 if samples else 0}"]
    lines += [f"thread {tid + i} tgid={tid} comm={name}{f'-{i}' if i else ''} start=0 exit=- program={program}"
              for i in range(workers + 1)]
    lines.append(f"thread {tid + 90} tgid={tid} comm=house start=0 exit=- program={program}")

    def drawn(mean_ms):
        return max(1000, int(rng.expovariate(1 / (mean_ms * 1e6))))

    def wait(worker, since, to, waker, what):
        lines.append(f"wait {tid + worker} block={since} wake={to} run={to} waker={waker} {what};serve+0x20%20({name})")

    at = 0
    while (to := at + 100_000_000) < end:
        lines.append(f"wait {tid + 90} block={at} wake={to} run={to} waker=timer class=sleep stack=hrtimer;--;nanosleep")
        at = to + 50_000
    events = [(drawn(compute_ms), i, "computed") for i in range(1, workers + 1)]
    heapq.heapify(events)
    answers = dict.fromkeys(range(1, workers + 1), 0)
    line, holder = [], 0

    def hold(worker, at):
        heapq.heappush(events, (at + drawn(locked_ms), worker, "released"))
        if samples:
            lines.append(f"on_cpu {tid + worker} at={at} stack=--;checksum+0x20%20({name});store+0x20%20({name});serve+0x20%20({name})")

    def write(worker, at):
        to = at + drawn(disk_ms)
        if to < end:
            wait(worker, at, to, "disk:vda", f"class=disk stack=io_schedule;--;fdatasync+0x10%20(libc.so.6);store+0x20%20({name})")
        heapq.heappush(events, (to, worker, "written"))

    while events and events[0][0] < end:
        at, worker, step = heapq.heappop(events)
        if step == "computed" and locked_ms <= 0:
            write(worker, at)
        elif step == "computed" and holder:
            line.append((worker, at))
        elif step == "computed":
            holder = worker
            hold(worker, at)
        elif step == "released":
            holder = 0
            if line:
                holder, since = line.pop(0)
                wait(holder, since, at, f"thread:{tid + worker}",
                     f"class=futex futex=64 stack=futex_wait;--;pthread_mutex_lock+0x10%20(libc.so.6);store+0x20%20({name})")
                hold(holder, at)
            write(worker, at)
        else:
            answers[worker] += 1
            heapq.heappush(events, (at + drawn(compute_ms), worker, "computed"))
    if responses:
        lines += [f"responses {tid + worker} port=80 count={count} connections=1 first=0 last={end - 1}"
                  for worker, count in answers.items() if count]
    return "\n".join(lines) + "\n" + more


def write_samples(directory):
    slow = {"workers": 3, "disk_ms": 40.0, "locked_ms": 8.0, "compute_ms": 4.0}
    for seed in range(1, 4):
        for side, number, options in (("before", seed, {}), ("after", 10 + seed, {"disk_ms": 8.0, "tid": 7000 + 100 * seed})):
            (directory / f"diff-{side}-{seed}.txt").write_text(recording(number, **{**slow, **options}), encoding="ascii")


if __name__ == "__main__":
    write_samples(pathlib.Path(sys.argv[1]))
