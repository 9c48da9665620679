// SPDX-License-Identifier: GPL-2.0-or-later
import { useState } from 'preact/hooks';

import { percent } from './format.js';
import { StackLine } from './stack_line.jsx';

/** The gain as a bar, and the range that holds 9 of 10 fixes. A bound is hatched; a rough answer has no number. */
function GainBar({ answer, most }) {
  const place = (gain) => `${(100 * Math.max(0, Math.min(gain, most))) / most}%`;
  if (answer.gain === null) return <span class="bar" role="img" aria-label="no number is known" />;
  const hasRange = answer.low !== null && answer.high !== null;
  const says = hasRange ? `gain ${percent(answer.gain)}, between ${percent(answer.low)} and ${percent(answer.high)}` : `gain ${percent(answer.gain)}`;
  const isBound = answer.certainty === 'up-to';
  return (
    <span class="bar" role="img" aria-label={says}>
      {hasRange && <i class="range" style={{ left: place(answer.low), width: `calc(${place(answer.high)} - ${place(answer.low)})` }} />}
      <i class={`gain ${isBound ? 'bound' : ''}`} style={{ width: place(answer.gain) }} />
    </span>
  );
}

/** How much faster the part would be: each place was replayed when the page was made. */
function Slider({ answer }) {
  const { curve } = answer;
  const [place, setPlace] = useState(Math.max(0, curve.findIndex(([times]) => times === 2)));
  const [times, gain, words] = curve[place];
  const most = Math.max(...curve.map((one) => one[1]), 0.01);
  const points = [[1, 0], ...curve].map(([x, y]) => [((x - 1) / (curve[curve.length - 1][0] - 1)) * 150, 34 - (Math.max(0, y) / most) * 30]);
  return (
    <p class="slider">
      <label>
        Not twice, but <b>{times}×</b> as fast or as much:{' '}
        <input
          type="range" min="0" max={curve.length - 1} step="1" value={place} onInput={(event) => setPlace(Number(event.target.value))}
          aria-valuetext={`${times} times: ${words}`}
        />
      </label>
      <output data-times={times} data-gain={gain}>{words}</output>
      <svg viewBox="0 0 154 38" width="154" height="38" role="img" aria-label={curve.map((one) => `${one[0]} times: ${one[2]}`).join('; ')}>
        <polyline points={points.map(([x, y]) => `${x + 2},${y + 1}`).join(' ')} />
        <circle cx={points[place + 1][0] + 2} cy={points[place + 1][1] + 1} r="4" />
      </svg>
    </p>
  );
}

function Answer({ report, answer, number, most, open, onPick }) {
  const boxOf = (actor) => report.graph.boxes.findIndex((box) => box.actors.includes(actor));
  const box = answer.device !== null ? boxOf(answer.device) : answer.actor !== null ? boxOf(answer.actor) : -1;
  return (
    <li class="answer" data-gain={answer.gain} data-certainty={answer.certainty}>
      <details open={open}>
        <summary>
          <span class="number">{number}</span>
          <span class="change">{answer.of} {answer.change}</span>
          <GainBar answer={answer} most={most} />
          <span class="gain-text">{answer.gain_text || 'no number'}</span>
          <span class={`certainty ${answer.certainty}`}>{answer.certainty.replace('-', ' ')}</span>
        </summary>
        <div class="rests-on">
          {answer.besides.map((text) => <p key={text}>{text}</p>)}
          {answer.evidence && <p>{answer.evidence}{answer.place && `, ${answer.place}`}{!answer.stack && '.'}</p>}
          {answer.stack > 0 && <StackLine report={report} stack={answer.stack} label="code" />}
          {answer.more.map((text) => <p key={text}>{text}</p>)}
          {answer.curve.length > 0 && <Slider answer={answer} />}
          {answer.try && <p><b>Try:</b> {answer.try}</p>}
          {answer.doubt && <p class="quiet">{answer.doubt}</p>}
          {box >= 0 && <p><button type="button" onClick={() => onPick({ kind: 'box', index: box })}>Show it in the graph</button></p>}
        </div>
      </details>
    </li>
  );
}

export function Answers({ report, setPicked }) {
  const { answers } = report;
  const most = Math.max(0.05, ...answers.list.map((answer) => answer.high ?? answer.gain ?? 0));
  const pick = (picked) => {
    setPicked(picked);
    document.getElementById('graph').scrollIntoView();
  };
  return (
    <section id="answers" aria-labelledby="answers-title">
      <h2 id="answers-title" tabindex="-1">What would help</h2>
      {answers.progress && <p>What counts: <b>{answers.progress}</b></p>}
      {answers.above.map((text) => <p key={text} class="strong">{text}</p>)}
      <ol class="answers">
        {answers.list.map((answer, index) => (
          <Answer key={index} report={report} answer={answer} number={index + 1} most={most} open={index === 0} onPick={pick} />
        ))}
      </ol>
      {answers.others && <p class="quiet">{answers.others}</p>}
      {answers.what_ifs.length > 0 && <><h3>Asked</h3><ul>{answers.what_ifs.map((text) => <li key={text}>{text}</li>)}</ul></>}
      {report.knots.map((knot, index) => (
        <div key={index} class="knot-text">
          <h3>Knot {index + 1}{knot.explains !== null && `, explains answer ${knot.explains + 1}`}: {knot.names.join(knot.names.length === 2 ? ' ⇄ ' : ', ')}{knot.names.length === 1 && ' ↺'}</h3>
          <p><b>{knot.title}.</b> {knot.evidence}</p>
          <p class="quiet">{knot.advice}</p>
        </div>
      ))}
      {report.sinks.map((sink) => (
        <div key={sink.actor} class="limit-text">
          <h3>{sink.saturated ? 'Busy all the time' : 'Sets the pace'}: {sink.name}</h3>
          <p>{sink.text}. {sink.evidence} {sink.advice}</p>
          {sink.stack > 0 && <StackLine report={report} stack={sink.stack} label="runs in" />}
        </div>
      ))}
      {report.disks.length + report.notes.length > 0 && (
        <details class="facts" open>
          <summary>CPUs, disks and the recording itself</summary>
          <ul>
            {report.notes.map((note) => <li key={note}>{note}</li>)}
            {report.disks.map((disk) => <li key={disk.name}><b>{disk.name}</b>: {disk.facts.join(' · ')}</li>)}
          </ul>
        </details>
      )}
    </section>
  );
}
