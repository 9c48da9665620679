#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs clang-tidy on the .cpp files that differ from COMMIT (default HEAD), committed or not, and on new ones.
# To check all files: cmake --preset tidy && ninja -C build/tidy
#
#   tests/tidy.sh [COMMIT]
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset tidy >/dev/null
ninja -C build/tidy offwait_skeleton >/dev/null
{
  git diff --name-only --diff-filter=d "${1-HEAD}" -- '*.cpp'
  git ls-files --others --exclude-standard -- '*.cpp'
} | xargs --no-run-if-empty -P "$(nproc)" -n 1 clang-tidy-14 -p build/tidy --quiet
