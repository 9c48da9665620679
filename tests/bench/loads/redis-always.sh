#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Cause: appendfsync always: the only thread that executes commands waits for the disk (2 ms) before it answers, in each round
# of its loop; 8 clients. Fix: appendfsync everysec (many times as much); a disk twice as fast gains nearly twice; more
# clients for each sync. Truth: people choose everysec, or a disk with a protected cache.
. "$(dirname "$0")/lib.sh"
slow_disk 2000
port=$(free_port)
serve redis-server --port "$port" --bind 127.0.0.1 --save '' --dir "$scratch/disk" --appendonly yes --appendfsync always
until_ready redis-cli -p "$port" ping
bounded redis-benchmark -p "$port" -t set -c 8 -r 100000 -n 1000000000 -q
record "$server"
