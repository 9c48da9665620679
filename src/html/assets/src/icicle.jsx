// SPDX-License-Identifier: GPL-2.0-or-later
import { useEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks';

import { count, duration, moment, percent, shortened } from './format.js';
import { compare, functionsOf, THREAD, treeOfPart, treeOfReport, WAKER } from './stack_tree.js';
import { isWhole } from './waits.js';

const ROW = 18;
const MOST_ROWS = 40;
const LETTER = 6.3;

const depthOf = (at, depth = 1) => (depth >= MOST_ROWS ? depth : Math.max(depth, ...at.children.map((child) => depthOf(child, depth + 1))));

/** Equal names have equal colours: blue for the program, grey for the kernel, purple for wakers. */
function colorOf(at, dark) {
  if (at.kind === THREAD) return dark ? '#2d4a35' : '#cfe3d4';
  if (at.kind === WAKER) return dark ? '#56304a' : '#e6cddd';
  let hash = 0;
  for (let i = 0; i < at.name.length; ++i) hash = (hash * 31 + at.name.charCodeAt(i)) | 0;
  const shade = Math.abs(hash) % 12;
  const saturation = at.kind === 0 ? 42 : 6;
  return `hsl(${205 + shade}, ${saturation}%, ${dark ? 26 + shade / 2 : 84 - shade}%)`;
}

/** Orange: more of the chosen part than of the whole; blue: less. */
function differenceOf(difference, dark) {
  const strength = Math.min(1, Math.abs(difference) * 4);
  const hue = difference > 0 ? 28 : 215;
  return `hsl(${hue}, ${15 + 75 * strength}%, ${dark ? 26 + 16 * strength : 88 - 26 * strength}%)`;
}

function draw(canvas, root, top, query, dark, differs) {
  const width = canvas.parentElement.clientWidth;
  const height = Math.max(2, Math.min(MOST_ROWS, depthOf(top))) * ROW + 2;
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = `${height}px`;
  const c = canvas.getContext('2d');
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.font = '11px system-ui, "DejaVu Sans", sans-serif';
  c.textBaseline = 'middle';
  c.clearRect(0, 0, width, height);
  const places = [];
  const ink = dark ? '#e6ebf0' : '#17212b';
  const put = (at, x, depth) => {
    const wide = (at.value / top.value) * width;
    if (wide < 0.7 || depth >= MOST_ROWS) return;
    const found = query !== '' && at.name.toLowerCase().includes(query);
    c.fillStyle = found ? '#f2c80f' : differs ? differenceOf(at.value / root.value - at.before, dark) : colorOf(at, dark);
    c.fillRect(x, depth * ROW, Math.max(0.6, wide - 0.6), ROW - 1);
    places.push({ x, y: depth * ROW, wide, at });
    if (wide > 30) {
      c.fillStyle = found ? '#000000' : ink;
      c.fillText(shortened(at.name, Math.max(2, Math.floor((wide - 6) / LETTER))), x + 3, depth * ROW + ROW / 2, wide - 5);
    }
    let left = x;
    for (const child of at.children) {
      put(child, left, depth + 1);
      left += (child.value / top.value) * width;
    }
  };
  if (top.value > 0) put(top, 0, 0);
  return places;
}

const MODES = [['weight', 'weight'], ['wait', 'time waited'], ['cpu', 'on CPUs']];

export function Code({ report, near, dark, query, selection, mode: wanted, setMode }) {
  const [withWakers, setWithWakers] = useState(false);
  const [all, setAll] = useState(false);
  const [top, setTop] = useState(null);
  const [told, setTold] = useState(null);
  const [resized, resize] = useReducer((n) => n + 1, 0);
  const canvas = useRef();
  const places = useRef([]);
  // Only the time waited is known of a part.
  const mode = selection && near && wanted === 'weight' ? 'wait' : wanted;
  const ofPart = selection && near && mode === 'wait';
  const tree = useMemo(() => {
    setTop(null);
    if (!ofPart) return treeOfReport(report, mode, withWakers, all);
    return compare(treeOfPart(report, near, ...selection, all), treeOfPart(report, near, 0, report.timeline.span_us, all));
  }, [report, near, mode, withWakers, all, ofPart && selection[0], ofPart && selection[1]]);
  const functions = useMemo(() => functionsOf(tree), [tree]);
  useEffect(() => {
    const watcher = new ResizeObserver(resize);
    watcher.observe(canvas.current.parentElement);
    return () => watcher.disconnect();
  }, []);
  useEffect(() => {
    places.current = draw(canvas.current, tree, top ?? tree, query.toLowerCase(), dark, ofPart);
  }, [tree, top, query, dark, resized]);
  const amount = (value) => (mode === 'cpu' ? `${count(value)} samples` : duration(value));
  const at = (event) => places.current.find((place) => event.offsetX >= place.x && event.offsetX < place.x + place.wide
    && event.offsetY >= place.y && event.offsetY < place.y + ROW)?.at ?? null;
  const found = query !== '' ? functionsOf(tree, 1e9).filter(([name]) => name.toLowerCase().includes(query.toLowerCase())) : [];
  return (
    <section id="code" aria-labelledby="code-title">
      <h2 id="code-title" tabindex="-1">Where in the code</h2>
      <p class="controls">
        {MODES.map(([value, name]) => (
          <button key={value} type="button" aria-pressed={mode === value} disabled={value === 'weight' && ofPart} onClick={() => setMode(value)}>{name}</button>
        ))}
        {mode !== 'cpu' && !ofPart && <label><input type="checkbox" checked={withWakers} onChange={() => setWithWakers(!withWakers)} /> with wakers</label>}
        {mode !== 'cpu' && <label><input type="checkbox" checked={all} onChange={() => setAll(!all)} /> also waits that hold nothing up</label>}
        {top && <button type="button" onClick={() => setTop(null)}>Show all</button>}
      </p>
      <p class="quiet">
        {ofPart
          ? `Waits from ${moment(selection[0], selection[1] - selection[0])} to ${moment(selection[1], selection[1] - selection[0])}: orange is a larger part than of all waits that this page has, blue is a smaller one.${isWhole(report.timeline, ...selection) ? '' : ' The page has only the longest waits of some of this part.'}`
          : 'Threads are on top, below them the functions from the outermost to the innermost. Width is time: click on a function to look closer.'}
        {selection && mode === 'cpu' && ' CPU samples are of the whole recording.'}
      </p>
      {query !== '' && <p>{found.length} functions have “{query}” in their name.</p>}
      {tree.value === 0 && <p>Nothing was recorded for this picture{mode !== 'cpu' && !all && ': no wait that holds something up has a stack'}.</p>}
      <div class="beside">
        <div class="picture">
          <canvas
            ref={canvas} id="icicle" role="img" aria-label={`Functions by ${mode === 'cpu' ? 'samples on CPUs' : mode === 'wait' ? 'time waited' : 'weight'}; the table has the largest`}
            onMouseMove={(event) => setTold(at(event))} onMouseLeave={() => setTold(null)}
            onClick={(event) => { const next = at(event); setTop(next === top || next === tree ? null : next); }}
          />
          <p class="told">{told ? `${told.name}: ${amount(told.value)}, ${percent(told.value / tree.value)}${ofPart ? ` (of all waits that this page has, ${percent(told.before)})` : ''}` : '\u00a0'}</p>
        </div>
        <div class="details" tabindex="0" role="region" aria-label="Largest functions">
          <table>
            <thead><tr><th>function</th><th class="number">own</th><th class="number">with callees</th></tr></thead>
            <tbody>
              {functions.map(([name, own, withCallees]) => (
                <tr key={name}><th scope="row">{name}</th><td class="number">{own > 0 && amount(own)}</td><td class="number">{amount(withCallees)}</td></tr>
              ))}
            </tbody>
          </table>
        </div>
      </div>
    </section>
  );
}
