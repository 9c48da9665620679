#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Cause: haproxy lets two connections at a time through to the server (maxconn 2), which takes 10 ms for an answer; 24 clients
# wait in haproxy's queue, and all CPUs are idle. Fix: raise the server's maxconn (in proportion), or a faster server. Truth:
# people look at qcur and Tq in the statistics, then raise maxconn.
. "$(dirname "$0")/lib.sh"
upstream 0.01
port=$(free_port)
cat >"$scratch/conf" <<END
global
  nbthread 2
defaults
  mode http
  timeout client 30s
  timeout server 30s
  timeout connect 5s
  timeout queue 30s
listen web
  bind 127.0.0.1:$port
  server one $upstream maxconn 2
END
serve haproxy -db -f "$scratch/conf"
until_ready port_open "$port"
ask 24 "127.0.0.1:$port"
record "$server"
