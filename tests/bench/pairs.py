# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of a load without a recorder and under one, alternately."""
import statistics
from typing import NamedTuple, Optional

import recorders
import workloads

TIMES_SLOWER = 20  # a recorder that makes a load slower than that is measured no further


class Pair(NamedTuple):
    alone: workloads.Run  # without a recorder
    recorded: workloads.Run
    use: Optional[recorders.Use]

    @property
    def slowdown(self):
        return self.alone.rate / self.recorded.rate - 1

    @property
    def added_ns(self):
        """Wall time added per context switch."""
        return 1e9 * self.slowdown / self.alone.switches


class Spread(NamedTuple):
    low: float
    median: float
    high: float


def quartiles(values):
    values = list(values)
    if len(values) == 1:
        return Spread(values[0], values[0], values[0])
    return Spread(*statistics.quantiles(values, n=4, method="inclusive"))


def one(load, recorder):
    """A run under the recorder, and what the recorder took. Raises TooSlow if that takes far too long."""
    try:
        recorder.start(load.prepare())
        try:
            run = load.run(TIMES_SLOWER * load.seconds)
        except BaseException:
            recorder.abandon()
            raise
        use = recorder.stop()
    finally:
        load.stop()
    return run, use


def measured(load, chosen, count):
    """By recorder: its pairs, `count` rounds of one each. In every second round the run without a recorder comes last. A recorder
    that makes the load TIMES_SLOWER has none."""
    pairs = {name: [] for name in chosen}
    for number in range(count):
        for name, recorder in chosen.items():
            if number > 0 and not pairs[name]:
                continue
            order = (recorders.Nothing(), recorder) if number % 2 == 0 else (recorder, recorders.Nothing())
            runs = {}
            for which in order:
                try:
                    runs[which is recorder] = one(load, which)
                except workloads.TooSlow:
                    if which is not recorder:
                        raise SystemExit("the load is too slow without a recorder") from None
            if True in runs:
                pairs[name].append(Pair(runs[False][0], *runs[True]))
            else:
                pairs[name] = []
    return pairs
