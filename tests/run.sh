#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs what is missing, builds, and runs every test: with ASan and UBSan (dev), then as it ships
# (release). Tests that this machine cannot run are listed as skipped under each of the two summaries.
#
#   sudo tests/run.sh
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "$EUID" -ne 0 ]; then
  echo "tests/run.sh: recording needs root; run: sudo tests/run.sh" >&2
  exit 1
fi
packaging/install-packages.sh build test matrix arm64

mkdir -p build
trap 'chown -R --reference=. build' EXIT # whoever owns the checkout can go on building in it
for preset in dev release; do
  cmake --preset "$preset"
  cmake --build --preset "$preset"
done
# For the matrix of kernels.
if OFFWAIT_ARM64_SYSROOT=$(tests/matrix/arm64_sysroot.sh); then
  export OFFWAIT_ARM64_SYSROOT
  cmake --preset arm64
  cmake --build --preset arm64
fi
for preset in dev release; do
  echo "Testing the $preset build"
  ctest --preset "$preset"
done
