#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Cause: worker_connections is 12, too few for 24 clients and their connections to an upstream that takes 20 ms; nginx drops
# what it cannot hold ("worker_connections are not enough"), and clients try again at once. Fix: raise worker_connections;
# then the upstream's time limits. Truth: the error log says it; people raise the limit (and that of open files).
. "$(dirname "$0")/web.sh"
upstream 0.02
port=$(free_port)
nginx 'worker_processes 1;' 'worker_connections 12;' "server { listen 127.0.0.1:$port;
  location / { proxy_pass http://$upstream; } }"
ask 24 "127.0.0.1:$port"
record "$server"
