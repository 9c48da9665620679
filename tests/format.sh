#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Checks that the C and C++ sources are formatted; `tests/format.sh -i` formats them. vmlinux.h is generated
# and stays as it is.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ $# -eq 0 ]; then
  set -- --dry-run --Werror --ferror-limit=1
fi
find bpf examples include src tests -type f \( -name '*.c' -o -name '*.cpp' -o -name '*.h' \) -print0 |
  xargs -0 clang-format-14 "$@"
