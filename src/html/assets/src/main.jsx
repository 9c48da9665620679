// SPDX-License-Identifier: GPL-2.0-or-later
// Puts the page in place of the text report. Answers and graph are there before the single waits are read.
import { render } from 'preact';

import { DiffPage } from './diff_page.jsx';
import { Page } from './page.jsx';
import { canInflate, readFar, readNear, readReport } from './payload.js';

const whenAllIsThere = () => new Promise((resolve) => {
  if (document.readyState !== 'loading') resolve();
  else addEventListener('DOMContentLoaded', () => resolve(), { once: true });
});

/** Lets the browser show what there is. */
const shown = () => new Promise((resolve) => { requestAnimationFrame(() => setTimeout(resolve, 0)); });

async function start() {
  const app = document.getElementById('app');
  if (!canInflate()) return;
  const report = await readReport();
  app.replaceChildren();
  if (report.schema === 'offwait-diff/1') {
    render(<DiffPage diff={report} />, app);
    document.documentElement.dataset.theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
    performance.mark('answers');
    performance.mark('all');
    return;
  }
  const put = (far, near) => render(<Page report={report} far={far} near={near} />, app);
  put(null, null);
  performance.mark('answers');
  await shown();
  await whenAllIsThere();
  const far = await readFar(report.timeline);
  put(far, null);
  await shown();
  put(far, await readNear(report.timeline));
  performance.mark('all');
}

/** A file that was cut off, on its way by mail for example, still shows what there is of it. */
function sayWhatIsMissing() {
  const note = document.createElement('p');
  note.className = 'warning';
  note.setAttribute('role', 'alert');
  note.textContent = 'A part of this page is missing or damaged: its file was cut off. What is shown is what can be read.';
  document.body.prepend(note);
}

start().catch(sayWhatIsMissing);
