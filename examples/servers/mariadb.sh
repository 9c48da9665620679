#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# MariaDB under sysbench oltp_write_only. With 8 clients: does a commit wait for the disk (innodb_flush_log_at_trx_commit=1), for the
# write of the log (2), or for neither (0: written and synced once a second)? With 64: what do so many threads wait for?
#
#   sudo examples/servers/mariadb.sh [OFFWAIT]
. "$(dirname "$0")/measure.sh"
install mariadb

# The clients use TCP, as from another host. offwait then knows that they are clients and looks for the limit in the server.
sql() { mariadb --no-defaults --host=127.0.0.1 --port="$port" --user=root --execute "$1"; }
client() { # OPTION...: leaves in ${command[@]} sysbench against the server at $port
  command=(sysbench oltp_write_only --mysql-host=127.0.0.1 --mysql-port="$port" --mysql-user=root --tables=4 --table-size=50000 "$@")
}
# listen NAME OPTION...: a server with the tables; its process is $server, its port $port.
listen() {
  local data=$scratch/$1
  port=$(free_port)
  mariadb-install-db --no-defaults --datadir="$data" --auth-root-authentication-method=normal --skip-test-db --user=root \
    >"$scratch/server.log" 2>&1 || { tail -n 5 "$scratch/server.log" >&2; exit 1; }
  serve mariadbd --no-defaults --user=root --datadir="$data" --socket="$data/socket" --bind-address=127.0.0.1 --port="$port" \
    --innodb-buffer-pool-size=512M --innodb-log-file-size=512M --max-connections=200 "${@:2}"
  until_ready sql 'create database sbtest'
  client prepare
  "${command[@]}" >"$scratch/load.out" || { tail -n 5 "$scratch/load.out" >&2; exit 1; }
}
listen plain
plain=$server plain_port=$port

target() { echo "$plain"; }
rate() { sed -n 's/.*transactions:.*(\([0-9.]*\) per sec.*/\1/p' "$scratch/load.out"; }
run() { # SECONDS PORT CLIENTS FLUSH
  port=$2
  sql "set global innodb_flush_log_at_trx_commit=$4"
  client --threads="$3" --time="$1" run
  spawn "${command[@]}"
}

before() { run "$1" "$plain_port" 8 1; }
after() { run "$1" "$plain_port" 8 2; }
measure mariadb-8-flush-1 'MariaDB, 8 clients' flush=1 flush=2

before() { run "$1" "$plain_port" 8 2; }
after() { run "$1" "$plain_port" 8 0; }
measure mariadb-8-flush-2 'MariaDB, 8 clients' flush=2 flush=0

listen pool --thread-handling=pool-of-threads
pool_port=$port
# The fix changes both the flush and the pool, since the pool alone gains little here.
before() { run "$1" "$plain_port" 64 1; }
after() { run "$1" "$pool_port" 64 2; }
measure mariadb-64-flush-1 'MariaDB, 64 clients' flush=1 'flush=2, pool'

cpus=$(nproc)
on() { taskset --all-tasks --cpu-list --pid "$1" "$plain" >/dev/null; }
before() { on "0-$(((cpus + 1) / 2 - 1))" && run "$1" "$plain_port" 64 2; }
after() { on "0-$((cpus - 1))" && run "$1" "$plain_port" 64 2; }
measure mariadb-64-flush-2 'MariaDB, 64 clients' "$(((cpus + 1) / 2)) of $cpus CPUs" 'all CPUs'
