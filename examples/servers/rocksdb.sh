#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# RocksDB under its db_bench. Eight readers use a block cache that holds everything, in one shard (one lock) or in 64. Another
# case is writes that sync the log.
#
#   sudo examples/servers/rocksdb.sh [OFFWAIT]
. "$(dirname "$0")/measure.sh"
install rocksdb

db_bench=(db_bench --db="$scratch/db" --num=200000 --key_size=16 --value_size=400 --compression_type=none)
target() { echo "$load"; }
rate() { sed -n 's/^\(readrandom\|fillrandom\) .*op \([0-9]*\) ops.*/\2/p' "$scratch/load.out"; }

before() { spawn "${db_bench[@]}" --benchmarks=fillrandom --sync=1 --threads=1 --duration="$1"; }
after() { spawn "${db_bench[@]}" --benchmarks=fillrandom --sync=1 --threads=8 --duration="$1"; }
counted=(--progress-at rocksdb::DBImpl::Write)
measure rocksdb-sync 'RocksDB, synced writes' '1 writer' '8 writers'
counted=()

"${db_bench[@]}" --benchmarks=fillseq >"$scratch/load.out" 2>&1 || { tail -n 5 "$scratch/load.out" >&2; exit 1; }
read_random() { # SECONDS SHARD_BITS CPUS
  spawn taskset --cpu-list "$3" "${db_bench[@]}" --benchmarks=readrandom --use_existing_db --threads=8 --cache_size=$((1 << 30)) \
    --cache_numshardbits="$2" --duration="$1"
}

before() { read_random "$1" 0 "$all"; }
after() { read_random "$1" 6 "$all"; }
measure rocksdb-shards-0 'RocksDB' '1 cache shard' '64 shards'

before() { read_random "$1" 6 "$half"; }
after() { read_random "$1" 6 "$all"; }
measure rocksdb-shards-6 'RocksDB, 64 shards' "$half_of_all" 'all CPUs'
