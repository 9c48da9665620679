#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Predicted and really measured gains in two studies of RocksDB in the blocked samples paper (OSDI '24, sections 5.2 and 6):
a block cache of one shard or of 64, and compression of blocks or none.

    rocksdb_gains.py OFFWAIT [--pairs N] [--seconds N] [--keep DIRECTORY]

Records each load as it is, asks the recording what the change would gain, then runs both alternately. The part of the sharded
cache is the lock of the cache: what no waits for it would gain. The part of compression is the function that compresses a
block, with all that it calls, where compaction limits: small memtables, one thread that compacts. Needs root, db_bench
(Debian: rocksdb-tools), and a machine that does nothing else."""
import argparse
import json
import os
import re
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

READ = ("--num=1000000", "--value_size=43", "--compression_type=none")
COMPRESSION = "rocksdb::CompressBlock*"
COMPACTION = "rocksdb:low"


def db_bench(directory, *options):
    return ["db_bench", f"--db={directory}/db", "--key_size=48", *options]


def loads(directory, seconds):
    """By study: the load as it is, and changed."""
    reads = db_bench(directory, *READ, "--benchmarks=readrandom", "--use_existing_db", "--threads=8",
                     f"--cache_size={1 << 30}", f"--duration={seconds}")
    writes = db_bench(directory + "/written", "--num=400000", "--value_size=400", "--benchmarks=fillrandom",
                      f"--write_buffer_size={4 << 20}", "--max_background_jobs=1", "--disable_wal=1", f"--duration={seconds}")
    return {"sharding": ([*reads, "--cache_numshardbits=0"], [*reads, "--cache_numshardbits=6"]),
            "compression": ([*writes, "--compression_type=zstd"], [*writes, "--compression_type=none"])}


def rate(command):
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(re.findall(r"(?:readrandom|fillrandom) .* ([0-9]+) ops", done.stdout)[-1])


def record(offwait, command, seconds, file):
    load = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(2)
    subprocess.run([offwait, "dump", "-q", "-p", str(load.pid), "-d", f"{seconds}s", "-o", file], check=True)
    load.terminate()
    load.wait()


def report(offwait, file, *options):
    done = subprocess.run([offwait, "report", "-q", file, "--json", "-", *options], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def told(gain, certainty):
    return f"{gain:+.0%} {certainty}"


def predicted(offwait, file, study):
    if study == "sharding":
        answer = next(answer for answer in report(offwait, file)["answers"] if answer["lock"])
        return answer["lock"]["name"], told(answer["lock"]["free_gain"], answer["certainty"])
    gain = report(offwait, file, "--progress", COMPACTION, "--what-if", f"function {COMPRESSION} /1000")["what_if"][0]
    return COMPRESSION, told(gain["gain"], gain["certainty"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("offwait")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=6)
    parser.add_argument("--keep", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
        kept = arguments.keep or Path(directory)
        os.mkdir(f"{directory}/written")
        subprocess.run(db_bench(directory, *READ, "--benchmarks=fillseq"), check=True, capture_output=True)
        for study, (before, after) in loads(directory, arguments.seconds).items():
            file = kept / f"{study}.txt"
            record(arguments.offwait, loads(directory, 30)[study][0], 8, file)
            part, prediction = predicted(arguments.offwait, file, study)
            gains = []
            for pair in range(arguments.pairs):
                rates = {}
                for command in ((before, after), (after, before))[pair % 2]:
                    rates[command is after] = rate(command)
                gains.append(rates[True] / rates[False] - 1)
            print(f"{study}: {part}: predicted {prediction}, measured {statistics.median(gains):+.0%} "
                  f"[{min(gains):+.0%}..{max(gains):+.0%}]", flush=True)


if __name__ == "__main__":
    main()
