#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Cause: a client sends each command to memcached in two small writes, without TCP_NODELAY: Nagle's algorithm keeps the second
# back until the first is acknowledged, which the other side delays for 40 ms. The client is recorded; it waits 40 ms for each
# answer of a server that needs microseconds. Fix: one write, or TCP_NODELAY (hundreds of times as much); a faster server does
# not help. Truth: "always 40 ms"; people find it with tcpdump.
. "$(dirname "$0")/lib.sh"
port=$(free_port)
serve memcached -u root -l 127.0.0.1 -p "$port" -U 0
until_ready port_open "$port"
cat >"$scratch/client.py" <<'END'
import socket
import sys

with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as server:
    for _ in range(3000):  # two minutes
        server.send(b"set key 0 60 5\r\n")
        server.send(b"value\r\n")
        server.recv(100)
END
spawn /usr/bin/python3 "$scratch/client.py" "$port"
record "$load"
