#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs the Debian packages that are needed to build (build), test (test, matrix) or measure (bench) offwait, or by a server
# of examples/servers. If they are all installed it does nothing and does not use the network.
#
#   packaging/install-packages.sh build [deb] [test] [html] [matrix] [arm64] [bench] [gains] [fixes] [mariadb] [memcached] [redis]
#                                 [rocksdb]
set -euo pipefail

build=(
  g++ cmake ninja-build pkg-config python3
  clang-14 bpftool                                                     # the BPF programs and their skeleton
  libbpf-dev libelf-dev libdw-dev libiberty-dev                        # linked statically, with the next line
  zlib1g-dev libzstd-dev liblzma-dev libbz2-dev libncurses-dev
  libcli11-dev libfmt-dev nlohmann-json3-dev libprotozero-dev
  catch2                                                               # tests are built unless OFFWAIT_TESTS is off
)
deb=(debhelper)                                                        # packaging/build-deb.sh
test=(
  python3 python3-jsonschema libcap2-bin
  libdevel-nytprof-perl                                                # flamegraph.pl
  graphviz protobuf-compiler python3-protobuf golang-go               # exports
  fio e2fsprogs libfuse3-dev                                           # disks
  libabsl-dev                                                          # a library's locks
  gdb                                                                  # to compare stacks with
  tmux                                                                 # a terminal for `offwait top`
  mandoc man-db groff bash-completion zsh fish                         # the manual and completions
  mmdebstrap file "${deb[@]}" lintian                                   # other Debian releases, and the Debian package
  crun python3-yaml                                                    # containers
  clang-format-14 clang-tidy-14 libclang-rt-14-dev                     # the last one for presets dev and fuzz
)
html=(nodejs chromium)                                                 # pages in a browser (tests/html)
# The nodejs of other sources than Debian has npm in it, and conflicts with Debian's package.
command -v npm >/dev/null || html+=(npm)
matrix=(                                                               # other kernels
  qemu-system-x86 busybox-static cpio e2fsprogs
)
arm64=(qemu-system-arm g++-aarch64-linux-gnu)                          # with matrix
mariadb=(mariadb-server-core mariadb-client-core sysbench python3) # without mariadb-server: no service
memcached=(memcached libmemcached-tools python3)
redis=(redis-server redis-tools python3)
rocksdb=(rocksdb-tools python3)
gains=(                                                                # tests/bench/predicted_gains.py
  "${mariadb[@]}" "${memcached[@]}" "${redis[@]}" "${rocksdb[@]}" postgresql nginx-light wrk zookeeper python3-kazoo
)
fixes=("${gains[@]}" g++ pkg-config libfuse3-dev openjdk-17-jdk-headless nodejs) # tests/bench/fixes.py
bench=(                                                                # tests/bench/table.py and others
  "${mariadb[@]}" "${memcached[@]}" "${redis[@]}" "${rocksdb[@]}" nginx-light wrk fio
  linux-perf libbpf-tools bpfcc-tools bpftrace                         # a load, and other recorders
)

wanted=()
for set in "$@"; do
  case $set in
  build) wanted+=("${build[@]}") ;;
  deb) wanted+=("${deb[@]}") ;;
  test) wanted+=("${test[@]}") ;;
  html) wanted+=("${html[@]}") ;;
  matrix) wanted+=("${matrix[@]}") ;;
  arm64) wanted+=("${arm64[@]}") ;;
  bench) wanted+=("${bench[@]}") ;;
  mariadb) wanted+=("${mariadb[@]}") ;;
  memcached) wanted+=("${memcached[@]}") ;;
  redis) wanted+=("${redis[@]}") ;;
  rocksdb) wanted+=("${rocksdb[@]}") ;;
  gains) wanted+=("${gains[@]}") ;;
  fixes) wanted+=("${fixes[@]}") ;;
  *) echo "$0: no such set of packages: $set (see its head)" >&2; exit 2 ;;
  esac
done

missing=()
for package in "${wanted[@]}"; do
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

if [ "$EUID" -ne 0 ]; then
  echo "$0: these packages are missing, and only root can install them: ${missing[*]}" >&2
  exit 1
fi
echo "Installing with apt, which may upgrade packages that these depend on: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get -q update
apt-get -q -y --no-install-recommends install "${missing[@]}"
