#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Cause: nothing is wrong with Redis: requests come for one second, then none for one second. While they come, its thread and
# the client's take the CPUs. Fix: none in the server; the quiet half is no time to save. Truth: a load that pauses (a batch
# job); gains are of the time in which requests come.
. "$(dirname "$0")/lib.sh"
port=$(free_port)
serve redis-server --port "$port" --bind 127.0.0.1 --save '' --dir "$scratch"
until_ready redis-cli -p "$port" ping
bounded sh -c 'while :; do timeout 1 redis-benchmark -p "$0" -t get -c 8 -n 1000000000 -q; sleep 1; done' "$port"
record "$server"
