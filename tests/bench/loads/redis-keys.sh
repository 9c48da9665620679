#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Cause: one client sends KEYS *x* every 100 ms to a Redis of 2 million keys; the only thread that executes commands then
# computes for hundreds of ms, and all other clients wait. Fix: SCAN, or another structure: up to the share of time that
# KEYS takes. Truth: SLOWLOG shows KEYS; people forbid it in production.
. "$(dirname "$0")/lib.sh"
port=$(free_port)
serve redis-server --port "$port" --bind 127.0.0.1 --save '' --dir "$scratch" --enable-debug-command local
until_ready redis-cli -p "$port" ping
redis-cli -p "$port" debug populate 2000000 key 20 >"$scratch/fill.log"
bounded sh -c 'redis-cli -p "$0" -r -1 -i 0.1 keys "*x*" >/dev/null &
  exec redis-benchmark -p "$0" -t get -c 10 -r 2000000 -n 1000000000 -q' \
  "$port"
record "$server"
