#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Cause: eight writers that sync; a leader writes for the group while the others wait for it, and it waits for the disk (2
# ms). Fix: a disk twice as fast gains nearly twice; more writers gain somewhat; none of RocksDB's locks matters. Truth:
# people see that followers wait in JoinBatchGroup, and know that the leader's sync is what takes time.
. "$(dirname "$0")/lib.sh"
slow_disk 2000
spawn db_bench --db="$scratch/disk/db" --benchmarks=fillrandom --sync=1 --threads=8 --num=100000000 --key_size=16 \
  --value_size=100 --compression_type=none --duration=110
record "$load"
