#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Cause: 12 clients update one row; its lock is held until the commit's log has reached the disk (2 ms), and the others wait
for it. Fix: many rows instead of one (group commit then helps them all, several times as much); a disk twice as fast gains
nearly twice. Truth: SHOW ENGINE INNODB STATUS lists the lock waits, and people split the counter."""
import lib


class Load(lib.servers.MariaDbHotRow):
    clients = 12


lib.record(Load)
