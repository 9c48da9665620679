#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs missing packages, builds, and runs the tests (tests/run.py). Ends with a table and a line "N passed, N failed, N
# skipped". Exits with 1 if a step or test failed, with 2 if the command line is wrong.
set -euo pipefail
cd "$(dirname "$0")/.."
usage="usage: sudo tests/run.sh [--all]
  (nothing)  the release build; unit and command-line tests, the core ones against the running kernel; about 15 minutes
  --all      everything, as CI does: also all other tests, the build with ASan and UBSan, other kernels, packages; about an hour
  --steps    only lists the steps (add --all for those of the whole run)
  --help     this text
Missing packages are installed with apt, which may upgrade others."
for argument in "$@"; do
  case $argument in
  --all | --steps) ;;
  -h | --help) echo "$usage"; exit 0 ;;
  *) echo "tests/run.sh: unknown option: $argument" >&2; echo "$usage" >&2; exit 2 ;;
  esac
done
if [[ " $* " != *" --steps "* ]]; then
  if [ "$EUID" -ne 0 ]; then
    echo "tests/run.sh: recording needs root; run: sudo tests/run.sh${*:+ $*}" >&2
    exit 1
  fi
  command -v python3 >/dev/null || packaging/install-packages.sh build
fi
exec python3 tests/run.py "$@"
