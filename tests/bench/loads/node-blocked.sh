#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Cause: node's only thread for JavaScript computes in each request (crypto.pbkdf2Sync, some 5 ms), so that 8 clients wait for
# one CPU while the other is idle. Fix: the asynchronous pbkdf2 (4 threads of libuv), a cluster, or less work: up to twice on
# 2 CPUs. Truth: "don't block the event loop"; people find it with a CPU profile.
. "$(dirname "$0")/lib.sh"
port=$(free_port)
cat >"$scratch/app.js" <<'END'
const crypto = require('crypto');
require('http').createServer((request, response) => {
  response.end(crypto.pbkdf2Sync('secret', 'salt', 10000, 64, 'sha512').toString('hex'));
}).listen(Number(process.argv[2]), '127.0.0.1');
END
serve node "$scratch/app.js" "$port"
until_ready port_open "$port"
ask 8 "127.0.0.1:$port"
record "$server"
