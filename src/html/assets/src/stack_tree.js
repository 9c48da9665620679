// SPDX-License-Identifier: GPL-2.0-or-later
// Stacks added up into a tree, the outermost function first.

const node = (name, kind) => ({ name, kind, value: 0, self: 0, before: 0, children: [], byName: new Map() });

function add(root, path, value) {
  let at = root;
  root.value += value;
  for (const [name, kind] of path) {
    let child = at.byName.get(name);
    if (!child) {
      child = node(name, kind);
      at.byName.set(name, child);
      at.children.push(child);
    }
    child.value += value;
    at = child;
  }
  at.self += value;
}

/** The frames of a stack, outermost first, as [name, kind]. */
function framesOf(report, stack) {
  const frames = report.stacks[stack];
  if (frames.length === 0) return [['[no stack]', 2]];
  return [...frames].reverse().map((frame) => [report.frames[frame][0], report.frames[frame][2]]);
}

export const THREAD = 3;
export const WAKER = 4;

function finish(root) {
  const sort = (at) => {
    at.children.sort((a, b) => b.value - a.value);
    at.children.forEach(sort);
  };
  sort(root);
  return root;
}

/** mode: weight, wait or cpu. withWakers: below each wait, where it was ended. all: also what holds nothing up. */
export function treeOfReport(report, mode, withWakers, all) {
  const root = node('all', THREAD);
  const name = (actor) => [report.actors[actor].name, THREAD];
  if (mode === 'cpu') {
    for (const [actor, stack, samples] of report.samples) add(root, [name(actor), ...framesOf(report, stack)], samples);
    return finish(root);
  }
  for (const [actor, stack, waker, wakerStack, weight, wait, holdsUp] of report.stack_sums) {
    if (!all && !holdsUp) continue;
    const path = [name(actor), ...framesOf(report, stack)];
    if (withWakers) {
      path.push([`ended by ${report.actors[waker].name}`, WAKER]);
      if (wakerStack > 0) path.push(...framesOf(report, wakerStack).reverse());
    }
    add(root, path, mode === 'weight' ? weight : wait);
  }
  return finish(root);
}

/** Time waited in a part of the recording, of the waits that the page has. all: also what holds nothing up. */
export function treeOfPart(report, waits, from, to, all) {
  const root = node('all', THREAD);
  const { rows, others, states } = report.timeline;
  const held = new Set(report.stack_sums.filter((sum) => sum[6]).map((sum) => `${sum[0]}>${sum[2]}`));
  const counts = (row, waker) => all || (waker !== -1 && held.has(`${row.actor}>${waker >= 0 ? rows[waker].actor : others[-2 - waker]}`));
  const unknown = states.length - 1;
  const sums = new Map();
  report.timeline.rows.forEach((row, index) => {
    if (row.outside) return;
    for (let i = waits.first[index]; i < waits.first[index + 1]; ++i) {
      if (waits.state[i] < 2 || waits.state[i] === unknown || waits.begin[i] >= to || waits.wake[i] <= from || !counts(row, waits.waker[i])) continue;
      const key = row.actor * 0x1000000 + waits.stack[i];
      sums.set(key, (sums.get(key) ?? 0) + (Math.min(to, waits.wake[i]) - Math.max(from, waits.begin[i])) / 1e6);
    }
  });
  for (const [key, value] of sums) {
    const actor = Math.floor(key / 0x1000000);
    add(root, [[report.actors[actor].name, THREAD], ...framesOf(report, key % 0x1000000)], value);
  }
  return finish(root);
}

/** Marks in each node which part of `before` it was: node.before, of before.value. */
export function compare(tree, before) {
  const mark = (at, was) => {
    at.before = was ? was.value / before.value : 0;
    at.children.forEach((child) => mark(child, was?.byName.get(child.name)));
  };
  mark(tree, before);
  return tree;
}

/** [name, own, with callees] of the functions that take most, each counted once in a stack. */
export function functionsOf(tree, most = 40) {
  const sums = new Map();
  const visit = (at, above) => {
    const isFunction = at.kind !== THREAD && at.kind !== WAKER;
    if (isFunction) {
      const sum = sums.get(at.name) ?? [at.name, 0, 0];
      sum[1] += at.self;
      if (!above.has(at.name)) sum[2] += at.value;
      sums.set(at.name, sum);
    }
    const below = isFunction && !above.has(at.name) ? new Set(above).add(at.name) : above;
    at.children.forEach((child) => visit(child, below));
  };
  visit(tree, new Set());
  return [...sums.values()].sort((a, b) => b[1] - a[1] || b[2] - a[2]).slice(0, most);
}
