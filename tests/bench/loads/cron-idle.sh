#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Cause: nothing; cron is idle. It sleeps until the next minute, and its only job takes no time. Fix: none. Truth: an idle
# server has no bottleneck, and its sleep is no time to save.
. "$(dirname "$0")/lib.sh"
mkdir -p "$scratch"/{tabs,empty}
echo '* * * * * root true' >"$scratch/crontab"
# shellcheck disable=SC2016 # for the inner shell
serve unshare --mount sh -c 'mount -t tmpfs run /run && mount --bind "$0/crontab" /etc/crontab &&
  mount --bind "$0/empty" /etc/cron.d && mount --bind "$0/tabs" /var/spool/cron/crontabs && exec cron -f' "$scratch"
until_ready grep -q '^cron' "/proc/$server/comm"
record "$server"
