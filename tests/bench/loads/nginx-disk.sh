#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Cause: the only nginx worker reads files past the page cache (directio) from a disk that needs 3 ms for a request and could
# serve eight at once; the worker blocks in pread, one at a time, so all clients wait. Fix: aio threads, or more workers (up
# to 8 times); a disk twice as fast gains nearly twice. Truth: people set "aio threads" (nginx 1.7.11 was written for this),
# or add memory for the cache.
. "$(dirname "$0")/web.sh"
slow_disk 3000 8
for number in {1..100}; do head -c 65536 /dev/urandom >"$scratch/disk/$number"; done
sync -f "$scratch/disk"
port=$(free_port)
nginx 'worker_processes 1;' '' "server { listen 127.0.0.1:$port; root $scratch/disk; directio 4k; output_buffers 2 64k; }"
echo 'request = function() return wrk.format("GET", "/" .. math.random(100)) end' >"$scratch/any.lua"
ask 16 "127.0.0.1:$port" -s "$scratch/any.lua"
record "$server"
