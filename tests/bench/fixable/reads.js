// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a device past the cache, with eight reads under way, and prints how many got done a second. Each takes a thread of the
// pool, of which UV_THREADPOOL_SIZE says the size.
//
//   node reads.js DEVICE SECONDS
'use strict';
const fs = require('fs');

const BLOCK = 4096, BLOCKS = 4096, AT_ONCE = 8;
const device = fs.openSync(process.argv[2], fs.constants.O_RDONLY | fs.constants.O_DIRECT);
const seconds = Number(process.argv[3]);
const memory = new WebAssembly.Memory({ initial: 1 }).buffer; // begins at a page, as O_DIRECT asks for
let done = 0;

function keepReading(block) {
  fs.read(device, block, 0, BLOCK, BLOCK * Math.floor(BLOCKS * Math.random()), (error) => {
    if (error) throw error;
    ++done;
    keepReading(block);
  });
}

for (let i = 0; i < AT_ONCE; ++i) keepReading(Buffer.from(memory, i * BLOCK, BLOCK));
setTimeout(() => {
  console.log(`rate ${done / seconds}`);
  process.exit(0);
}, 1000 * seconds);
