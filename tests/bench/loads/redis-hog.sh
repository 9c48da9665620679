#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Cause: another program, xz with two threads, takes both CPUs, so Redis and its clients wait for CPUs though nothing of their
# own is slow. Fix: move or renice the neighbour (or more CPUs): about twice as much. Truth: people see steal by neighbours in
# top, and use nice, cgroups or another host.
. "$(dirname "$0")/lib.sh"
port=$(free_port)
serve sh -c 'cat /dev/urandom | xz -T2 -6 --block-size=4MiB >/dev/null'
serve redis-server --port "$port" --bind 127.0.0.1 --save '' --dir "$scratch"
until_ready redis-cli -p "$port" ping
bounded redis-benchmark -p "$port" -t get -c 8 -n 1000000000 -q
record "$server"
