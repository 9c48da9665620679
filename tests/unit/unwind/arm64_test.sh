#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# arm64_test.sh UNIT_UNWIND: its comparison with libdw on the arm64 files of some Debian packages. They are fetched
# once, from the archive that this machine uses, into ~/.cache/offwait/arm64; nothing of apt's own state changes.
# Exits with 77 (skipped) if that is not possible.
set -eu
cache=${XDG_CACHE_HOME:-$HOME/.cache}/offwait/arm64
packages="libc6 libstdc++6 libgcc-s1 libssl3 mariadb-server-core librocksdb7.8 python3.11-minimal"
skip() {
  echo "skipped: $1"
  exit 77
}
if [[ ! -e $cache/done ]]; then
  mkdir -p "$cache/lists/partial" "$cache/archives/partial" "$cache/root"
  : >"$cache/status"
  apt=(apt-get -q -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State::lists="$cache/lists"
    -o Dir::State::status="$cache/status" -o Dir::Cache="$cache" -o APT::Sandbox::User= -o Acquire::Languages=none
    -o DPkg::Lock::Timeout=0 -o Debug::NoLocking=1)
  timeout 120 "${apt[@]}" update >"$cache/log" 2>&1 || skip "apt-get update for arm64 failed, see $cache/log"
  cd "$cache/archives"
  # shellcheck disable=SC2086
  timeout 120 "${apt[@]}" download $packages >>"$cache/log" 2>&1 || skip "no arm64 packages, see $cache/log"
  for package in "$cache"/archives/*.deb; do
    dpkg-deb -x "$package" "$cache/root"
  done
  rm -rf "$cache/lists" "$cache/archives"
  touch "$cache/done"
fi
OFFWAIT_ARM64_ROOT=$cache/root exec "$1" "[arm64]"
