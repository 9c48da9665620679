#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Cause: each query of 3 clients looks at 20,000 rows for want of an index; all is in memory, so the threads compute all the
time on both CPUs. Fix: an index (hundreds of times as much); no lock and no disk matters. Truth: the slow query log says
Rows_examined, and people add the index."""
import os
from pathlib import Path

import lib

QUERY = """
function thread_init() connection = sysbench.sql.driver():connect() end
function event() connection:query("SELECT COUNT(*) FROM sbtest1 WHERE c LIKE '%" .. sysbench.rand.uniform(1, 999) .. "-1%'") end
"""


class Load(lib.OwnDisk, lib.servers.MariaDb):
    clients, tables, rows = 3, 1, 20000

    def load(self, seconds):
        script = os.path.join(self.directory, "scan.lua")
        Path(script).write_text(QUERY, encoding="ascii")
        self.sysbench[1] = script
        options = [option for option in self.sysbench if "table" not in option]
        return [*options, f"--threads={self.clients}", f"--time={seconds}", "run"]


lib.record(Load)
