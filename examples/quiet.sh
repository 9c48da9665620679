#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Waits for apt, which takes CPU time and the disk for a while after an installation or the start of a machine, and says
# so if other programs leave less than one CPU for an example.
#
#   examples/quiet.sh [SECONDS TO WAIT AT MOST]
set -euo pipefail
longest=${1-300}

apt_runs() {
  local file stat name
  for file in /proc/[0-9]*/stat; do
    { read -r stat <"$file"; } 2>/dev/null || continue
    [[ ${stat##*) } != Z* ]] || continue
    name=${stat#*(}
    case ${name%)*} in
    apt | apt-get | aptitude | dpkg | apt.systemd.dai | unattended-upgr) return 0 ;;
    esac
  done
  return 1
}

for ((waited = 0; waited < longest; waited++)); do
  apt_runs || break
  [ "$waited" -gt 0 ] || echo "Waiting for apt, which would be in the way of the recording" >&2
  sleep 1
done

# The time of all CPUs so far, and what of it was idle.
cpu_times() {
  awk '/^cpu / { print $2 + $3 + $4 + $5 + $6 + $7 + $8 + $9, $5 + $6 }' /proc/stat
}
read -r all_before idle_before <<<"$(cpu_times)"
sleep 1
read -r all idle <<<"$(cpu_times)"
awk -v all="$((all - all_before))" -v idle="$((idle - idle_before))" -v cpus="$(getconf _NPROCESSORS_ONLN)" 'BEGIN {
  free = all > 0 ? cpus * idle / all : cpus
  if (free < 1)
    printf "Other programs use %.1f of %d CPUs now: the report tells less than on a quiet machine\n", cpus - free, cpus
}' >&2
