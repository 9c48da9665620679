// SPDX-License-Identifier: GPL-2.0-or-later
// What is shown, as the part of the address behind the #. It is input: numbers are parsed and clamped, and words are
// compared with what is known.

const number = (text, least, most) => {
  const value = text === null ? NaN : Number(text);
  return Number.isFinite(value) ? Math.min(most, Math.max(least, value)) : null;
};

/** A timeline shows no less than this many µs. */
export const LEAST_SPAN = 20;

/** `10.5-11` in seconds → [from, to] in µs inside the recording; null if that is nothing. */
const range = (text, span) => {
  const [from, to] = (text ?? '').split('-').map((part) => Number(part) * 1e6);
  if (!(to > from)) return null;
  const inside = [Math.max(0, from), Math.min(span, to)];
  return inside[1] - inside[0] >= Math.min(LEAST_SPAN, span) * 0.999 ? inside : null;
};

export function readPlace(span, arrows, boxes, rows) {
  const words = new URLSearchParams(location.hash.slice(1));
  const whole = (name, most) => {
    const value = number(words.get(name), 0, most);
    return value === null ? null : Math.round(value);
  };
  const arrow = whole('arrow', arrows - 1);
  const box = whole('box', boxes - 1);
  const wait = (words.get('wait') ?? '').split('-').map(Number);
  return {
    view: range(words.get('t'), span),
    selection: range(words.get('select'), span),
    picked: arrow !== null && arrows > 0 ? { kind: 'arrow', index: arrow }
      : box !== null && boxes > 0 ? { kind: 'box', index: box } : null,
    shown: whole('arrows', arrows),
    wait: wait.length === 2 && Number.isInteger(wait[0]) && Number.isFinite(wait[1]) && wait[0] >= 0 && wait[0] < rows
      ? { row: wait[0], at: wait[1] } : null,
    mode: ['weight', 'wait', 'cpu'].find((mode) => mode === words.get('code')) ?? null,
    query: words.get('q') ?? '',
    theme: ['dark', 'light'].find((theme) => theme === words.get('theme')) ?? null,
  };
}

/** Changes parts of it; an empty value takes a part away. */
export function writePlace(parts) {
  const words = new URLSearchParams(location.hash.slice(1));
  for (const [name, value] of Object.entries(parts)) {
    if (value === null || value === undefined || value === '') words.delete(name);
    else words.set(name, value);
  }
  const hash = words.toString();
  history.replaceState(null, '', hash ? `#${hash}` : location.pathname + location.search);
}

export const rangeText = (range) => range && `${(range[0] / 1e6).toFixed(6)}-${(range[1] / 1e6).toFixed(6)}`;
