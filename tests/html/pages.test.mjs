// SPDX-License-Identifier: GPL-2.0-or-later
// Facts about pages, in a browser: they open without a fault and without asking for anything, have the numbers of the JSON
// report, can be read and used by all, and do nothing that a name tells them.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import puppeteer from 'puppeteer-core';

const { PAGES, NAMES, BROWSER, KIND } = process.env;
const names = NAMES.split(' ');
const isChrome = KIND === 'chrome';
const pathOf = (name) => join(PAGES, `${name}.html`);
const jsonOf = (name) => JSON.parse(readFileSync(join(PAGES, `${name}.json`), 'utf8'));
let browser;

before(async () => {
  browser = await puppeteer.launch({
    browser: KIND, executablePath: BROWSER, headless: true, args: isChrome ? ['--no-sandbox', '--disable-gpu'] : [],
  });
});
after(() => browser?.close());

/** Opens it and waits until all of it is there; `faults` has what the page complains about. */
async function open(name, { hash = '', prepare = async () => {}, whole = true, scheme = 'light' } = {}) {
  const page = await browser.newPage();
  page.faults = [];
  page.on('pageerror', (error) => page.faults.push(error.message));
  page.on('console', (message) => page.faults.push(message.text()));
  page.on('dialog', (dialog) => { page.faults.push('a dialog'); dialog.dismiss(); });
  if (isChrome) {
    page.on('request', (request) => { if (!/^(file|data|blob):/.test(request.url())) page.faults.push(request.url()); });
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  }
  await page.setViewport({ width: 1400, height: 1000 });
  await prepare(page);
  await page.goto(`file://${pathOf(name)}${hash}`);
  if (whole) await page.waitForFunction(() => performance.getEntriesByName('all').length > 0, { timeout: 30000 });
  return page;
}

const textOf = (page, selector) => page.$eval(selector, (element) => element.innerText);
const near = (a, b, part = 0.01, most = 2e-5) => Math.abs(a - b) <= Math.max(most, part * Math.abs(b));

for (const name of names) {
  test(`${name} opens without a fault and asks for nothing`, async () => {
    const page = await open(name);
    assert.deepEqual(page.faults, []);
    assert.equal((await page.$$('#answers, #graph, #when, #code, #tables')).length, 5);
    await page.close();
  });

  test(`${name} has the numbers of the JSON report`, async () => {
    const page = await open(name);
    const report = jsonOf(name);
    const arrows = await page.$$eval('g.arrow', (all) => all.map((one) => ({ ...one.dataset })));
    for (const arrow of arrows) {
      const edges = arrow.edges.split(' ').map((id) => report.edges[Number(id)]);
      if (edges.length > 1) continue; // its seconds are a mean
      assert.ok(near(Number(arrow.weight), edges[0].weight_s), `${arrow.weight} is ${edges[0].weight_s}`);
      assert.ok(near(Number(arrow.wait), edges[0].wait_s), `${arrow.wait} is ${edges[0].wait_s}`);
    }
    const gains = await page.$$eval('li.answer', (all) => all.map((one) => ({ ...one.dataset })));
    assert.equal(gains.length, report.screen.answers.length);
    gains.forEach((gain, index) => {
      const answer = report.answers[report.screen.answers[index].answer];
      assert.equal(gain.certainty, answer.certainty);
      const isBound = ['up-to', 'approximate'].includes(answer.certainty);
      if (answer.certainty === 'rough') assert.equal(gain.gain, undefined);
      else assert.ok(near(Number(gain.gain), isBound ? answer.high ?? answer.gain : answer.gain, 0, 1e-6), `${gain.gain} of ${answer.gain}`);
    });
    await page.close();
  });

  test(`${name}: the timeline adds up to the actors' times`, async () => {
    const page = await open(name);
    const report = jsonOf(name);
    const sums = await page.$$eval('.sums tr[data-actor]', (all) => all.map((row) => ({
      actor: Number(row.dataset.actor),
      states: [...row.querySelectorAll('td')].map((cell) => [cell.dataset.state, Number(cell.dataset.seconds)]),
    })));
    assert.ok(sums.length > 0);
    for (const { actor, states } of sums) {
      const of = report.actors[actor];
      if (of.outside) continue;
      const time = Object.fromEntries(states);
      const blocked = states.filter(([state]) => !['running', 'runnable', 'unknown'].includes(state)).reduce((sum, [, s]) => sum + s, 0);
      assert.ok(near(time.running ?? 0, of.running_s), `${of.name} ran ${of.running_s}, not ${time.running}`);
      assert.ok(near(time.runnable ?? 0, of.runnable_s), `${of.name} was runnable ${of.runnable_s}, not ${time.runnable}`);
      assert.ok(near(blocked, of.blocked_s), `${of.name} waited ${of.blocked_s}, not ${blocked}`);
    }
    await page.close();
  });
}

