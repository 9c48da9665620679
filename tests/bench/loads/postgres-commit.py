#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Cause: 4 clients insert a row in a transaction each, and each commit waits until the disk (2 ms a request) has the log.
Fix: a faster disk in proportion, several rows in a transaction, synchronous_commit=off (many times as much), more clients for
each sync. Truth: people see IO/WALSync in pg_stat_activity, and batch, or buy a disk with a protected cache."""
import lib


class Load(lib.servers.PostgreSqlHotRow):
    clients = 4
    update = "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (1, 1, 1, 1, now());\n"


lib.record(Load)
