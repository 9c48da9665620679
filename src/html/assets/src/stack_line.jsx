// SPDX-License-Identifier: GPL-2.0-or-later

const KERNEL = 1;
const SHOWN = 8;

/** `waits in   futex_do_wait ┆ pthread_mutex_lock ← f ← g`, innermost first; the rest of a long stack folds out. */
export function StackLine({ report, stack, label }) {
  const frames = report.stacks[stack].map((frame) => report.frames[frame]);
  const text = ([brief, whole], index, kind) => (
    <span key={index} class={kind === KERNEL ? 'kernel' : ''} title={whole || brief}>{brief}</span>
  );
  const joined = (some, offset) => some.map((frame, i) => {
    const index = i + offset;
    const before = index === 0 ? '' : frames[index - 1][2] === KERNEL && frame[2] !== KERNEL ? ' ┆ ' : ' ← ';
    return [before, text(frame, index, frame[2])];
  });
  return (
    <div class="stack">
      <span class="label">{label}</span>
      <span>
        {joined(frames.slice(0, SHOWN), 0)}
        {frames.length > SHOWN && (
          <details><summary>{frames.length - SHOWN} more</summary>{joined(frames.slice(SHOWN), SHOWN)}</details>
        )}
      </span>
    </div>
  );
}
