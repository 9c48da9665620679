#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Cause: etcd syncs its log before it answers, and the disk needs 4 ms for a request; 8 clients share each sync. Fix: a faster
# disk gains nearly in proportion; more clients share a sync. Truth: etcd warns of "slow fdatasync", and its documentation
# asks for SSDs.
. "$(dirname "$0")/lib.sh"
slow_disk 4000
port=$(free_port)
peer=$(free_port)
serve etcd --name one --data-dir "$scratch/disk/etcd" --listen-client-urls "http://127.0.0.1:$port" --log-level error \
  --advertise-client-urls "http://127.0.0.1:$port" --listen-peer-urls "http://127.0.0.1:$peer" \
  --initial-advertise-peer-urls "http://127.0.0.1:$peer" --initial-cluster "one=http://127.0.0.1:$peer"
until_ready curl -sf "http://127.0.0.1:$port/health"
cat >"$scratch/put.lua" <<'END'
wrk.method, wrk.path, wrk.body = "POST", "/v3/kv/put", '{"key": "a2V5", "value": "dmFsdWU="}'
END
ask 8 "127.0.0.1:$port" -s "$scratch/put.lua"
record "$server"
