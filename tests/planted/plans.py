# SPDX-License-Identifier: GPL-2.0-or-later
"""Plans with one planted bottleneck each: how they are written and read, and how their truth is measured."""
import collections
import statistics
import subprocess
import time

PLANTED_GAIN = 1.2
DECOY_GAIN = 1.05
OPERATIONS = ("cpu", "sleep", "sync", "read")  # of pieces
CPUS = "cpus"  # the piece of a plan that is the number of CPUs

# kind: thread, disk (by this thread), lock, or cpus
Planted = collections.namedtuple("Planted", "piece kind name")


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

    def process(self, copies=1, where="inside"):
        self.line("process", copies, where)

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

    @property
    def ends(self):
        """Whether the program ends by itself."""
        return any(line.startswith("end ") for line in self.lines)

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

    def threads_beside(self, names):
        """The names of all threads in the processes of these."""
        processes = [set()]
        for words in map(str.split, self.lines):
            if words[0] == "process":
                processes.append(set())
            elif words[0] == "thread":
                processes[-1].add(words[1])
        return set().union(*(threads for threads in processes if threads & names))

    def pieces(self):
        return list(dict.fromkeys(words[2] for words in map(str.split, self.lines)
                                  if len(words) == 3 and words[0] in OPERATIONS))

    def has_cpus(self):
        return any(line.startswith("cpus ") for line in self.lines)

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

def twice_as_fast(pieces):
    """The arguments of `planted` that make these pieces, of every part, twice as fast."""
    return [word for piece in pieces for word in ("--speed", piece + "=2")]


def rate(planted, directory, plan, arguments=(), seconds=0.5):
    """The throughput with these arguments of `planted`: in items per second or, if the plan ends, in programs per second."""
    command = [planted, "--directory", directory, *arguments]
    if not plan.ends:
        command += ["--seconds", str(seconds)]
    begin = time.monotonic()
    run = subprocess.run(command, input=plan.text, stdout=subprocess.PIPE, text=True, check=True)
    return 1 / (time.monotonic() - begin) if plan.ends else float(run.stdout)


def ratios(planted, directory, plan, arguments, rounds):
    """The throughput with these arguments divided by that without, measured so many times, alternately."""
    found = []
    for _ in range(rounds):
        before = rate(planted, directory, plan)
        faster = rate(planted, directory, plan, arguments)
        found.append(faster / before if before else 0.0)
    return found


def gains(planted, directory, plan, rounds=(3, 5, 7)):
    """{piece: the throughput with that piece twice as fast, divided by the throughput as it is}. Each is the median of `rounds`
    rounds, and of more where these leave open whether the plan is true, as on a busy machine."""
    found = collections.defaultdict(list)
    for last in rounds:
        while len(found[plan.planted.piece]) < last:
            for piece in [plan.planted.piece, *plan.decoys]:
                found[piece] += ratios(planted, directory, plan, twice_as_fast([piece]), 1)
        measured = {piece: statistics.median(values) for piece, values in found.items()}
        if is_true(plan, measured) or not is_true(plan, measured, slack=0.1):
            break
    return measured


def is_true(plan, measured, slack=0.0):
    return (measured[plan.planted.piece] >= PLANTED_GAIN - slack
            and all(measured[decoy] <= DECOY_GAIN + slack for decoy in plan.decoys))
