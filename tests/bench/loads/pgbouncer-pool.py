#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Cause: pgbouncer has two connections to the server (default_pool_size), and each query takes 10 ms there in a sleep; 16
clients queue in pgbouncer, and CPUs are idle. Fix: a larger pool, in proportion; or faster queries. Truth: SHOW POOLS has
cl_waiting 14 and maxwait rising; people raise default_pool_size."""
import os
from pathlib import Path

import lib


class Load(lib.OwnDisk, lib.servers.PostgreSqlHotRow):
    clients = 16
    update = "SELECT pg_sleep(0.01);\n"

    def start(self, undo):
        super().start(undo)
        server_port, port = self.client[3], lib.servers.free_port()
        conf = Path(os.path.dirname(self.directory), "pgbouncer.ini")
        conf.write_text(
            f"[databases]\npostgres = host=127.0.0.1 port={server_port} user=postgres\n[pgbouncer]\nlisten_addr = 127.0.0.1\n"
            f"listen_port = {port}\nauth_type = any\npool_mode = transaction\ndefault_pool_size = 2\n"
            "unix_socket_dir =\nignore_startup_parameters = extra_float_digits\n", encoding="ascii")
        self.bouncer = undo.enter_context(lib.servers.running(*self.as_postgres, "pgbouncer", conf))
        self.client[3] = port
        lib.servers.until_ready("psql", *self.client, "-c", "select 1")

    def target(self, _):
        return [self.bouncer.pid]


lib.record(Load)
