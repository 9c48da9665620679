// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers for people, as the text report writes them.

/** 0.0123 → `12.3 ms`: three digits. */
export function duration(seconds) {
  const size = Math.abs(seconds);
  if (size === 0) return '0 s';
  const [scale, unit] = size >= 0.9995 ? [1, 's'] : size >= 0.9995e-3 ? [1e3, 'ms'] : [1e6, 'µs'];
  const value = seconds * scale;
  const digits = Math.abs(value) >= 99.95 ? 0 : Math.abs(value) >= 9.995 ? 1 : 2;
  return `${value.toFixed(digits)} ${unit}`;
}

export function percent(part) {
  const value = part * 100;
  return `${value.toFixed(Math.abs(value) >= 9.95 || value === 0 ? 0 : 1)}%`;
}

export function count(number) {
  return Math.round(number).toLocaleString('en-US');
}

export function bytes(number) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let unit = 0;
  let value = number;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 99.95 ? value.toFixed(0) : value.toFixed(1)} ${units[unit]}`;
}

/** A moment of the recording in µs → `26.061628 s`, with as many digits as `span` µs asks for. */
export function moment(us, span = 0) {
  const digits = Math.max(0, Math.min(6, 7 - Math.floor(Math.log10(Math.max(span, 1)))));
  return `${(us / 1e6).toFixed(digits)} s`;
}

export function plural(number, noun) {
  return `${count(number)} ${noun}${number === 1 ? '' : 's'}`;
}

export function shortened(text, most) {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
