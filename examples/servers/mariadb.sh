#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# MariaDB under sysbench oltp_write_only, on half of the CPUs: 8 or 64 clients, where a commit waits for the disk
# (innodb_flush_log_at_trx_commit=1) or for the write of the log (2).
#
#   sudo examples/servers/mariadb.sh [OFFWAIT]
. "$(dirname "$0")/measure.sh"
install mariadb

# The clients use TCP, as from another host. offwait then knows that they are clients and looks for the limit in the server.
sql() { mariadb --no-defaults --host=127.0.0.1 --port="$port" --user=root --execute "$1"; }
client() { # OPTION...: leaves in ${command[@]} sysbench against the server at $port
  command=(sysbench oltp_write_only --mysql-host=127.0.0.1 --mysql-port="$port" --mysql-user=root --tables=4 --table-size=50000 "$@")
}
data=$scratch/data
port=$(free_port)
mariadb-install-db --no-defaults --datadir="$data" --auth-root-authentication-method=normal --skip-test-db --user=root \
  >"$scratch/server.log" 2>&1 || { tail -n 5 "$scratch/server.log" >&2; exit 1; }
serve mariadbd --no-defaults --user=root --datadir="$data" --socket="$data/socket" --bind-address=127.0.0.1 --port="$port" \
  --innodb-buffer-pool-size=512M --innodb-log-file-size=512M --max-connections=200
until_ready sql 'create database sbtest'
client prepare
"${command[@]}" >"$scratch/load.out" || { tail -n 5 "$scratch/load.out" >&2; exit 1; }

target() { echo "$server"; }
rate() { sed -n 's/.*transactions:.*(\([0-9.]*\) per sec.*/\1/p' "$scratch/load.out"; }
run() { # SECONDS CPUS: the server's CPUs; the clients have all
  taskset --all-tasks --cpu-list --pid "$2" "$server" >/dev/null
  sql "set global innodb_flush_log_at_trx_commit=$flush"
  client --threads="$clients" --time="$1" run
  spawn "${command[@]}"
}
before() { run "$1" "$half"; }
after() { run "$1" "$all"; }
for clients in 8 64; do
  for flush in 1 2; do
    measure "mariadb-$clients-flush-$flush" "MariaDB, $clients clients; flush=$flush" "$half_of_all" 'all CPUs'
  done
done
