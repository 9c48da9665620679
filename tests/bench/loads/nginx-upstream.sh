#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Cause: nginx is a proxy of an upstream that takes 40 ms for each answer; six clients wait for it. nginx itself does next to
# nothing. Fix: a faster upstream (or a cache); more nginx workers do not help. Truth: people compare \$upstream_response_time
# with \$request_time.
. "$(dirname "$0")/web.sh"
upstream 0.04
port=$(free_port)
nginx 'worker_processes 2;' '' "upstream up { server $upstream; keepalive 16; }
  server { listen 127.0.0.1:$port; location / { proxy_pass http://up; proxy_http_version 1.1; proxy_set_header Connection ''; } }"
ask 6 "127.0.0.1:$port"
record "$server"
