#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Prints a directory with the arm64 libraries that offwait links, and fetches them from Debian if they are not there.
set -euo pipefail
exec python3 -B "$(dirname "$0")/debian.py" bookworm arm64 \
  libbpf-dev libelf-dev libdw-dev zlib1g-dev libzstd-dev liblzma-dev libbz2-dev libiberty-dev libncurses-dev libfmt-dev libfmt9
