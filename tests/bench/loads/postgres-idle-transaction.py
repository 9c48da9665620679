#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Cause: 8 clients update one row and then think for 20 ms in the same transaction (idle in transaction); all others wait for
the row's lock until the client commits. Nothing in the server is slow. Fix: commit before thinking (8 times as much), or no
shared row. Truth: people see 'idle in transaction' beside Lock/transactionid in pg_stat_activity, and change the
application."""
import lib


class Load(lib.OwnDisk, lib.servers.PostgreSqlHotRow):
    update = ("BEGIN;\nUPDATE pgbench_branches SET bbalance = bbalance + 1 WHERE bid = 1;\n"
              "\\sleep 20 ms\nEND;\n")


lib.record(Load)
