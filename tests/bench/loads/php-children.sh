#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Cause: php-fpm has two children (pm.max_children = 2), and each page sleeps 20 ms as if for a slow service; 16 clients queue
# in the socket's backlog, CPUs are idle. Fix: more children, in proportion; or a faster service. Truth: "server reached
# pm.max_children" in the log, and people raise it.
. "$(dirname "$0")/web.sh"
echo '<?php usleep(20000); echo "ok";' >"$scratch/page.php"
php 2
ask 16 "127.0.0.1:$port"
record "$php"
