#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Cause: one writer that syncs each write, and so waits for the disk (2 ms) all the time. Fix: a disk twice as fast gains
# nearly twice; more writers share a sync (group commit), and several times as much; or do not sync. Truth: people batch
# writes, or set sync=false.
. "$(dirname "$0")/lib.sh"
slow_disk 2000
spawn db_bench --db="$scratch/disk/db" --benchmarks=fillrandom --sync=1 --threads=1 --num=100000000 --key_size=16 \
  --value_size=100 --compression_type=none --duration=110
record "$load"
