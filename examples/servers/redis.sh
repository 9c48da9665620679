#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Redis with an append-only file, under 50 clients that send 16 SETs at a time.
#
#   sudo examples/servers/redis.sh [OFFWAIT]
. "$(dirname "$0")/measure.sh"
install redis

socket=$scratch/socket
serve redis-server --port 0 --unixsocket "$socket" --dir "$scratch" --save '' --appendonly yes --auto-aof-rewrite-percentage 0
cli() { redis-cli -s "$socket" "$@"; }
until_ready cli ping

target() { echo "$server"; }
rate() { tr '\r' '\n' <"$scratch/load.out" | sed -n 's/.*(overall: \([0-9.]*\)).*(overall.*/\1/p' | tail -n 1; }
run() { # SECONDS APPENDFSYNC
  cli config set appendfsync "$2" >/dev/null
  spawn timeout --signal=KILL "$1" redis-benchmark -s "$socket" -t set -d 100 -r 100000 -c 50 -P 16 -n 1000000000 -q
}

before() { run "$1" always; }
after() { run "$1" everysec; }
measure redis-always 'Redis' 'appendfsync always' 'everysec'
