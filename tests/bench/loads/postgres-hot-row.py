#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Cause: 12 clients add to one row, whose lock a transaction has until its commit has reached the disk (2 ms); the others
wait for the lock. Fix: many rows instead of one (the counter split: group commit then helps all of them, several times as
much); a disk twice as fast gains nearly twice. Truth: pg_stat_activity shows Lock/transactionid and Lock/tuple; people split
the counter or insert and sum up."""
import lib


class Load(lib.servers.PostgreSqlHotRow):
    clients = 12


lib.record(Load)
