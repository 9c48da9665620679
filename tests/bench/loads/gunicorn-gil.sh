#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Cause: the threads of one Python process compute, and only one can at a time: the GIL. Four threads of gunicorn use one of
# two CPUs. Fix: processes instead of threads (-w 2: nearly twice, with two CPUs that the client also needs), or less work.
# Truth: people set -w.
. "$(dirname "$0")/lib.sh"
port=$(free_port)
cat >"$scratch/app.py" <<'END'
import json

TABLE = [{"number": number, "name": f"row {number}", "tags": ["a", "b"]} for number in range(300)]

def app(environ, start):
    total = sum(len(row["name"]) * index % 7 for row in TABLE for index in range(20))
    body = json.dumps([TABLE, total], indent=1).encode()
    start("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
    return [body]
END
serve gunicorn --chdir "$scratch" -w 1 -k gthread --threads 4 -b "127.0.0.1:$port" app:app
until_ready port_open "$port"
ask 8 "127.0.0.1:$port"
record "$server"
