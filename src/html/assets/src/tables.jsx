// SPDX-License-Identifier: GPL-2.0-or-later
import { bytes, count, duration } from './format.js';
import { StackLine } from './stack_line.jsx';

function Table({ title, columns, rows, query }) {
  const words = query.toLowerCase();
  const fitting = words === '' ? rows : rows.filter((row) => row.name.toLowerCase().includes(words));
  if (rows.length === 0) return null;
  const body = (some) => some.map((row, index) => (
    <tr key={index}>{columns.map(([name, cell, kind], at) => (at === 0
      ? <th key={name} scope="row">{cell(row)}</th> : <td key={name} class={kind}>{cell(row)}</td>))}</tr>
  ));
  return (
    <details open={words !== '' && fitting.length > 0}>
      <summary>{title}: {fitting.length}{words !== '' && ` of ${rows.length}`}</summary>
      <div class="scroll" tabindex="0" role="group" aria-label={title}>
        <table>
          <thead><tr>{columns.map(([name, , kind]) => <th key={name} class={kind}>{name}</th>)}</tr></thead>
          <tbody>{body(fitting.slice(0, 100))}</tbody>
        </table>
      </div>
    </details>
  );
}

const time = (name, field) => [name, (row) => (row[field] > 0 ? duration(row[field]) : ''), 'number'];
const number = (name, field) => [name, (row) => (row[field] > 0 ? count(row[field]) : ''), 'number'];

export function Tables({ report, query }) {
  const { locks, files, functions } = report.tables;
  const code = ['waits in', (row) => (row.stack > 0 ? <StackLine report={report} stack={row.stack} label="" /> : ''), 'code'];
  return (
    <section id="tables" aria-labelledby="tables-title">
      <h2 id="tables-title" tabindex="-1">Locks, files, functions</h2>
      <Table title="Locks" query={query} rows={locks} columns={[
        ['lock', (row) => row.name], time('waited', 'wait_s'), number('waits', 'waits'), time('longest', 'longest_s'),
        ['held by', (row) => row.holder], code]} />
      <Table title="Files" query={query} rows={files} columns={[
        ['file', (row) => row.name], time('waited', 'wait_s'), number('waits', 'waits'), time('longest', 'longest_s'),
        number('requests', 'ios'), ['bytes', (row) => (row.bytes > 0 ? bytes(row.bytes) : ''), 'number'],
        ['calls', (row) => row.calls], ['threads', (row) => row.waiters]]} />
      <Table title="Functions" query={query} rows={functions} columns={[
        ['function', (row) => row.name], time('own time', 'self_s'), time('on CPUs', 'cpu_s'), time('disks', 'io_s'),
        time('locks', 'lock_s'), time('without a CPU', 'runnable_s'), time('other waits', 'other_s'), time('with callees', 'all_s'),
        ['at', (row) => row.place]]} />
    </section>
  );
}
