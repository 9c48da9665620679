#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Cause: gunicorn has one sync worker, which waits 10 ms for an upstream in each request; 8 clients queue, CPUs are idle. Fix:
# more workers or threads (gain in proportion to their number), or a faster upstream. Truth: people set -w (2 x CPUs + 1), or
# -k gthread.
. "$(dirname "$0")/lib.sh"
upstream 0.01
port=$(free_port)
cat >"$scratch/app.py" <<END
import urllib.request

def app(environ, start):
    with urllib.request.urlopen("http://$upstream/") as answer:
        body = answer.read()
    start("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]
END
serve gunicorn --chdir "$scratch" -w 1 -k sync -b "127.0.0.1:$port" app:app
until_ready port_open "$port"
ask 8 "127.0.0.1:$port"
record "$server"
