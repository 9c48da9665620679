// SPDX-License-Identifier: GPL-2.0-or-later
// The parts of the recording that the page carries: base64 of a deflate stream each.

export const canInflate = () => typeof DecompressionStream === 'function' && tryFormat();

function tryFormat() {
  try {
    new DecompressionStream('deflate-raw');
    return true;
  } catch {
    return false;
  }
}

async function bytesOf(id) {
  const text = atob(document.getElementById(id).textContent);
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) packed[i] = text.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export async function readReport() {
  return JSON.parse(new TextDecoder().decode(await bytesOf('report')));
}

/** The timeline from afar: part(row, state) is the bytes of its bins, or null. */
export async function readFar(timeline) {
  const bytes = await bytesOf('far');
  const { bins, states, rows } = timeline;
  const parts = [];
  let at = 0;
  for (let row = 0; row < rows.length; ++row) {
    const mask = bytes[at] | (bytes[at + 1] << 8);
    at += 2;
    for (let state = 0; state < states.length; ++state) {
      const has = (mask >> state) & 1;
      parts.push(has ? bytes.subarray(at, at + bins) : null);
      if (has) at += bins;
    }
  }
  return { bins, states: states.length, part: (row, state) => parts[row * states.length + state] };
}

const COLUMNS = 9;

/**
 * Single waits, by row and time. All arrays are parallel: begin, wake and end in µs; state; open: it had not ended when
 * the recording did; waker: a row, -1 if it is not known, or -2 - an index into timeline.others; stack, wakerStack: into
 * report.stacks; object: an index into timeline.objects + 1; holder: who held it when the wait began, as waker. first[row] is
 * where a row starts.
 */
export async function readNear(timeline) {
  const bytes = await bytesOf('near');
  const columns = [];
  for (let at = 0, i = 0; i < COLUMNS; ++i) {
    const length = bytes.length < 4 ? 0 : new DataView(bytes.buffer, bytes.byteOffset + at).getUint32(0, true);
    columns.push(bytes.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  const total = timeline.rows.reduce((sum, row) => sum + row.count, 0);
  const waits = {
    begin: new Float64Array(total), wake: new Float64Array(total), end: new Float64Array(total),
    state: new Uint8Array(total), open: new Uint8Array(total), waker: new Int32Array(total),
    stack: new Uint32Array(total), wakerStack: new Uint32Array(total), object: new Uint32Array(total), holder: new Int32Array(total),
    first: new Uint32Array(timeline.rows.length + 1),
  };
  const [gaps, lengths, runnable, kinds, wakers, stacks, wakerStacks, objects, holders] = columns.map(numbersOf);
  let i = 0;
  for (let row = 0; row < timeline.rows.length; ++row) {
    waits.first[row] = i;
    let at = 0;
    for (let left = timeline.rows[row].count; left > 0; --left, ++i) {
      waits.begin[i] = at += gaps();
      waits.wake[i] = at += lengths();
      waits.end[i] = at += runnable();
      const kind = kinds.byte();
      waits.state[i] = kind & 127;
      waits.open[i] = kind >> 7;
      waits.waker[i] = threadOf(wakers());
      waits.stack[i] = stacks();
      waits.wakerStack[i] = wakerStacks();
      waits.object[i] = objects();
      waits.holder[i] = threadOf(holders());
    }
  }
  waits.first[timeline.rows.length] = i;
  return waits;
}

const threadOf = (number) => (number === 0 ? -1 : number & 1 ? -2 - (number >> 1) : (number >> 1) - 1);

/** Reads one number after the other: seven bits in each byte, the lowest first. */
function numbersOf(bytes) {
  let at = 0;
  const next = () => {
    let byte = bytes[at++];
    if (byte < 128) return byte;
    let value = byte & 127;
    for (let scale = 128; byte > 127; scale *= 128) {
      byte = bytes[at++];
      value += (byte & 127) * scale;
    }
    return value;
  };
  next.byte = () => bytes[at++];
  return next;
}
