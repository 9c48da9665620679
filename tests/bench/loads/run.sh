#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Records servers and programs that others wrote, each in a situation of which the cause and the fix are known (the head of
# each script says them), and prints what offwait says of it first. Asserts nothing. Needs root, and apt for what is missing.
#
#   [OFFWAIT=PATH] [OUT=DIRECTORY] [SECONDS_EACH=6] tests/bench/loads/run.sh [NAME...]
#
# Writes OUT/NAME.offwait and OUT/NAME.txt, the report, of each load; without names, of all.
. "$(dirname "$0")/lib.sh"

wanted=("$@")
if [ $# -eq 0 ]; then
  for script in "$loads"/*-*.sh "$loads"/*-*.py; do wanted+=("$(basename "${script%.*}")"); done
fi
if [ "$EUID" -ne 0 ] || [ ! -x "$OFFWAIT" ]; then
  echo "$0: needs root, and offwait at $OFFWAIT" >&2
  exit 1
fi

missing=()
while read -r package; do
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
done <"$loads/packages.txt"
# get PACKAGE...: installs them; says so if that is not possible.
get() { apt-get -q -y --no-install-recommends install "$@" </dev/null >"$OUT/apt.log" 2>&1; }
if [ ${#missing[@]} -gt 0 ]; then
  echo "Installing with apt: ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  hold_services
  apt-get -q update >"$OUT/apt.log" 2>&1 || true
  if ! get "${missing[@]}"; then
    for package in "${missing[@]}"; do
      get "$package" || echo "Not installed: $package ($(tail -n 1 "$OUT/apt.log"))"
    done
  fi
  allow_services
fi

export OFFWAIT OUT
recorded=()
for one in "${wanted[@]}"; do
  script=$(ls "$loads/$one".{sh,py} 2>/dev/null || true)
  if [ -z "$script" ]; then
    echo "No such load: $one"
    continue
  fi
  rm -f "$OUT/$one".{offwait,txt}
  if timeout 300 "$script" >"$OUT/$one.log" 2>&1 </dev/null &&
    "$OFFWAIT" report "$OUT/$one.offwait" >"$OUT/$one.txt" 2>>"$OUT/$one.log"; then
    recorded+=("$OUT/$one.txt")
    echo "Recorded: $one"
  else
    echo "Failed: $one: $(tail -n 1 "$OUT/$one.log")"
  fi
done
[ ${#recorded[@]} -eq 0 ] || "$loads/table.sh" "${recorded[@]}"
