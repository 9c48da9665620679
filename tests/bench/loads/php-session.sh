#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Cause: all requests have one session, whose file session_start() locks until the page ends; each page then sleeps 10 ms for
# a slow service. Eight children, and only one works. Fix: session_write_close() before the slow part (8 times as much).
# Truth: people find flock in strace, then close the session early or keep sessions in Redis.
. "$(dirname "$0")/web.sh"
echo '<?php session_start(); usleep(10000); echo "ok";' >"$scratch/page.php"
php 8
ask 8 "127.0.0.1:$port" -H 'Cookie: PHPSESSID=abcdefghijklmnopqrstuvwxyz'
record "$php"
