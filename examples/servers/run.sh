#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs all servers one after the other, and writes their reports and the tables in README.md anew. Takes some ten minutes.
#
#   sudo examples/servers/run.sh [OFFWAIT]
#   sudo DIFFS=DIRECTORY examples/servers/run.sh     compares recordings before and after each fix instead
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
for server in mariadb memcached redis rocksdb; do
  "$here/$server.sh" "$@"
done
[ -n "${DIFFS-}" ] || "$here/table.py" "$here/reports" --write
