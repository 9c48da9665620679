#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Cause: each query of 2 clients reads a table of 100,000 rows for want of an index; all is in memory, so both backends
compute all the time. Fix: an index on the column (thousands of times as much); more CPUs or clients help little. Truth:
EXPLAIN shows a Seq Scan, and people create the index."""
import lib


class Load(lib.OwnDisk, lib.servers.PostgreSqlHotRow):
    clients = 2
    update = "\\set balance random(1, 1000000)\nSELECT count(*) FROM pgbench_accounts WHERE abalance = :balance;\n"

    def load(self, seconds):
        return ["env", "PGOPTIONS=-c max_parallel_workers_per_gather=0", *super().load(seconds)]


lib.record(Load)
