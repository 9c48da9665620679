#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Cause: four processes write to one SQLite database, a row in each transaction; one at a time may, and its commit waits for
# several syncs of the disk (1 ms for a request). The others look again after sleeps that grow to 100 ms (the busy handler),
# and mostly find it taken again: one writer goes on, and the others starve. Fix: several rows in a transaction, or WAL with
# synchronous=NORMAL (many times as much); a disk twice as fast gains nearly twice. Truth: "database is locked"; people use
# WAL and a busy time-out, batch, and write from one process.
. "$(dirname "$0")/lib.sh"
slow_disk 1000
database=$scratch/disk/data.db
sqlite3 "$database" 'CREATE TABLE log (number INTEGER PRIMARY KEY, text TEXT)'
yes 'INSERT INTO log (text) VALUES (hex(randomblob(20)));' | head -n 30000 >"$scratch/inserts" || true
# shellcheck disable=SC2016 # for the inner shell
spawn sh -c 'for writer in 1 2 3 4; do sqlite3 -cmd ".timeout 20000" "$0" <"$1" & done; wait' "$database" "$scratch/inserts"
record "$load"
