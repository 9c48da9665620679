# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Functions that the scripts beside this file share by sourcing it. Each script defines, for a case,
#
#   before SECONDS, after SECONDS   start the load against the server as it is, and with the fix, in the background, with spawn
#   rate                            what the load achieved, operations/s, from $scratch/load.out
#   target                          process to record, while the load runs
#   counted                         array, may be empty: options of a recording that is compared, which say what is progress
#
# and calls measure, which compares recordings instead if DIFFS names a directory to keep them in. A script starts its own servers, in its own directory; the system's are left alone.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/serve.sh"

offwait=${1-$here/../../build/release/offwait}
pairs=${PAIRS-5} seconds=${SECONDS_EACH-3} # of the measurement: runs of each kind, duration of each
window=10                                  # of the recording
reports=${REPORTS-$here/reports}
recordings=${RECORDINGS-} # directory to keep what is recorded in; without it nothing is kept
only=${ONLY-}             # names of the cases to measure, all without it
diffs=${DIFFS-} diff_window=${SECONDS_EACH-5} # directory; duration of each recording
cpus=$(nproc)
all=0-$((cpus - 1)) half=0-$(((cpus + 1) / 2 - 1)) # lists of CPUs, as taskset takes them
half_of_all="$(((cpus + 1) / 2)) of $cpus CPUs"

if [ "$EUID" -ne 0 ]; then
  echo "$0: recording needs root; run: sudo $0" >&2
  exit 1
fi
if [ ! -x "$offwait" ]; then
  echo "$0: no offwait at $offwait; build it (sudo examples/run.sh does), or name it: $0 OFFWAIT" >&2
  exit 2
fi

mkdir -p "$reports" ${diffs:+"$diffs"} ${recordings:+"$recordings"}
counted=()
finish() {
  stop_all
  chown -R --reference="$here" "$reports" ${diffs:+"$diffs"} # the owner of the checkout can then go on working in it
}
trap finish EXIT

# install SET: installs packages with packaging/install-packages.sh.
install() {
  hold_services
  "$here/../../packaging/install-packages.sh" "$1" >&2
  allow_services
}

# one before|after: does one run; its operations/s are in $achieved.
one() {
  "$1" "$seconds"
  wait "$load" 2>/dev/null || true
  load=
  achieved=$(rate)
  if [ -z "$achieved" ]; then
    echo "$0: the load did not say what it achieved:" >&2
    tail -n 5 "$scratch/load.out" >&2
    exit 1
  fi
}

# record_one NAME before|after NUMBER: records this side of the load.
record_one() {
  "$2" $((diff_window + 30))
  sleep 2 # the recording leaves out the start-up
  "$offwait" record -q -p "$(target)" -d "${diff_window}s" "${counted[@]}" -o "$diffs/$1-$2-$3"
  stop_load
}

# compare NAME WHAT BEFORE AFTER: records the load six times before the fix and three times with it, alternately. Writes
# what `offwait diff` says of the fix (NAME.txt), and of every second recording before it and the others
# (NAME-same.txt).
compare() {
  local name=$1 number
  echo "$name: $2; $3, then $4" >&2
  for number in 1 2 3; do
    record_one "$name" before $((2 * number - 1))
    record_one "$name" after "$number"
    record_one "$name" before $((2 * number))
  done
  local before=$diffs/$name-before after=$diffs/$name-after
  "$offwait" diff "$before"-{1,3,5} -- "$after"-{1,2,3} >"$diffs/$name.txt"
  "$offwait" diff "$before"-{1,3,5} -- "$before"-{2,4,6} >"$diffs/$name-same.txt"
  sed -n '/^The largest \|^No /p' "$diffs/$name.txt" "$diffs/$name-same.txt"
}

# measure NAME WHAT BEFORE AFTER: runs `before` and `after` alternately without offwait, then records `before` once.
# Writes to reports/ what offwait says (NAME.txt and NAME.json) and what was measured (NAME.runs).
measure() {
  [ -z "$only" ] || [[ " $only " == *" $1 "* ]] || return 0
  if [ -n "$diffs" ]; then
    compare "$@"
    return
  fi
  local name=$1 what=$2
  shift 2
  echo "$name: $what; $1, then $2" >&2
  printf '%s\n' "$what" "$1" "$2" >"$scratch/runs"
  for ((pair = 0; pair < pairs; ++pair)); do
    local b a
    if ((pair % 2)); then
      one after && a=$achieved
      one before && b=$achieved
    else
      one before && b=$achieved
      one after && a=$achieved
    fi
    echo "$b $a" >>"$scratch/runs"
  done

  before $((window + 30))
  sleep 2 # the recording leaves out the start-up
  if [ -n "$recordings" ]; then
    "$offwait" record -q -p "$(target)" -d "${window}s" -o "$recordings/$name.offwait"
    stop_load
    "$offwait" report -q "$recordings/$name.offwait" --json "$reports/$name.json" >"$scratch/report"
  else
    "$offwait" -q -p "$(target)" -d "${window}s" --json "$reports/$name.json" >"$scratch/report"
    stop_load
  fi
  mv "$scratch/report" "$reports/$name.txt"
  mv "$scratch/runs" "$reports/$name.runs"
  "$here/table.py" "$reports" "$name"
}
