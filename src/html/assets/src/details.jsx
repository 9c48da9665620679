// SPDX-License-Identifier: GPL-2.0-or-later
// What stands beside the graph.
import { count, duration, moment, percent, plural } from './format.js';
import { StackLine } from './stack_line.jsx';
import { partSum } from './waits.js';

/** A bar for each power of two: how much time waits of this length took together. */
function Lengths({ lengths }) {
  if (lengths.length === 0) return null;
  const [least, most] = [lengths[0][0], lengths[lengths.length - 1][0]];
  const all = Array.from({ length: most - least + 1 }, (_, i) => lengths.find(([power]) => power === least + i) ?? [least + i, 0, 0]);
  const longest = Math.max(...all.map(([, , seconds]) => seconds), 1e-9);
  const step = Math.min(26, 280 / all.length);
  const text = ([power, waits, seconds]) => `${duration(2 ** power / 1e6)} to ${duration(2 ** (power + 1) / 1e6)}: ${plural(waits, 'wait')}, ${duration(seconds)} together`;
  return (
    <figure>
      <figcaption>How long the waits are: height is the time of all waits of a length</figcaption>
      <svg viewBox={`0 0 ${all.length * step} 52`} width={all.length * step} height="52" role="img" aria-label={all.filter(([, waits]) => waits > 0).map(text).join('; ')}>
        {all.map((bar, i) => (
          <g key={bar[0]}>
            <title>{text(bar)}</title>
            <rect class="ground" x={i * step} y="0" width={step - 1} height="50" />
            <rect class="column" x={i * step} y={50 - (bar[2] / longest) * 50} width={step - 1} height={Math.max(bar[1] > 0 ? 1 : 0, (bar[2] / longest) * 50)} />
          </g>
        ))}
      </svg>
      <p class="ends"><span>{duration(2 ** least / 1e6)}</span><span>{duration(2 ** (most + 1) / 1e6)}</span></p>
    </figure>
  );
}

function OverTime({ report, values }) {
  const most = Math.max(...values, 1e-9);
  const height = 36;
  const path = values.map((value, i) => `M${i + 0.5},${height}V${height - (value / most) * height}`).join('');
  return (
    <figure>
      <figcaption>When: time waited in each of {values.length} parts of the recording</figcaption>
      <svg viewBox={`0 0 ${values.length} ${height}`} class="over-time" preserveAspectRatio="none" role="img" aria-label={`At most ${duration(most)} in ${duration(report.recording.window_s / values.length)}`}>
        <path d={path} />
      </svg>
    </figure>
  );
}

function LongestWaits({ report, arrow, near, goTo }) {
  if (arrow.longest.length === 0) return null;
  return (
    <>
      <h4>Longest waits</h4>
      <ol class="longest">
        {arrow.longest.map(([row, begin, wake]) => {
          const thread = report.timeline.rows[row];
          return (
            <li key={`${row} ${begin}`}>
              <button type="button" disabled={!near} onClick={() => goTo(row, begin, wake)}>
                {duration((wake - begin) / 1e6)} at {moment(begin, wake - begin)}: {thread.name}/{thread.tid}
              </button>
            </li>
          );
        })}
      </ol>
    </>
  );
}

export function ArrowDetails({ report, arrow, selection, near, goTo }) {
  const { boxes } = report.graph;
  const from = boxes[arrow.from];
  const each = arrow.waits > 0 ? (arrow.wait_s * from.threads) / arrow.waits : 0;
  return (
    <>
      <h3>{from.name} → {boxes[arrow.to].name}</h3>
      {arrow.idle ? <p>The device waited for its next request.</p> : (
        <p>
          <b>Weight {duration(arrow.weight_s)}</b>, waited {duration(arrow.wait_s)} ({percent(arrow.wait_s / report.recording.window_s)} of the recording{from.threads > 1 && ', each thread on average'}).
          {' '}{plural(arrow.waits, 'wait')} of {duration(each)}: {arrow.classes}.
          {selection && <> In the chosen part: {duration(partSum(arrow.over_time, report.timeline.span_us, ...selection))} by all threads.</>}
        </p>
      )}
      {!arrow.holds_up && <p class="quiet">These waits hold nothing up.</p>}
      {arrow.sentences.map((sentence) => <p key={sentence}>{sentence}</p>)}
      {arrow.objects.length > 0 && (
        <>
          <h4>For</h4>
          <ul>{arrow.objects.map(([name, seconds]) => <li key={name}>{name}: {duration(seconds)}</li>)}</ul>
        </>
      )}
      <LongestWaits report={report} arrow={arrow} near={near} goTo={goTo} />
      <Lengths lengths={arrow.lengths} />
      {!arrow.idle && <OverTime report={report} values={arrow.over_time} />}
      {arrow.stacks.length > 0 && <h4>Code</h4>}
      {arrow.stacks.map((stack, index) => (
        <div key={index} class="code">
          <p>{percent(stack.weight_s / (arrow.stacks.reduce((sum, one) => sum + one.weight_s, 0) || 1))} of the weight here, {stack.class}, {count(stack.waits)} waits, {duration(stack.wait_s)}</p>
          {stack.stack > 0 ? <StackLine report={report} stack={stack.stack} label="waits in" /> : <p class="quiet">No stack is known.</p>}
          {stack.waker_stack > 0 && <StackLine report={report} stack={stack.waker_stack} label="woken in" />}
        </div>
      ))}
    </>
  );
}

export function BoxDetails({ report, index, setPicked }) {
  const { boxes, arrows } = report.graph;
  const box = boxes[index];
  const knot = report.knots.find((one) => one.knot === box.knot);
  const disk = report.disks.find((one) => box.actors.includes(one.actor));
  const sink = report.sinks.find((one) => box.actors.includes(one.actor));
  const list = (title, of, other) => of.length > 0 && (
    <>
      <h4>{title}</h4>
      <ul class="longest">
        {of.map(([arrow, place]) => (
          <li key={place}><button type="button" onClick={() => setPicked({ kind: 'arrow', index: place })}>{boxes[arrow[other]].name}: {arrow.idle && 'idle '}{duration(arrow.weight_s)}</button></li>
        ))}
      </ul>
    </>
  );
  const all = arrows.map((arrow, place) => [arrow, place]);
  return (
    <>
      <h3>{box.name}</h3>
      <ul>{box.actors.slice(0, 8).map((actor) => <li key={actor}>{report.actors[actor].full}</li>)}{box.actors.length > 8 && <li>{box.actors.length - 8} more</li>}</ul>
      {(box.kind === 'thread' || box.kind === 'group') && (
        <p>{plural(box.threads, 'thread')}, together: ran {duration(box.running_s)}, was ready to run without a CPU {duration(box.runnable_s)}, waited {duration(box.blocked_s)}.</p>
      )}
      {sink && <p><b>{sink.saturated ? 'Busy all the time: what it does limits.' : 'It sets the pace.'}</b> {sink.text}. {sink.evidence}</p>}
      {sink && sink.stack > 0 && <StackLine report={report} stack={sink.stack} label="runs in" />}
      {disk && disk.facts.map((fact) => <p key={fact}>{fact}</p>)}
      {knot && <p><b>Knot: {knot.title}.</b> {knot.evidence}</p>}
      {list('It waits for', all.filter(([arrow]) => arrow.from === index), 'to')}
      {list('They wait for it', all.filter(([arrow]) => arrow.to === index), 'from')}
    </>
  );
}
