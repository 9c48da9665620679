#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Cause: the client. memcached has four threads; its load comes from one thread of memcaslap, which is busy on one CPU all the
# time, and the server waits for its requests. Fix: a second client (thread); nothing in the server. Truth: people see
# memcached at half of a CPU and the client at 100 % in top.
. "$(dirname "$0")/lib.sh"
port=$(free_port)
serve memcached -u root -l 127.0.0.1 -p "$port" -U 0 -t 4 -m 256
until_ready port_open "$port"
bounded memcaslap --servers="127.0.0.1:$port" --threads=1 --concurrency=16 --fixed_size=100 --time=119s
record "$server"
