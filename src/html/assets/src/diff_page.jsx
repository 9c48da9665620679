// SPDX-License-Identifier: GPL-2.0-or-later
// What changed between recordings before and after: as the JSON of a comparison has it.
import { useState } from 'preact/hooks';

import { count, duration, percent } from './format.js';

/** Two bars under each other, and how much of the change is noise. */
function Bars({ amount, most }) {
  const wide = (value) => `${(100 * Math.max(0, value)) / most}%`;
  return (
    <span class="two-bars" aria-hidden="true">
      <i class="was" style={{ width: wide(amount.before) }} />
      <i class={`is ${amount.change}`} style={{ width: wide(amount.after) }} />
    </span>
  );
}

function Row({ name, more, amount, most, format }) {
  const part = amount.before > 0 ? `${amount.difference >= 0 ? '+' : ''}${percent(amount.difference / amount.before)}` : 'new';
  return (
    <tr class={amount.change === 'none' ? 'noise' : ''} data-change={amount.change} data-before={amount.before} data-after={amount.after}>
      <th scope="row">{name}{more && <small>{more}</small>}</th>
      <td class="number">{format(amount.before)}</td>
      <td class="number">{format(amount.after)}</td>
      <td class="number"><b>{amount.difference >= 0 ? '+' : '−'}{format(Math.abs(amount.difference))}</b> {part}</td>
      <td class="number">{amount.spread > 0 && `±${format(amount.spread)}`}</td>
      <td class="bars"><Bars amount={amount} most={most} /></td>
    </tr>
  );
}

function Changes({ id, title, rows, format = duration, noise }) {
  const shown = noise ? rows : rows.filter((row) => row.amount.change !== 'none');
  if (rows.length === 0) return null;
  const most = Math.max(...rows.flatMap(({ amount }) => [amount.before, amount.after]), 1e-12);
  return (
    <section id={id} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{title}</h2>
      {shown.length < rows.length && <p class="quiet">{rows.length - shown.length} lie within the spread.</p>}
      {shown.length > 0 && (
        <div class="scroll" tabindex="0" role="group" aria-label={title}>
          <table class="changes">
            <thead><tr><th>what</th><th class="number">before</th><th class="number">after</th><th class="number">change</th><th class="number">spread</th><th>before, and after below it</th></tr></thead>
            <tbody>{shown.map((row, index) => <Row key={index} {...row} most={most} format={format} />)}</tbody>
          </table>
        </div>
      )}
    </section>
  );
}

const actorName = (actor) => (actor.kind === 'thread' ? actor.name : `${actor.kind} ${actor.name}`.trim());
const times = { cpu: 'on CPUs', io: 'for disks', lock: 'for locks', runnable: 'without a CPU', other: 'in other waits' };

function Side({ name, side }) {
  return (
    <div class="side">
      <h2>{name}</h2>
      <ul>
        {side.recordings.map((one, index) => (
          <li key={index}>
            {one.file}: {one.target}, {one.window_s.toFixed(1)} s, {count(one.waits)} waits{one.units_per_s > 0 && `, ${count(one.units_per_s)}/s`}
            {one.answer && <>; first answer: {one.answer.change}{one.answer.certainty !== 'rough' && ` +${percent(one.answer.gain)}`} [{one.answer.certainty.replace('-', ' ')}]</>}
          </li>
        ))}
      </ul>
    </div>
  );
}

export function DiffPage({ diff }) {
  const [noise, setNoise] = useState(true);
  const per = ` per ${diff.unit.per}`;
  const rowsOf = (rows, name, amount, more = () => '') => rows.map((row) => ({ name: name(row), amount: amount(row), more: more(row) }));
  return (
    <>
      <header>
        <h1><b>offwait</b> before and after</h1>
      </header>
      <main>
        <p class="strong">{diff.headline}</p>
        {diff.caveats.map((caveat, index) => <p key={index} class="warning">{caveat}</p>)}
        <div class="sides"><Side name="Before" side={diff.before} /><Side name="After" side={diff.after} /></div>
        <p class="controls"><label><input type="checkbox" checked={noise} onChange={() => setNoise(!noise)} /> also what lies within the spread of the recordings, in grey</label></p>
        {diff.throughput && (
          <Changes
            id="throughput" title="Progress per second" noise={noise} format={(value) => value.toPrecision(3)}
            rows={[{ name: `${diff.unit.per}s`, amount: diff.throughput }]}
          />
        )}
        <Changes id="times" title={`Time of the threads that count${per}`} noise={noise} rows={rowsOf(diff.times, (row) => times[row.kind] ?? row.kind, (row) => row.time)} />
        <Changes id="edges" title={`Who waits for whom: weight${per}`} noise={noise} rows={rowsOf(diff.edges, (row) => `${actorName(row.from)} → ${actorName(row.to)}`, (row) => row.weight)} />
        <Changes id="locks" title={`Locks: time waited${per}`} noise={noise} rows={rowsOf(diff.locks, (row) => row.name, (row) => row.wait, (row) => row.waiters.join(', '))} />
        <Changes id="functions" title={`Functions: own time${per}`} noise={noise} rows={rowsOf(diff.functions, (row) => row.function, (row) => row.time, (row) => row.callers.map((caller) => ` ← ${caller}`).join(''))} />
        <Changes id="knots" title={`Knots: weight${per}`} noise={noise} rows={rowsOf(diff.knots, (row) => row.members.map(actorName).join(', '), (row) => row.weight)} />
      </main>
    </>
  );
}
