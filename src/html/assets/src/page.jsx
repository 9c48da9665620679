// SPDX-License-Identifier: GPL-2.0-or-later
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

import { Answers } from './answers.jsx';
import { Graph } from './graph.jsx';
import { Code } from './icicle.jsx';
import { Help } from './help.jsx';
import { rangeText, readPlace, writePlace } from './permalink.js';
import { treeOfReport } from './stack_tree.js';
import { Tables } from './tables.jsx';
import { clampView, Timeline } from './timeline.jsx';
import { firstEndingFrom } from './waits.js';

/** A link to a part of the page that leaves the address as it is: it says what is shown. */
function PartLink({ to, children, ...rest }) {
  const go = (event) => {
    event.preventDefault();
    const title = document.getElementById(`${to}-title`);
    title.scrollIntoView();
    title.focus({ preventScroll: true });
  };
  return <a href={`#${to}`} onClick={go} {...rest}>{children}</a>;
}

function Head({ report, query, setQuery, dark, setDark, search, setHelp }) {
  const { recording } = report;
  const facts = [recording.host, recording.start_time, `${recording.window_s.toFixed(recording.window_s < 10 ? 2 : 1)} s`, ...recording.facts,
    recording.kernel && `Linux ${recording.kernel}`, recording.offwait && `offwait ${recording.offwait}`].filter(Boolean);
  return (
    <header>
      <PartLink to="answers" class="skip">Skip to the answers</PartLink>
      <h1><b>offwait</b> {recording.target}</h1>
      <p class="facts">{facts.join(' · ')} · <span class={recording.is_loss_minor ? '' : 'warning'}>{recording.lost}</span></p>
      {recording.chosen && <p>Only {recording.chosen} count as the target; all others are outside.</p>}
      {recording.warnings.map((text) => <p key={text} class="warning">{text}</p>)}
      <nav aria-label="Parts of this page">
        <PartLink to="answers">What would help</PartLink>
        <PartLink to="graph">Who waits for whom</PartLink>
        <PartLink to="when">When</PartLink>
        <PartLink to="code">Where in the code</PartLink>
        <PartLink to="tables">Locks, files, functions</PartLink>
        <input ref={search} type="search" aria-label="Search threads and functions" placeholder="Search threads, functions (/)" value={query} onInput={(event) => setQuery(event.target.value)} />
        <button type="button" aria-pressed={dark} onClick={() => setDark(!dark)}>Dark</button>
        <button type="button" onClick={() => setHelp(true)}>Keys (?)</button>
      </nav>
    </header>
  );
}

/** A state whose value stands behind the # of the address. */
function usePlaced(initial, name, text) {
  const [value, set] = useState(initial);
  useEffect(() => {
    const timer = setTimeout(() => writePlace({ [name]: text(value) }), 120);
    return () => clearTimeout(timer);
  }, [value]);
  return [value, set];
}

export function Page({ report, far, near }) {
  const span = report.timeline.span_us;
  const { arrows, boxes, first_arrows: first } = report.graph;
  const place = useMemo(() => readPlace(span, arrows.length, boxes.length, report.timeline.rows.length), [report]);
  const prefersDark = useMemo(() => matchMedia('(prefers-color-scheme: dark)').matches, []);
  const [dark, setDark] = usePlaced(place.theme ? place.theme === 'dark' : prefersDark, 'theme', (is) => (is === prefersDark ? null : is ? 'dark' : 'light'));
  const [query, setQuery] = usePlaced(place.query, 'q', (words) => words);
  const [picked, setPicked] = useState(place.picked ?? (arrows.length > 0 ? { kind: 'arrow', index: 0 } : null));
  const [shown, setShown] = usePlaced(place.shown ?? first, 'arrows', (number) => (number === first ? null : number));
  const [view, setView] = usePlaced(place.view ?? [0, span], 't', (range) => (range[0] === 0 && range[1] === span ? null : rangeText(range)));
  const [selection, setSelection] = usePlaced(place.selection, 'select', rangeText);
  const [current, setCurrent] = useState(null);
  const firstMode = useMemo(() => (treeOfReport(report, 'weight', false, false).value > 0 || report.samples.length === 0 ? 'weight' : 'cpu'), [report]);
  const [mode, setMode] = usePlaced(place.mode ?? firstMode, 'code', (value) => (value === firstMode ? null : value));
  const [help, setHelp] = useState(false);
  const search = useRef();

  useEffect(() => { document.documentElement.dataset.theme = dark ? 'dark' : 'light'; }, [dark]);
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current || place.picked)
      writePlace({ arrow: picked?.kind === 'arrow' ? picked.index : null, box: picked?.kind === 'box' ? picked.index : null });
    isFirst.current = false;
    if (picked?.kind === 'arrow' && picked.index >= shown) setShown(picked.index + 1);
  }, [picked]);
  useEffect(() => {
    if (near) writePlace({ wait: current && current.index >= 0 ? `${current.row}-${near.begin[current.index]}` : null });
  }, [current]);
  useEffect(() => {
    if (near && place.wait) setCurrent(waitFrom(near, place.wait.row, place.wait.at));
  }, [near]);
  useEffect(() => {
    const onKey = (event) => {
      const typing = event.target instanceof HTMLInputElement && event.target.type === 'search';
      if (event.key === '/' && !typing) {
        event.preventDefault();
        search.current.focus();
      } else if (event.key === '?' && !typing) {
        setHelp(true);
      } else if (event.key === 'Escape' && !(event.target instanceof HTMLCanvasElement)) {
        setHelp(false);
        setPicked(null);
        if (typing) setQuery('');
      }
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);

  const goTo = (row, begin, wake) => {
    const around = Math.max(50, (wake - begin) * 0.75);
    setView(clampView(begin - around, wake + around, span));
    setCurrent(waitFrom(near, row, begin));
    document.getElementById('when').scrollIntoView();
  };
  return (
    <>
      <Head report={report} query={query} setQuery={setQuery} dark={dark} setDark={setDark} search={search} setHelp={setHelp} />
      <main>
        <Answers report={report} setPicked={setPicked} />
        <Graph report={report} picked={picked} setPicked={setPicked} shown={shown} setShown={setShown} selection={selection} near={near} goTo={goTo} />
        <Timeline
          report={report} far={far} near={near} dark={dark} query={query} view={view} setView={setView}
          selection={selection} setSelection={setSelection} current={current} setCurrent={setCurrent} goTo={goTo}
        />
        <Code report={report} near={near} dark={dark} query={query} selection={selection} mode={mode} setMode={setMode} />
        <Tables report={report} query={query} />
      </main>
      {help && <Help close={() => setHelp(false)} />}
    </>
  );
}

/** The wait of the row that begins at this time, or the next one. */
function waitFrom(near, row, at) {
  let index = firstEndingFrom(near, row, at);
  while (index < near.first[row + 1] && near.begin[index] < at) index += 1;
  return { row, index: index < near.first[row + 1] ? index : -1 };
}
