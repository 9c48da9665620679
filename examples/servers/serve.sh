# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Functions for scripts that start servers and loads, in a directory of their own, $scratch. By sourcing. Each of them runs in a
# process group of its own and is stopped, with all that it started, at the latest when the script ends.
set -euo pipefail
LC_ALL=C

scratch=$(mktemp -d /var/tmp/offwait-server.XXXXXX) # /var/tmp: logs have to be on a disk
children=() load='' policy=''

# stop PID: ends a process that serve or spawn has started, and then what is left of its group, which may use a disk meanwhile.
stop() {
  kill -TERM "$1" 2>/dev/null || true
  for ((try = 0; try < 150; ++try)); do
    kill -0 "$1" 2>/dev/null || break
    sleep 0.1
  done
  kill -KILL -- "-$1" 2>/dev/null || true
  for ((try = 0; try < 150; ++try)); do
    ps -o stat= --sid "$1" | grep -q '^[^Z]' || break
    sleep 0.1
  done
  wait "$1" 2>/dev/null || true
}
stop_load() {
  [ -z "$load" ] || stop "$load"
  load=
}
stop_all() {
  allow_services
  stop_load
  for ((last = ${#children[@]} - 1; last >= 0; --last)); do stop "${children[last]}"; done
  children=()
  rm -rf --one-file-system "$scratch"
}
trap stop_all EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# hold_services, allow_services: services of packages that are installed in between stay off until the next boot.
hold_services() {
  [ ! -e /usr/sbin/policy-rc.d ] || return 0
  policy=/usr/sbin/policy-rc.d
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod +x "$policy"
}
allow_services() {
  [ -z "$policy" ] || rm -f "$policy"
  policy=
}

# serve COMMAND...: starts a server, which runs until the end of the script; its process is $server.
serve() {
  setsid "$@" >"$scratch/server.log" 2>&1 </dev/null &
  server=$!
  children+=("$server")
}

# spawn COMMAND...: starts the load, which stop_load ends; its process is $load.
spawn() {
  setsid "$@" >"$scratch/load.out" 2>&1 </dev/null &
  load=$!
}

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# until_ready COMMAND...: waits until the command succeeds, for a minute at most.
until_ready() {
  for ((try = 0; try < 600; ++try)); do
    if "$@" >/dev/null 2>&1; then return; fi
    sleep 0.1
  done
  echo "$0: the server does not answer; its last words:" >&2
  tail -n 5 "$scratch/server.log" >&2
  exit 1
}
