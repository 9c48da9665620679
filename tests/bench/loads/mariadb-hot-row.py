#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Cause: 12 clients update one row of a server with a binary log; its lock is held until the logs have reached the disk (2 ms
a request), and the others wait for it. Fix: many rows instead of one (group commit then helps them all, several times as much:
22 and 109 updates/s on a busy machine); a disk twice as fast gains nearly twice. Truth: SHOW ENGINE INNODB STATUS lists the
lock waits, and people split the counter. Without the binary log InnoDB lets go of the row before the log is synced: then one
row is as fast as many (1,215 and 1,040 updates/s, with 11 ms of lock waits in 6 s), and the disk alone limits."""
import lib


class Load(lib.servers.MariaDbHotRow):
    clients = 12

    def options(self):
        return [f"--log-bin={self.directory}/binlog", "--sync-binlog=1", "--server-id=1"]


lib.record(Load)
