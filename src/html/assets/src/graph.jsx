// SPDX-License-Identifier: GPL-2.0-or-later
import { useMemo, useState } from 'preact/hooks';

import { ArrowDetails, BoxDetails } from './details.jsx';
import { duration, moment, percent, plural } from './format.js';
import { layOut } from './graph_layout.js';
import { partSum } from './waits.js';

const isThread = (box) => box.kind === 'thread' || box.kind === 'group';

/** What arrows weigh: in all of the recording, or how long the waits of a part took. */
function amounts(report, selection) {
  const { span_us: span } = report.timeline;
  return report.graph.arrows.map((arrow) => {
    if (!selection) return arrow.weight_s;
    if (arrow.idle) return 0;
    return partSum(arrow.over_time, span, ...selection) / report.graph.boxes[arrow.from].threads;
  });
}

function Box({ box, at, index, mark, onPick, onHover, chosen }) {
  const left = at.x - at.width / 2;
  const top = at.y - at.height / 2;
  const total = box.running_s + box.runnable_s + box.blocked_s + box.unknown_s || 1;
  const bar = at.width - 16;
  const ran = bar * (box.running_s / total);
  const ready = bar * (box.runnable_s / total);
  const says = isThread(box)
    ? `${box.name}: ran ${percent(box.running_s / total)}, was ready to run ${percent(box.runnable_s / total)}, waited ${percent(box.blocked_s / total)} of its time`
    : box.name;
  return (
    <g
      class={`box ${mark} ${box.outside && isThread(box) ? 'outside' : ''} ${chosen ? 'chosen' : ''}`}
      tabindex="0" role="button" aria-pressed={chosen} aria-label={says}
      onClick={() => onPick({ kind: 'box', index })} onKeyDown={(event) => event.key === 'Enter' && onPick({ kind: 'box', index })}
      onMouseEnter={() => onHover({ kind: 'box', index })} onMouseLeave={() => onHover(null)}
    >
      <title>{says}</title>
      <rect class="shape" x={left} y={top} width={at.width} height={at.height} rx={isThread(box) ? 5 : at.height / 2} />
      <text x={at.x} y={isThread(box) ? at.y - 5 : at.y}>{box.name}</text>
      {isThread(box) && (
        <g>
          <rect class="time" x={left + 8} y={at.y + 9} width={bar} height="7" />
          <rect class="ran" x={left + 8} y={at.y + 9} width={ran} height="7" />
          <rect class="ready" x={left + 8 + ran} y={at.y + 9} width={ready} height="7" />
        </g>
      )}
    </g>
  );
}

function Arrow({ report, arrow, drawn, mark, onPick, onHover, chosen, says }) {
  const pick = { kind: 'arrow', index: drawn.index };
  const ends = report.graph.boxes;
  return (
    <g
      class={`arrow ${mark} ${arrow.idle ? 'idle' : ''} ${arrow.in_knot ? 'knot' : ''} ${arrow.holds_up ? '' : 'light'} ${chosen ? 'chosen' : ''}`}
      tabindex="0" role="button" aria-pressed={chosen} aria-label={`${ends[arrow.from].name} waits for ${ends[arrow.to].name}: ${says}`}
      data-weight={arrow.weight_s} data-wait={arrow.wait_s} data-edges={arrow.edges.join(' ')}
      onClick={() => onPick(pick)} onKeyDown={(event) => event.key === 'Enter' && onPick(pick)}
      onMouseEnter={() => onHover(pick)} onMouseLeave={() => onHover(null)}
    >
      <path class="hit" d={drawn.path} />
      <path class="line" d={drawn.path} stroke-width={drawn.width} marker-end={`url(#tip${arrow.in_knot ? '-knot' : ''})`} />
      <text x={drawn.label.x} y={drawn.label.y - drawn.width / 2 - 7}>{drawn.label.text}</text>
    </g>
  );
}