test('a comparison has the amounts of its JSON, and greys what is within the spread', async () => {
  const page = await open('diff');
  assert.deepEqual(page.faults, []);
  const diff = jsonOf('diff');
  const rows = (part) => page.$$eval(`#${part} tbody tr`, (all) => all.map((row) => [row.dataset.change, Number(row.dataset.before), Number(row.dataset.after)]));
  for (const [part, amount] of [['times', 'time'], ['edges', 'weight'], ['locks', 'wait'], ['functions', 'time'], ['knots', 'weight']])
    assert.deepEqual(await rows(part), diff[part].map((row) => [row[amount].change, row[amount].before, row[amount].after]), part);
  assert.equal((await page.$$('tr.noise')).length, [...diff.times, ...diff.functions].filter((row) => row.time.change === 'none').length);
  await page.click('.controls input');
  assert.equal((await page.$$('tr.noise')).length, 0);
  await page.close();
});

test('the graph has at most 15 boxes at first, and the same places each time', async () => {
  const places = async () => {
    const page = await open('figure1');
    const all = await page.$$eval('g.box rect.shape', (boxes) => boxes.map((box) => [box.getAttribute('x'), box.getAttribute('y')]));
    await page.close();
    return all;
  };
  const first = await places();
  assert.ok(first.length > 0 && first.length <= 15);
  assert.deepEqual(await places(), first);
});

test('choosing an arrow shows its code, its longest waits, and these are one click away', async () => {
  const page = await open('figure1');
  const waits = await page.$$eval('g.arrow', (all) => all.findIndex((arrow) => /^A waits for B/.test(arrow.getAttribute('aria-label'))));
  assert.notEqual(await textOf(page, '#graph .details h3'), 'A → B');
  await page.$$eval('g.arrow', (all, index) => all[index].focus(), waits);
  await page.keyboard.press('Enter');
  const details = await textOf(page, '#graph .details');
  assert.match(details, /^A → B/);
  assert.match(details, /Weight/);
  assert.match(details, /Longest waits/);
  assert.match(details, /waits in/);
  await page.click('#graph .longest button');
  await page.waitForFunction(() => location.hash.includes('wait='));
  assert.match(await textOf(page, '.wait-told'), /ended it/);
  assert.deepEqual(page.faults, []);
  await page.close();
});

test('the longest stall, what it was for and what ended it are two clicks away', async () => {
  const page = await open('lock-convoy');
  await page.click('.stalls summary');
  await page.click('.stalls button');
  await page.waitForFunction(() => location.hash.includes('wait='));
  assert.match(await textOf(page, '.wait-told'), /futex, .* ended it/s);
  await page.close();
});

test('an answer can be asked for other factors with keys, and starts at twice as fast', async () => {
  const page = await open('functions');
  const slider = await page.$('.slider input');
  assert.ok(slider, 'an answer of this trace has a slider');
  const told = () => page.$eval('.slider output', (output) => [Number(output.dataset.times), Number(output.dataset.gain)]);
  const [times, gain] = await told();
  assert.equal(times, 2);
  await slider.focus();
  await page.keyboard.press('ArrowRight');
  const [more, gained] = await told();
  assert.equal(more, 3);
  assert.ok(gained >= gain);
  await page.close();
});

test('the timeline is used with keys alone, and the address restores what is shown', async () => {
  const page = await open('figure1');
  await page.focus('#timeline');
  for (const key of ['ArrowDown', 'w', 'w', 'ArrowRight', 'ArrowRight', 'd', 'c', 'c']) await page.keyboard.press(key);
  await page.waitForFunction(() => location.hash.includes('wait=') && location.hash.includes('t='));
  await new Promise((resolve) => setTimeout(resolve, 300));
  const hash = await page.evaluate(() => location.hash);
  const chosen = await textOf(page, '.wait-told');
  assert.match(chosen, /\d/);
  const again = await open('figure1', { hash });
  await again.waitForFunction(() => document.querySelector('.wait-told').innerText.length > 0);
  assert.equal(await textOf(again, '.wait-told'), chosen);
  assert.equal(await textOf(again, '#when > p.quiet'), await textOf(page, '#when > p.quiet'));
  await page.close();
  await again.close();
});

for (const hash of ['t=9e99--1&arrow=77&box=-3&wait=a-b&arrows=nan&code=%3Cb%3E&q=%3Cimg%20src=x%3E&theme=x',
  't=0.1-0.10000000000000002&select=0.1-0.10000000000000002', 'wait=0.6-5', 'wait=0-9e99', 't=-5-Infinity&wait=0-NaN']) {
  test(`an address that is nonsense does nothing: ${hash}`, async () => {
    const page = await open('figure1', { hash: `#${hash}` });
    assert.deepEqual(page.faults, []);
    assert.equal((await page.$$('img')).length, 0);
    assert.equal((await page.$$('#timeline')).length, 1);
    await page.close();
  });
}

