#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Cause: libuv's pool has one thread (UV_THREADPOOL_SIZE=1), and each request hashes a password in it (crypto.pbkdf2, some 5
# ms); the event loop is idle, and so is the other CPU. Fix: more threads in the pool: up to twice on 2 CPUs; less work as
# well. Truth: people set UV_THREADPOOL_SIZE to the number of CPUs, or more.
. "$(dirname "$0")/lib.sh"
port=$(free_port)
cat >"$scratch/app.js" <<'END'
const crypto = require('crypto');
require('http').createServer((request, response) => {
  crypto.pbkdf2('secret', 'salt', 10000, 64, 'sha512', (error, key) => response.end(key.toString('hex')));
}).listen(Number(process.argv[2]), '127.0.0.1');
END
serve env UV_THREADPOOL_SIZE=1 node "$scratch/app.js" "$port"
until_ready port_open "$port"
ask 8 "127.0.0.1:$port"
record "$server"
