#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Cause: two workers (prefork, MaxRequestWorkers 2) for 16 clients; each request waits 20 ms for an upstream, with both CPUs
# idle. Fix: more workers, which gain in proportion until a CPU is full; a faster upstream gains as well. Truth: people raise
# MaxRequestWorkers, or change to mpm_event.
. "$(dirname "$0")/web.sh"
upstream 0.02
port=$(free_port)
apache "StartServers 2
  MaxRequestWorkers 2
  KeepAlive Off
  LoadModule proxy_module modules/mod_proxy.so
  LoadModule proxy_http_module modules/mod_proxy_http.so
  ProxyPass / http://$upstream/"
ask 16 "127.0.0.1:$port"
record "$server"
