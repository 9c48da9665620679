#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs what is missing, builds, runs an example under offwait for 10 s, and prints the report.
#
#   sudo examples/run.sh                                     the motivating example, figure1
#   sudo examples/run.sh lock_convoy|barrier|pipeline [OPTION of offwait]...
set -euo pipefail
cd "$(dirname "$0")/.."
example=${1-figure1}
shift $(($# > 0))
if [ ! -f "examples/$example.cpp" ]; then
  echo "examples/run.sh: no such example: $example" >&2
  exit 2
fi
if [ "$EUID" -ne 0 ]; then
  echo "examples/run.sh: recording needs root; run: sudo examples/run.sh" >&2
  exit 1
fi
packaging/install-packages.sh build

mkdir -p build
scratch=$(mktemp -d /var/tmp/offwait-example.XXXXXX) # /var/tmp: figure1's log has to be on a disk
pid=
finish() {
  if [ -n "$pid" ]; then
    kill -TERM "$pid" 2>/dev/null || true
    wait "$pid" || true
  fi
  rm -rf "$scratch"
  chown -R --reference=. build # the owner of the checkout can then go on building in it
}
trap finish EXIT
echo "Building, which takes 5 to 15 minutes on two CPUs, if it was not done before" >&2
{
  cmake --preset release
  cmake --build --preset release --target offwait "$example"
} >"$scratch/build.log" 2>&1 || { cat "$scratch/build.log" >&2; exit 1; }

examples/quiet.sh
program=$PWD/build/release/examples/$example
(cd "$scratch" && exec "$program" >/dev/null) &
pid=$!
sleep 1 # the recording leaves out the start-up
build/release/offwait -p "$pid" -d 10s "$@"
