// SPDX-License-Identifier: GPL-2.0-or-later
import { useEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks';

import { count, duration, moment, percent, plural } from './format.js';
import { colors, meaning } from './states.js';
import { LEAST_SPAN } from './permalink.js';
import { StackLine } from './stack_line.jsx';
import { heights, NAMES, ROW, TimelinePicture } from './timeline_picture.js';
import { chainOf, firstEndingFrom, isWhole, lastWaitBefore, rowSums, waitAt } from './waits.js';

const RUNNABLE = 1;
const FIRST_WAIT = 2;

export const clampView = (from, to, span) => {
  const length = Math.min(span, Math.max(LEAST_SPAN, to - from));
  const begin = Math.max(0, Math.min(span - length, from - Math.max(0, length - (to - from)) / 2));
  return [begin, begin + length];
};

function linesOf(report) {
  const { lines } = report.timeline;
  const cpus = report.recording.cpus || 1;
  const round = (most) => (most >= 10 ? Math.ceil(most) : Math.ceil(most * 10) / 10);
  const out = [{ name: 'threads running', values: lines.running, most: cpus, unit: '', ink: 'running' }];
  const waiting = Math.max(...lines.runnable);
  if (waiting > 0.05)
    out.push({ name: 'threads without a CPU', values: lines.runnable, most: round(waiting), unit: '', ink: 'runnable' });
  for (const disk of lines.disks.slice(0, 3)) {
    out.push({
      name: `requests at ${report.actors[disk.actor].name}`, values: disk.values,
      most: round(Math.max(...disk.values)), unit: '', ink: 'disk',
    });
  }
  return out;
}

function Legend({ report, far, dark }) {
  const present = useMemo(() => report.timeline.states.map((_, state) => !far
    || report.timeline.rows.some((_row, row) => far.part(row, state))), [report, far]);
  const palette = colors(dark);
  return (
    <ul class="legend">
      {report.timeline.states.map((state, index) => present[index] && (
        <li key={state}><i style={{ background: palette[state] }} />{state}<small> {meaning(state)}</small></li>
      ))}
    </ul>
  );
}

const nameOfRow = (report, row) => `${report.timeline.rows[row].name || 'tid'}/${report.timeline.rows[row].tid}`;

export function nameOfWaker(report, waker) {
  if (waker >= 0) return nameOfRow(report, waker);
  return waker === -1 ? null : report.actors[report.timeline.others[-2 - waker]].name;
}

/** What happened in the chosen wait, as a sentence with its code. */
function WaitSentence({ report, near, current }) {
  if (!current) return <p class="quiet">Choose a wait: its length, its waker and its code appear here.</p>;
  const { row, index } = current;
  const name = nameOfRow(report, row);
  if (index < 0) return <p><b>{name}</b></p>;
  const state = report.timeline.states[near.state[index]];
  const length = duration((near.wake[index] - near.begin[index]) / 1e6);
  const at = moment(near.begin[index], 1);
  const ready = (near.end[index] - near.wake[index]) / 1e6;
  if (near.state[index] === RUNNABLE)
    return <p><b>{name}</b> was ready to run for <b>{duration(ready)}</b> from {at} on, and had no CPU.</p>;
  const waker = nameOfWaker(report, near.waker[index]);
  const holder = nameOfWaker(report, near.holder[index]);
  const object = near.object[index] ? report.timeline.objects[near.object[index] - 1] : null;
  return (
    <>
      <p>
        <b>{name}</b>: {state}, <b>{length}</b> from {at} on{object && <> for <b>{object}</b></>}.{' '}
        {holder && <><b>{holder}</b> held it when the wait began. </>}
        {near.open[index] ? 'It had not ended when the recording did.' : waker && <><b>{waker}</b> ended it. </>}
        {ready > 0 && <>Then it was ready to run for {duration(ready)} and had no CPU.</>}
      </p>
      {near.stack[index] > 0 && <StackLine report={report} stack={near.stack[index]} label="waits in" />}
      {near.wakerStack[index] > 0 && <StackLine report={report} stack={near.wakerStack[index]} label="woken in" />}
    </>
  );
}

/** When the longest stalls were, and whose. */
function LongestWaits({ report, near, goTo }) {
  const { arrows, boxes, first_arrows: first } = report.graph;
  const drawn = arrows.slice(0, first);
  const ofTarget = drawn.filter((arrow) => !boxes[arrow.from].outside);
  const waits = useMemo(() => (ofTarget.length > 0 ? ofTarget : drawn)
    .flatMap((arrow) => arrow.longest.map((wait) => [...wait, arrow])).sort((a, b) => (b[2] - b[1]) - (a[2] - a[1])).slice(0, 10), [report]);
  if (waits.length === 0) return null;
  return (
    <details class="stalls">
      <summary>The longest waits that hold something up</summary>
      <ol class="longest">
        {waits.map(([row, begin, wake, arrow]) => (
          <li key={`${row} ${begin}`}>
            <button type="button" disabled={!near} onClick={() => goTo(row, begin, wake)}>
              {duration((wake - begin) / 1e6)} at {moment(begin, wake - begin)}: {nameOfRow(report, row)}, ended by {boxes[arrow.to].name}
            </button>
          </li>
        ))}
      </ol>
    </details>
  );
}

/** The chain of wakers in words, for those who do not see the arrows. */
function ChainList({ report, near, current }) {
  const links = chainOf(near, current.row, current.index);
  return (
    <ol class="chain">
      {links.map(({ row, index }) => (
        <li key={index}>
          {nameOfRow(report, row)}: {report.timeline.states[near.state[index]]}{' '}
          {duration((near.wake[index] - near.begin[index]) / 1e6)}, ended by {nameOfWaker(report, near.waker[index]) ?? 'it is not known what'}
        </li>
      ))}
    </ol>
  );
}

/** How the time of each actor splits, in the chosen part or in all of the recording. */
function Sums({ report, far, selection }) {
  const rows = useMemo(() => {
    const sums = new Map();
    report.timeline.rows.forEach((thread, row) => {
      const of = rowSums(far, report.timeline, row, ...(selection ?? []));
      const sum = sums.get(thread.actor) ?? { actor: thread.actor, threads: 0, states: of.map(() => 0) };
      sum.threads += 1;
      of.forEach((seconds, state) => { sum.states[state] += seconds; });
      sums.set(thread.actor, sum);
    });
    return [...sums.values()];
  }, [report, far, selection]);
  const used = report.timeline.states.map((_, state) => rows.some((row) => row.states[state] > 0));
  return (
    <details open={Boolean(selection)} class="sums">
      <summary>
        {selection ? `Time by state from ${moment(selection[0], selection[1] - selection[0])} to ${moment(selection[1], selection[1] - selection[0])}` : 'Time by state in the whole recording'}
      </summary>
      <div class="scroll" tabindex="0" role="group" aria-label="Table of times by state">
        <table>
          <thead>
            <tr><th>threads</th>{report.timeline.states.map((state, index) => used[index] && <th key={state} class="number">{state}</th>)}</tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.actor} data-actor={row.actor}>
                <th scope="row">{report.actors[row.actor].full}</th>
                {row.states.map((seconds, state) => used[state] && (
                  <td key={state} class="number" data-state={report.timeline.states[state]} data-seconds={seconds}>{seconds > 0 ? duration(seconds) : ''}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

/** The rows that are shown: those that the search finds, and of large groups the first ones. */
function shownRows(report, query, all) {
  const MOST_OF_GROUP = 12;
  const words = query.toLowerCase();
  const fits = (row) => `${row.name}/${row.tid}`.toLowerCase().includes(words);
  const found = report.timeline.rows.map((row, index) => (words === '' || fits(row) ? index : -1)).filter((index) => index >= 0);
  const rows = found.length > 0 ? found : report.timeline.rows.map((_, index) => index);
  const shown = new Map();
  const kept = all || words !== '' ? rows : rows.filter((row) => {
    const { actor } = report.timeline.rows[row];
    shown.set(actor, (shown.get(actor) ?? 0) + 1);
    return shown.get(actor) <= MOST_OF_GROUP;
  });
  return { kept, left: rows.length - kept.length };
}

export function Timeline({ report, far, near, dark, query, view, setView, selection, setSelection, current, setCurrent, goTo }) {
  const { span_us: span } = report.timeline;
  const canvas = useRef();
  const picture = useRef();
  const drag = useRef(null);
  const [chain, setChain] = useState(true);
  const [all, setAll] = useState(false);
  const [scroll, setScroll] = useState(0);
  const [hovered, setHovered] = useState(null);
  const [resized, resize] = useReducer((n) => n + 1, 0);
  const lines = useMemo(() => linesOf(report), [report]);
  const { kept: rows, left } = useMemo(() => shownRows(report, query, all), [report, query, all]);
  const size = heights(lines.length, rows.length);
  const lastScroll = Math.max(0, rows.length * ROW - (size.all - size.top));
  const at = Math.min(scroll, lastScroll);
  const chosen = current ?? hovered;

  useEffect(() => {
    const watcher = new ResizeObserver(resize);
    watcher.observe(canvas.current.parentElement);
    return () => watcher.disconnect();
  }, []);
  useEffect(() => {
    picture.current ??= new TimelinePicture(canvas.current, report);
    const frame = requestAnimationFrame(() => picture.current.draw({
      view, rows, scroll: at, lines, far, near, selection, current: chosen, chain: chain && Boolean(current), dark,
      width: canvas.current.parentElement.clientWidth,
    }));
    return () => cancelAnimationFrame(frame);
  }, [report, view, rows, at, lines, far, near, selection, chosen, chain, dark, resized]);
  // The chosen wait's row scrolls into sight.
  useEffect(() => {
    const place = current ? rows.indexOf(current.row) : -1;
    if (current && place < 0 && !all && query === '') setAll(true);
    if (place < 0) return;
    const room = size.all - size.top - ROW;
    if (place * ROW < at) setScroll(place * ROW);
    else if (place * ROW > at + room) setScroll(place * ROW - room);
  }, [current, rows]);

  const zoom = (factor, x = NAMES + (picture.current.width - NAMES) / 2) => {
    const centre = picture.current.usAt(x);
    setView(clampView(centre - (centre - view[0]) * factor, centre + (view[1] - centre) * factor, span));
  };
  const pan = (part) => {
    const by = (view[1] - view[0]) * part;
    const begin = Math.max(0, Math.min(span - (view[1] - view[0]), view[0] + by));
    setView([begin, begin + view[1] - view[0]]);
  };
  const hit = (event) => {
    const row = picture.current.rowAt(event.offsetY);
    if (row < 0) return null;
    return { row, index: near && event.offsetX >= NAMES ? waitAt(near, row, picture.current.usAt(event.offsetX)) : -1 };
  };
  const choose = (next) => {
    setCurrent(next);
    if (!next || next.index < 0 || !near) return;
    const [begin, end] = [near.begin[next.index], near.end[next.index]];
    if (end < view[0] || begin > view[1]) {
      const half = (view[1] - view[0]) / 2;
      setView(clampView((begin + end) / 2 - half, (begin + end) / 2 + half, span));
    }
  };
  const step = (rowsDown, waitsOn) => {
    if (!near) return;
    const middle = (view[0] + view[1]) / 2;
    if (!current) return choose({ row: rows[0], index: Math.min(firstEndingFrom(near, rows[0], middle), near.first[rows[0] + 1] - 1) });
    let { row, index } = current;
    const us = index >= 0 ? near.begin[index] : middle;
    if (rowsDown !== 0) {
      row = rows[Math.max(0, Math.min(rows.length - 1, rows.indexOf(row) + rowsDown))];
      index = firstEndingFrom(near, row, us);
    }
    index = Math.max(near.first[row], Math.min(near.first[row + 1] - 1, index + waitsOn));
    choose({ row, index: near.first[row] === near.first[row + 1] ? -1 : index });
  };
  const follow = () => {
    if (!near || !current || current.index < 0 || near.waker[current.index] < 0) return;
    const row = near.waker[current.index];
    choose({ row, index: lastWaitBefore(near, row, near.wake[current.index]) });
  };
  const keys = {
    w: () => zoom(0.7), s: () => zoom(1.4), a: () => pan(-0.15), d: () => pan(0.15), 0: () => setView([0, span]),
    arrowdown: () => step(1, 0), arrowup: () => step(-1, 0), arrowright: () => step(0, 1), arrowleft: () => step(0, -1),
    enter: follow, c: () => setChain(!chain),
    escape: () => { setCurrent(null); setSelection(null); },
  };
  const onKey = (event) => {
    const act = keys[event.key.toLowerCase()];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  };
  const onMove = (event) => {
    const x = event.clientX - canvas.current.getBoundingClientRect().left;
    if (!drag.current) {
      const next = hit(event);
      if (next?.row !== hovered?.row || next?.index !== hovered?.index) setHovered(next);
      return;
    }
    if (Math.abs(x - drag.current.x) > 3) drag.current.moved = true;
    if (!drag.current.moved) return;
    if (drag.current.pans) {
      const by = ((drag.current.x - x) / (picture.current.width - NAMES)) * (drag.current.view[1] - drag.current.view[0]);
      setView(clampView(drag.current.view[0] + by, drag.current.view[1] + by, span));
    } else {
      const ends = [picture.current.usAt(Math.max(NAMES, Math.min(x, drag.current.x))), picture.current.usAt(Math.max(x, drag.current.x))];
      setSelection([Math.max(0, ends[0]), Math.min(span, ends[1])]);
    }
  };
  const onUp = (event) => {
    const was = drag.current;
    drag.current = null;
    if (was && !was.moved) choose(hit(event));
  };
  const onWheel = (event) => {
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      zoom(event.deltaY > 0 ? 1.25 : 0.8, event.offsetX);
    } else {
      const next = Math.max(0, Math.min(lastScroll, at + event.deltaY));
      if (next === at) return;
      event.preventDefault();
      setScroll(next);
    }
  };
  useEffect(() => {
    const element = canvas.current;
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => element.removeEventListener('wheel', onWheel);
  });

  return (
    <section id="when" aria-labelledby="when-title">
      <h2 id="when-title" tabindex="-1">When</h2>
      <p class="controls">
        <button type="button" onClick={() => zoom(0.5)}>Zoom in (W)</button>
        <button type="button" onClick={() => zoom(2)}>Zoom out (S)</button>
        <button type="button" onClick={() => pan(-0.5)} aria-label="Earlier">◀ (A)</button>
        <button type="button" onClick={() => pan(0.5)} aria-label="Later">▶ (D)</button>
        <button type="button" onClick={() => setView([0, span])}>Whole recording (0)</button>
        <button type="button" onClick={() => selection && setView(clampView(...selection, span))} disabled={!selection}>Zoom to the chosen part</button>
        <button type="button" aria-pressed={chain} onClick={() => setChain(!chain)}>Chain of wakers (C)</button>
        {left > 0 && <button type="button" onClick={() => setAll(true)}>Show {plural(left, 'more thread')}</button>}
        {all && <button type="button" onClick={() => setAll(false)}>Show fewer threads</button>}
      </p>
      <LongestWaits report={report} near={near} goTo={goTo} />
      <Legend report={report} far={far} dark={dark} />
      <div class="picture">
        <canvas
          ref={canvas} id="timeline" tabindex="0" role="img" onKeyDown={onKey}
          aria-label={`Timeline of ${plural(rows.length, 'thread')}. Arrow keys choose a thread and a wait, Enter its waker, W S A D zoom and move. What is chosen is said below, and tables have the sums.`}
          onMouseDown={(event) => { drag.current = { x: event.offsetX, pans: event.shiftKey, view, moved: false }; }}
          onMouseMove={onMove} onMouseUp={onUp} onMouseLeave={() => { drag.current = null; setHovered(null); }}
          onDblClick={() => selection && setView(clampView(...selection, span))}
        />
      </div>
      <p class="quiet">
        {!report.timeline.is_whole && (isWhole(report.timeline, ...view)
          ? 'All waits of this part are here. '
          : `Single waits are kept under the blue marks; elsewhere, those of ${duration(report.timeline.longer_than_us / 1e6)} and longer (--html-size and --window give more). `)}
        {report.timeline.left_out > 0 && `${count(report.timeline.left_out)} more threads of the target have no row. `}
        Drag chooses a part of the time, Shift and drag moves, Ctrl and the wheel zooms. Shown: {moment(view[0], view[1] - view[0])} to {moment(view[1], view[1] - view[0])}, {percent((view[1] - view[0]) / span)} of the recording.
      </p>
      <div class="wait-told" aria-live="polite">
        {near && <WaitSentence report={report} near={near} current={chosen} />}
        {near && chain && current && current.index >= 0 && near.state[current.index] >= FIRST_WAIT && <ChainList report={report} near={near} current={current} />}
      </div>
      {far && <Sums report={report} far={far} selection={selection} />}
    </section>
  );
}