export function Graph({ report, picked, setPicked, shown, setShown, selection, near, goTo }) {
  const { boxes, arrows, first_arrows: first } = report.graph;
  const [hovered, setHovered] = useState(null);
  const sizes = useMemo(() => amounts(report, selection), [report, selection]);
  const span = selection ? (selection[1] - selection[0]) / 1e6 : report.recording.window_s;
  const layout = useMemo(() => {
    const some = arrows.slice(0, shown).map((arrow, index) => ({
      index, from: arrow.from, to: arrow.to, label: `${arrow.idle ? 'idle ' : ''}${duration(sizes[index])}`,
      width: Math.max(1, Math.min(9, 9 * Math.sqrt(sizes[index] / span))),
    }));
    const used = new Set(some.flatMap((arrow) => [arrow.from, arrow.to]));
    boxes.forEach((box, index) => { if (box.limits) used.add(index); });
    return layOut([...used].sort((a, b) => a - b).map((index) => ({ index, name: boxes[index].name })), some);
  }, [report, shown, sizes]);
  const isNear = (kind, index) => {
    if (!hovered || (hovered.kind === kind && hovered.index === index)) return true;
    const ends = (arrow) => [arrows[arrow].from, arrows[arrow].to];
    if (kind === 'arrow') return hovered.kind === 'box' && ends(index).includes(hovered.index);
    return hovered.kind === 'arrow' ? ends(hovered.index).includes(index)
      : arrows.slice(0, shown).some((arrow) => [arrow.from, arrow.to].includes(index) && [arrow.from, arrow.to].includes(hovered.index));
  };
  const is = (kind, index) => picked?.kind === kind && picked.index === index;
  return (
    <section id="graph" aria-labelledby="graph-title">
      <h2 id="graph-title" tabindex="-1">Who waits for whom</h2>
      {arrows.length === 0 && <p>No wait is long enough to be drawn.</p>}
      {arrows.length > first && (
        <p class="controls">
          <label>
            Arrows shown: {Math.min(shown, arrows.length)} of {arrows.length}{' '}
            <input type="range" min={Math.min(1, arrows.length)} max={arrows.length} value={shown} onInput={(event) => setShown(Number(event.target.value))} />
          </label>
          {shown !== first && <button type="button" onClick={() => setShown(first)}>Show what matters most</button>}
        </p>
      )}
      <p class="quiet">
        {selection
          ? `Arrows have the time waited from ${moment(selection[0], selection[1] - selection[0])} to ${moment(selection[1], selection[1] - selection[0])}, by each thread on average.`
          : 'An arrow leads from what waits to what it waits for. Its width is its weight: the time waited, and the time that others waited behind it.'}
        {' '}A bar in a box: <i class="key ran" /> ran, <i class="key ready" /> ready to run without a CPU, <i class="key rest" /> waited.
        {boxes.some((box) => box.knot !== null) && <> <i class="key in-knot" /> A knot: they wait for each other.</>}
        {boxes.some((box) => box.limits) && <> <i class="key limit" /> Busy all the time: it limits.</>}
        {' '}Dashed boxes are outside of the target.
      </p>
      <div class="beside">
        <div class="drawing">
          <svg viewBox={`0 0 ${layout.width} ${layout.height}`} style={{ maxWidth: `${layout.width * 1.15}px` }} role="group" aria-label={`Graph of ${plural(layout.boxes.size, 'box')} and ${plural(layout.arrows.length, 'arrow')}`}>
            <defs>
              {['', '-knot'].map((kind) => (
                <marker key={kind} id={`tip${kind}`} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto">
                  <path class={`tip${kind}`} d="M0,0L8,4L0,8Z" />
                </marker>
              ))}
            </defs>
            {layout.arrows.map((drawn) => (
              <Arrow
                key={drawn.index} report={report} arrow={arrows[drawn.index]} drawn={drawn} mark={isNear('arrow', drawn.index) ? '' : 'far'}
                chosen={is('arrow', drawn.index)} onPick={setPicked} onHover={setHovered}
                says={`${drawn.label.text}, ${plural(arrows[drawn.index].waits, 'wait')}`}
              />
            ))}
            {[...layout.boxes].map(([index, at]) => (
              <Box
                key={index} index={index} box={boxes[index]} at={at} chosen={is('box', index)} onPick={setPicked} onHover={setHovered}
                mark={`${isNear('box', index) ? '' : 'far'} ${boxes[index].knot !== null ? 'knot' : ''} ${boxes[index].limits ? 'limits' : ''}`}
              />
            ))}
          </svg>
        </div>
        <div class="details" tabindex="0" role="region" aria-label="What was chosen in the graph">
          {picked?.kind === 'arrow' && <ArrowDetails report={report} arrow={arrows[picked.index]} selection={selection} near={near} goTo={goTo} />}
          {picked?.kind === 'box' && <BoxDetails report={report} index={picked.index} setPicked={setPicked} />}
          {!picked && <p class="quiet">Choose an arrow: its code, its longest waits, and what it was for appear here. Choose a box for its arrows.</p>}
        </div>
      </div>
    </section>
  );
}
