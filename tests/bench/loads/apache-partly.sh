#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Cause: nothing limits. Two workers (prefork), each request waits 20 ms for an upstream, and some 40 requests come a second:
# 0.8 workers are busy. Fix: none is needed for throughput; the answer time is the upstream's, and more workers change
# nothing. Truth: people ask whether they need more workers, and should be told that clients set the rate.
. "$(dirname "$0")/web.sh"
upstream 0.02
port=$(free_port)
apache "StartServers 2
  MinSpareServers 1
  MaxRequestWorkers 2
  KeepAlive Off
  LoadModule proxy_module modules/mod_proxy.so
  LoadModule proxy_http_module modules/mod_proxy_http.so
  ProxyPass / http://$upstream/"
echo 'function delay() return math.random(160) end' >"$scratch/think.lua"
ask 4 "127.0.0.1:$port" -s "$scratch/think.lua"
record "$server"
