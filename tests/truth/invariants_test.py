#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Changes of a trace that may not change its first answer: invariants_test.py OFFWAIT.

Each test changes the traces of simulated programs (families.py) whose answer is sure and worth 20 % or more, and
compares what comes first, about which threads or disk, and the gain."""

import dataclasses
import json
import math
import random
import re
import subprocess
import sys
import unittest
from multiprocessing.pool import ThreadPool

from families import FAMILIES, clients, forever
from judge import program
from simulator import MS, Kind, Program, World

SEEDS = range(4)
WINDOW_NS = 600 * MS
# Fields that are points in time, in ns.
TIMES = re.compile(r"(?<= )(block|wake|run|out|issue|complete|start|exit)=(\d+)")
STRANGER = 900_000  # the first thread that a test adds


@dataclasses.dataclass(frozen=True)
class Answer:
    what: str
    about: tuple  # names of its actor and device
    gain: float
    certainty: str


def answers_of(offwait, text):
    """Without locks, whose gains are bounds."""
    run = subprocess.run([offwait, "report", "-", "--json", "-", "-q"], input=text, capture_output=True, text=True, check=True)
    report = json.loads(run.stdout)
    names = {actor["id"]: re.sub("×.*", "", actor["name"]) for actor in report["actors"]}
    return [Answer(answer["what"], tuple(names[answer[key]] for key in ("actor", "device") if answer.get(key) is not None),
                   answer["gain"], answer["certainty"]) for answer in report["answers"] if answer["what"] != "lock"]


def is_kept(before, after, points):
    """Whether the first answer is the same; of parts that gain the same, either may be first."""
    as_good = [answer for answer in before if 100 * (before[0].gain - answer.gain) <= 2]
    return bool(after) and 100 * abs(after[0].gain - before[0].gain) <= points and \
        any((after[0].what, after[0].about) == (answer.what, answer.about) for answer in as_good)


def with_times(text, new):
    """Every point in time t is new(t)."""
    text = TIMES.sub(lambda found: f"{found[1]}={new(int(found[2]))}", text)
    return re.sub(r"^window (\d+) (\d+)$", lambda found: f"window {new(int(found[1]))} {new(int(found[2]))}", text, flags=re.M)


def window_of(text):
    return tuple(map(int, re.search(r"^window (\d+) (\d+)$", text, re.M).groups()))


def with_window(text, begin, end):
    return re.sub(r"^window .*$", f"window {begin} {end}", text, flags=re.M)


def relabelled(text):
    """Other thread ids, and another order of lines: threads and disks come first, events of one thread stay in order."""
    mix = random.Random(1)
    ids = sorted(set(re.findall(r"^thread (\d+)", text, re.M)))
    others = dict(zip(ids, mix.sample(range(20_000, 30_000), len(ids))))
    text = re.sub(r"^(thread|wait|preempt|io) (\d+)", lambda found: f"{found[1]} {others[found[2]]}", text, flags=re.M)
    text = re.sub(r"waker=thread:(\d+)", lambda found: f"waker=thread:{others[found[1]]}", text)
    lines = text.splitlines()
    head, rest = lines[:3], lines[3:]
    declared = [line for line in rest if line.split()[0] in ("disk", "thread")]
    events = [line for line in rest if line not in set(declared)]
    mix.shuffle(declared)
    of_thread = {}
    for line in events:
        of_thread.setdefault(line.split()[1], []).append(line)
    turns = [thread for thread, lines in of_thread.items() for _ in lines]
    mix.shuffle(turns)
    left = {thread: iter(lines) for thread, lines in of_thread.items()}
    events = [next(left[thread]) for thread in turns]
    return "\n".join(head + declared + events) + "\n"


def warped(text):
    """Clocks that go wrong by 1 % of the window, to and fro."""
    begin, end = window_of(text)
    length = end - begin
    return with_times(text, lambda t: t and round(t + 0.01 * length / (4 * math.pi) * math.sin(4 * math.pi * (t - begin) / length)))


def with_threads(text, declared, waits):
    lines = text.splitlines()
    return "\n".join(lines[:3] + declared + lines[3:] + waits) + "\n"


def idle_threads(text):
    begin, _ = window_of(text)
    ids = range(STRANGER, STRANGER + 30)
    return with_threads(text, [f"thread {tid} tgid=1000 comm=idle start=0 exit=-" for tid in ids],
                        [f"wait {tid} block={begin // 2} wake=- run=- waker=- class=futex stack=futex_wait;--;idle_main"
                         for tid in ids])


def ticker(text):
    begin, end = window_of(text)
    waits = [f"wait {STRANGER} block={at} wake={at + 9_990_000} run={at + 9_993_000} waker=timer class=sleep "
             "stack=do_nanosleep;--;tick_main" for at in range(begin, end - 10_000_000, 10_000_000)]
    return with_threads(text, [f"thread {STRANGER} tgid=1000 comm=ticker start=0 exit=-"], waits)


def busy_stranger(process, outside=""):
    """A thread that always runs, but for a short wait now and then. It has a CPU of its own."""

    def add(text):
        begin, end = window_of(text)
        waits = [f"wait {STRANGER} block={at} wake={at + 1000} run={at + 2000} waker=timer class=sleep stack=do_nanosleep;--;spin"
                 for at in range(begin + 1_000_000, end - 1_000_000, 50_000_000)]
        text = re.sub(r"cpus=(\d+)", lambda found: f"cpus={int(found[1]) + 1}", text)
        return with_threads(text, [f"thread {STRANGER} tgid={process} comm=stranger start=0 exit=-{outside}"], waits)

    return add


class Invariants(unittest.TestCase):
    offwait = None
    programs = []  # (name, text, answers)

    @classmethod
    def setUpClass(cls):
        def judged(one):
            family, seed = one
            world = World(program(family, seed), seed, window_ns=WINDOW_NS)
            world.run()
            text = world.text()
            return f"{family} {seed}", text, answers_of(cls.offwait, text)

        with ThreadPool() as pool:
            every = pool.map(judged, [(family, seed) for family in FAMILIES for seed in SEEDS])
        cls.programs = [one for one in every if one[2] and one[2][0].certainty == "sure" and one[2][0].gain >= 0.2]

    def check(self, change, points=5.0, but_one_of=None, without=None):
        """`but_one_of`: a family of which the change may alter one program. `without`: one that it alters."""
        programs = [one for one in self.programs if one[0].split()[0] != without]
        self.assertGreaterEqual(len(programs), 8)
        with ThreadPool() as pool:
            after = pool.map(lambda one: answers_of(self.offwait, change(one[1])), programs)
        broken = [(name, before[0], now[:1]) for (name, _, before), now in zip(programs, after)
                  if not is_kept(before, now, points)]
        if len(broken) == 1 and broken[0][0].split()[0] == but_one_of:
            return
        self.assertEqual(broken, [])

    def test_names_and_order_of_lines_mean_nothing(self):
        self.check(relabelled, points=0.5)

    def test_a_program_that_is_twice_as_slow_gains_the_same(self):
        self.check(lambda text: with_times(text, lambda t: 2 * t), points=1)

    def test_clocks_that_go_a_little_wrong(self):
        # Threads at a fixed rate are known by periods that are steadier than their sleeps, which vary by no more than
        # such clocks go wrong.
        self.check(warped, without="fixed_rate")

    def test_either_half_of_the_window(self):
        def first_half(text):
            begin, end = window_of(text)
            return with_window(text, begin, (begin + end) // 2)

        def second_half(text):
            begin, end = window_of(text)
            return with_window(text, (begin + end) // 2, end)

        for half in (first_half, second_half):
            with self.subTest(half.__name__):
                # In the family `replication` the first of two answers counts: one service limits in one half, the
                # other one in the next.
                self.check(half, points=20, but_one_of="replication")

    def test_any_number_of_clients(self):
        def serve(thread):
            asker = yield from thread.take("requests")
            yield from thread.run(200)
            yield from thread.request("vda", 1000)
            thread.answer(asker)

        for number in (4, 8, 16, 32, 64):
            with self.subTest(number):
                served = Program([clients(number, "requests"), Kind("server", 4, forever(serve))], disks={"vda": 1},
                                 queues={"requests": 0})
                world = World(served, 1, window_ns=WINDOW_NS)
                world.run()
                answer = answers_of(self.offwait, world.text())[0]
                self.assertEqual((answer.what, answer.about, answer.certainty), ("disk", ("vda",), "sure"))
                self.assertAlmostEqual(answer.gain, 1, delta=0.15)

    def test_idle_threads(self):
        self.check(idle_threads)

    def test_a_ticker(self):
        self.check(ticker)

    def test_a_busy_thread_in_the_target(self):
        self.check(busy_stranger(1000))

    def test_a_busy_thread_of_another_process_of_the_target(self):
        self.check(busy_stranger(STRANGER))

    def test_a_busy_thread_outside_of_the_target(self):
        self.check(busy_stranger(STRANGER, " outside=yes"))


if __name__ == "__main__":
    Invariants.offwait = sys.argv.pop(1)
    unittest.main(verbosity=2)
