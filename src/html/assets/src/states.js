// SPDX-License-Identifier: GPL-2.0-or-later
// What the states of a thread look like. Colours differ in lightness too, and waits for events are greys: threads spend
// most of their time in these, and they are seldom what a reader looks for.

const LIGHT = {
  running: '#117733',
  runnable: '#f2c80f',
  disk: '#882255',
  net: '#0072b2',
  futex: '#cc6677',
  lock: '#aa4499',
  pipe: '#44aa99',
  poll: '#c3ced8',
  sleep: '#dfe5ea',
  child: '#999933',
  fault: '#332288',
  other: '#98a4ae',
  spin: '#d55e00',
  stopped: '#4d4d4d',
  frozen: '#88ccee',
  unknown: '#f3d9d9',
};
const DARK = {
  running: '#3fbf6f',
  runnable: '#f0cf4a',
  disk: '#e0619a',
  net: '#4fa8e8',
  futex: '#b8606e',
  lock: '#c77fbb',
  pipe: '#5fcfbe',
  poll: '#42505c',
  sleep: '#2e3842',
  child: '#c6c65a',
  fault: '#9488e8',
  other: '#6a7680',
  spin: '#ff8a3d',
  stopped: '#a0a0a0',
  frozen: '#88ccee',
  unknown: '#5a3a3a',
};
const MEANING = {
  running: 'running on a CPU',
  runnable: 'ready to run, without a CPU',
  disk: 'waits for a disk',
  net: 'waits for the network',
  futex: 'waits for a lock or a signal of a thread',
  lock: 'waits for a lock of the kernel',
  pipe: 'waits for a pipe',
  poll: 'waits for any of several events',
  sleep: 'sleeps until a time',
  child: 'waits for a child process',
  fault: 'waits for a page of memory',
  other: 'waits for something else',
  spin: 'waits busily',
  stopped: 'was stopped',
  frozen: 'its cgroup was frozen',
  unknown: 'not known: records were lost',
};

export const colors = (dark) => (dark ? DARK : LIGHT);
export const meaning = (state) => MEANING[state] ?? state;

/** The colour as the bytes of an ImageData, in the order of this machine. */
export function pixel(hex) {
  const part = (at) => parseInt(hex.slice(at, at + 2), 16);
  return (0xff000000 | (part(5) << 16) | (part(3) << 8) | part(1)) >>> 0;
}
