# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the loads beside this file share, by sourcing. A load starts servers with the functions of serve.sh and those here,
# starts what asks them with spawn, bounded or ask, and calls record. From the environment: OFFWAIT; OUT, the directory for
# recordings; SECONDS_EACH, how long to record.
loads=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$loads/../../../examples/servers/serve.sh"
chmod 755 "$scratch" # servers change their user

name=$(basename "$0" .sh)
OFFWAIT=${OFFWAIT-$loads/../../../build/release/offwait}
OUT=${OUT-/var/tmp/offwait-loads}
mkdir -p "$OUT"
export PATH=/usr/sbin:/usr/bin:/sbin:/bin # Debian's own programs

port_open() { bash -c "echo >/dev/tcp/127.0.0.1/$1"; }
bounded() { spawn timeout --signal=KILL 120 "$@"; }
# ask CONNECTIONS ADDRESS [OPTION...]: wrk asks this HTTP server, with so many requests at a time.
ask() { bounded wrk -t1 -c"$1" -d120s --timeout 10s "${@:3}" "http://$2"; }

# tree PID...: these processes and all that they have started.
tree() {
  local all=("$@") next=0
  while ((next < ${#all[@]})); do
    mapfile -t -O ${#all[@]} all < <(cat "/proc/${all[next]}"/task/*/children 2>/dev/null | xargs -r -n 1)
    next=$((next + 1))
  done
  printf '%s\n' "${all[@]}"
}

# record PID...: records them, with all that they have started, under the load, and then stops the load.
record() {
  sleep 1 # the recording leaves out the start-up
  tree "$@" | sort >"$scratch/tree"
  sleep 1
  lasting=$(tree "$@" | sort | join - "$scratch/tree" | paste -sd ,) # not those that come and go, whose parents are recorded
  "$OFFWAIT" record -q -p "$lasting" -d "${SECONDS_EACH-6}s" -o "$OUT/$name.offwait"
  if [ -n "$load" ] && ! kill -0 "$load" 2>/dev/null; then
    echo "$name: the load ended before the recording; its last words:" >&2
    tail -n 5 "$scratch/load.out" >&2
    exit 1
  fi
  stop_load
}

# upstream SECONDS: a service that sleeps so long for each answer; its address is $upstream.
upstream() {
  local port
  port=$(free_port)
  upstream=127.0.0.1:$port
  serve /usr/bin/python3 "$loads/upstream.py" "$port" "$1"
  until_ready port_open "$port"
}

# slow_disk MICROSECONDS [AT_ONCE]: a disk that needs so long for each request; mounted as $scratch/disk.
slow_disk() {
  mkdir "$scratch/disk"
  serve /usr/bin/python3 "$loads/slow_disk.py" "$scratch" "$@"
  until_ready mountpoint -q "$scratch/disk"
  chmod 777 "$scratch/disk"
}