for (const [part, left] of [['near', '#answers'], ['far', '#answers'], ['report', 'pre']]) {
  test(`a page that was cut off in ${part} shows what there is, and says so`, async () => {
    const source = readFileSync(pathOf('figure1'), 'utf8');
    writeFileSync(pathOf('cut'), source.slice(0, source.indexOf(`id="${part}">`) + part.length + 25));
    const page = await open('cut', { whole: false });
    if (part !== 'report') await page.waitForSelector('[role=alert]');
    else await new Promise((resolve) => setTimeout(resolve, 300));
    // Firefox reports the end of a stream that the page has seen to.
    assert.deepEqual(page.faults.filter((fault) => !/ReadableStream/.test(fault)), []);
    assert.equal((await page.$$(left)).length, 1);
    await page.close();
  });
}

test('hostile names are text', async () => {
  const page = await open('hostile-names');
  assert.deepEqual(page.faults, []);
  assert.equal((await page.$$('img, b[onmouseover], iframe, object, embed, form, base')).length, 0);
  assert.equal((await page.$$('script')).length, 4);
  const shown = await textOf(page, 'body');
  assert.match(shown, /<script>/);
  assert.ok(!/[\u202a-\u202e\u2066-\u2069\u200b-\u200f]/u.test(shown));
  await page.close();
});

test('what was put into the page does not run and is not fetched', { skip: !isChrome }, async () => {
  const page = await open('figure1');
  await page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'window.ran = true';
    document.body.append(script);
    const image = document.createElement('img');
    image.src = 'http://127.0.0.1:1/x.png';
    document.body.append(image);
    const button = document.createElement('button');
    button.setAttribute('onclick', 'window.ran = true');
    document.body.append(button);
    button.click();
  });
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.equal(await page.evaluate(() => window.ran), undefined);
  assert.ok(page.faults.some((fault) => /Content Security Policy/.test(fault)));
  await page.close();
});

for (const scheme of ['light', 'dark']) {
  for (const name of ['diff', 'figure1', 'functions', 'hostile-names', 'processes']) {
    test(`${name} has no fault of accessibility, ${scheme}`, async () => {
      const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
      // Only so that axe may be put into the page.
      const page = await open(name, {
        scheme, hash: `#theme=${scheme}`, prepare: async (one) => { if (isChrome) await one.setBypassCSP(true); },
      });
      await page.$$eval('details', (all) => all.forEach((one) => { one.open = true; }));
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
      assert.deepEqual(violations.map((one) => [one.id, one.nodes.map((node) => node.html.slice(0, 160))]), []);
      await page.close();
    });
  }
}

test('the page is dark where the reader wants that', { skip: !isChrome }, async () => {
  const page = await open('figure1', { scheme: 'dark' });
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
  await page.close();
});

test('a printed page has answers, graph and timeline, and no buttons', { skip: !isChrome }, async () => {
  const page = await open('figure1');
  await page.emulateMediaType('print');
  const seen = (selector) => page.$eval(selector, (element) => element.getClientRects().length > 0);
  assert.equal(await seen('nav'), false);
  assert.equal(await seen('.controls'), false);
  assert.equal(await seen('#answers'), true);
  assert.equal(await seen('#graph svg'), true);
  assert.equal(await seen('#timeline'), true);
  const pdf = Buffer.from(await page.pdf({ format: 'A4', landscape: true }));
  assert.ok(pdf.subarray(0, 5).equals(Buffer.from('%PDF-')));
  await page.close();
});

test('without DecompressionStream the text report stays', async () => {
  const page = await open('figure1', {
    whole: false, prepare: (one) => one.evaluateOnNewDocument(() => { delete window.DecompressionStream; }),
  });
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.match(await textOf(page, 'pre'), /KNOT 1/);
  assert.deepEqual(page.faults, []);
  await page.close();
});

test('without a script the text report is there', { skip: !isChrome }, async () => {
  const page = await open('figure1', { whole: false, prepare: (one) => one.setJavaScriptEnabled(false) });
  assert.match(await textOf(page, 'pre'), /KNOT 1/);
  await page.close();
});

test('a copy that the browser saved starts anew', async () => {
  const page = await open('figure1', { hash: '#t=0.05-0.1' });
  writeFileSync(pathOf('saved'), await page.content());
  const saved = await open('saved');
  // Styles that the script had set on elements were saved as attributes, which the page forbids.
  assert.deepEqual(saved.faults.filter((fault) => !/inline style/.test(fault)), []);
  assert.equal((await saved.$$('#graph')).length, 1);
  assert.equal(await textOf(saved, '#answers'), await textOf(page, '#answers'));
  await page.close();
  await saved.close();
});
