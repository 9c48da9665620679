#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Cause: the clients. Four of them each ask for one row by its key and then think for 20 ms, so that the server is idle and
waits for them. Fix: more clients (a larger pool in the application) or less thinking; nothing in the server. Truth:
pg_stat_activity shows Client/ClientRead everywhere, and people enlarge the pool of the application."""
import lib


class Load(lib.OwnDisk, lib.servers.PostgreSqlHotRow):
    clients = 4
    update = "\\set aid random(1, 100000)\nSELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n\\sleep 20 ms\n"


lib.record(Load)
