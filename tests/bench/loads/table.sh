#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Prints the first answer, or what stands in its place, of each of these reports.
#
#   table.sh NAME.txt...
for report in "$@"; do
  # The head and the progress end with an empty line each; an answer goes on until the next line that is not indented.
  awk -v name="$(basename "$report" .txt)" '
    /^$/ { ++parts; if (found) exit; next }
    parts < 1 { next }
    found && /^[^ ]/ { exit }
    found && /^   / { exit }
    { found = 1; printf "%-26s %s\n", name, $0 }' "$report"
done
