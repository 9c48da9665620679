// SPDX-License-Identifier: GPL-2.0-or-later
// Looks up single waits, and adds up the timeline.

/** The first wait of the row that ends at this time or later; waits.first[row + 1] if there is none. */
export function firstEndingFrom(waits, row, us) {
  let low = waits.first[row];
  let high = waits.first[row + 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (waits.end[middle] < us) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The wait of the row at this time; -1 if there is none. */
export function waitAt(waits, row, us) {
  const index = firstEndingFrom(waits, row, us);
  return index < waits.first[row + 1] && waits.begin[index] <= us ? index : -1;
}

/** Whether all waits in [from, to] are there. */
export function isWhole(timeline, from, to) {
  return timeline.is_whole || timeline.whole.some((part) => from >= part[0] && to <= part[1]);
}

/**
 * The wait, then what the thread that ended it waited for meanwhile, and so on, until a thread had not waited, a device
 * ended the wait, or nothing is known: {row, index} each.
 */
export function chainOf(waits, row, index) {
  const chain = [];
  const seen = new Set();
  while (index >= 0 && chain.length < 64 && !seen.has(index)) {
    seen.add(index);
    chain.push({ row, index });
    const waker = waits.waker[index];
    if (waker < 0) break;
    const before = lastWaitBefore(waits, waker, waits.wake[index]);
    if (before < 0 || waits.wake[before] <= waits.begin[index]) break;
    row = waker;
    index = before;
  }
  return chain;
}

const RUNNABLE = 1;

/** The last wait of the row that ended before this time; -1 if there is none. */
export function lastWaitBefore(waits, row, us) {
  let index = firstEndingFrom(waits, row, us);
  if (index >= waits.first[row + 1] || waits.begin[index] >= us) index -= 1;
  while (index >= waits.first[row] && (waits.state[index] === RUNNABLE || waits.wake[index] > us)) index -= 1;
  return index >= waits.first[row] ? index : -1;
}

/** Seconds of a row in each state between two times, from afar. */
export function rowSums(far, timeline, row, from = 0, to = timeline.span_us) {
  const scale = far.bins / timeline.span_us;
  const begin = from * scale;
  const end = to * scale;
  const each = timeline.span_us / far.bins / 1e6 / 255;
  return timeline.states.map((_, state) => {
    const part = far.part(row, state);
    if (!part) return 0;
    let sum = 0;
    for (let bin = Math.floor(begin); bin < Math.min(end, far.bins); ++bin)
      sum += part[bin] * (Math.min(end, bin + 1) - Math.max(begin, bin));
    return sum * each;
  });
}

/** The part of values of equal parts of the recording that lies in [from, to]. */
export function partSum(values, span, from, to) {
  const scale = values.length / span;
  let sum = 0;
  for (let i = Math.floor(from * scale); i < Math.min(values.length, to * scale); ++i)
    sum += values[i] * (Math.min(to * scale, i + 1) - Math.max(from * scale, i));
  return sum;
}
