#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs all servers one after the other, and writes their reports and the tables in README.md anew. Takes some ten minutes.
#
#   sudo examples/servers/run.sh [OFFWAIT]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
for server in mariadb memcached redis rocksdb; do
  "$here/$server.sh" "$@"
done
"$here/table.py" "$here/reports" --write
