#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Cause: the disk. nginx reads with "aio threads" past the page cache from a disk that serves one request at a time, in 3 ms;
# the threads of the pool queue there. Fix: a faster disk or a cache; more threads or workers gain nothing. Truth: iostat
# shows 100 % busy, and people buy disks or memory.
. "$(dirname "$0")/web.sh"
slow_disk 3000
for number in {1..100}; do head -c 65536 /dev/urandom >"$scratch/disk/$number"; done
sync -f "$scratch/disk"
port=$(free_port)
nginx 'worker_processes 1;' '' "aio threads;
  server { listen 127.0.0.1:$port; root $scratch/disk; directio 4k; output_buffers 2 64k; }"
echo 'request = function() return wrk.format("GET", "/" .. math.random(100)) end' >"$scratch/any.lua"
ask 16 "127.0.0.1:$port" -s "$scratch/any.lua"
record "$server"
