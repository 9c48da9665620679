#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Cause: max_wal_size is small for these updates (2 MB), so that a checkpoint runs all the time and its writes, and the
whole pages that each one brings into the log, compete with the commits of 8 clients for the disk (2 ms a request). Fix: a
larger max_wal_size (fewer checkpoints and whole pages), or a faster disk. Truth: "checkpoints are occurring too frequently"
in the log; people raise max_wal_size."""
import lib


class Load(lib.servers.PostgreSqlHotRow):
    clients = 8
    segment_mb, log_size, checkpoint_every = 1, "2MB", "30s"
    update = "\\set aid random(1, 100000)\nUPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = :aid;\n"


lib.record(Load)
