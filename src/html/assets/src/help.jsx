// SPDX-License-Identifier: GPL-2.0-or-later
import { useEffect, useRef } from 'preact/hooks';

const KEYS = [
  ['/', 'search threads, functions, locks and files'],
  ['Tab, Enter', 'go through answers, boxes and arrows, and choose one'],
  ['W S', 'in the timeline: zoom in and out'],
  ['A D', 'in the timeline: earlier and later'],
  ['0', 'in the timeline: the whole recording'],
  ['↑ ↓', 'in the timeline: the thread above or below'],
  ['← →', 'in the timeline: the wait before or after'],
  ['Enter', 'in the timeline: what the waker of the chosen wait waited for before'],
  ['C', 'in the timeline: show the chain of wakers'],
  ['Esc', 'choose nothing'],
];

export function Help({ close }) {
  const dialog = useRef();
  useEffect(() => {
    dialog.current.showModal();
  }, []);
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="help-title">
      <h2 id="help-title">Keys</h2>
      <dl>{KEYS.map(([key, what]) => <div key={key}><dt>{key}</dt><dd>{what}</dd></div>)}</dl>
      <p>The address of this page says what is shown: copy it to show the same to others.</p>
      <button type="button" onClick={() => dialog.current.close()}>Close</button>
    </dialog>
  );
}
