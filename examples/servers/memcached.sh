#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# memcached under memcaslap: with one worker thread, and with a client of one thread.
#
#   sudo examples/servers/memcached.sh [OFFWAIT]
. "$(dirname "$0")/measure.sh"
install memcached

# listen THREADS: starts a server with so many workers on a free port; its process is $server, its address $address.
listen() {
  local port
  port=$(free_port)
  address=127.0.0.1:$port
  serve memcached -u root -l 127.0.0.1 -p "$port" -U 0 -t "$1" -m 256 -c 1024
  until_ready bash -c "echo version >/dev/tcp/127.0.0.1/$port"
}
listen 1
one_worker=$server one_address=$address
listen 4
four_workers=$server four_address=$address

rate() { sed -n 's/.*TPS: \([0-9]*\).*/\1/p' "$scratch/load.out"; }
run() { # SECONDS ADDRESS CLIENT_THREADS
  spawn memcaslap --servers="$2" --threads="$3" --concurrency=64 --fixed_size=100 --time="$1s"
}

target() { echo "$recorded"; }
before() { recorded=$one_worker && run "$1" "$one_address" 2; }
after() { recorded=$four_workers && run "$1" "$four_address" 2; }
measure memcached-worker 'memcached' '1 worker' '4 workers'

recorded=$four_workers
before() { run "$1" "$four_address" 1; }
after() { run "$1" "$four_address" 2; }
measure memcached-client 'memcached' '1 client thread' '2 client threads'
