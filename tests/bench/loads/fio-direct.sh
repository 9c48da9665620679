#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Cause: one job reads at random past the page cache, one request at a time, from a disk that needs 1 ms for each and serves
# eight at once. Fix: more requests at a time (iodepth with io_uring, or more jobs: up to 8 times); a disk that is twice as
# fast gains nearly twice. Truth: people raise the queue depth.
. "$(dirname "$0")/lib.sh"
slow_disk 1000 8
spawn fio --name=reads --filename="$scratch/disk/data" --size=64m --rw=randread --bs=4k --direct=1 --ioengine=psync --time_based \
  --runtime=115 --invalidate=0
until_ready grep -q 'Starting' "$scratch/load.out"
sleep 3 # it writes the file first
record "$load"
