// SPDX-License-Identifier: GPL-2.0-or-later
// Draws the timeline. From afar a pixel shows the parts of its time that the thread was in each state, stacked; from near,
// where the page has all single waits, so does it, but a pixel then has one state mostly.
import { moment, shortened } from './format.js';
import { colors, pixel } from './states.js';
import { chainOf, firstEndingFrom } from './waits.js';

export const NAMES = 190; // width of the threads' names
const AXIS = 22;
const LINE = 30; // height of a line chart
const GAP = 6;
export const ROW = 15;
const LEAST_SHARE = 0.004;
const VISIBLE_SHARE = 0.06; // what takes this part of a pixel has a row of it

/** Where things are: `lines` charts above `rows` of threads. */
export function heights(lines, rows, most = 560) {
  const top = AXIS + lines * (LINE + GAP) + GAP;
  return { top, all: Math.min(Math.max(most, top + 12 * ROW), top + rows * ROW + 2) };
}

export class TimelinePicture {
  constructor(canvas, report) {
    this.canvas = canvas;
    this.report = report;
    this.timeline = report.timeline;
    this.plot = document.createElement('canvas');
  }

  /** scene: { view, rows, scroll, lines, far, near, selection, current, chain, dark, width } */
  draw(scene) {
    this.scene = scene;
    const ratio = window.devicePixelRatio || 1;
    const { top, all } = heights(scene.lines.length, scene.rows.length);
    this.top = top;
    this.width = scene.width;
    this.height = all;
    for (const [name, size] of [['width', scene.width], ['height', all]]) {
      if (this.canvas[name] !== Math.round(size * ratio)) this.canvas[name] = Math.round(size * ratio);
      this.canvas.style[name] = `${size}px`;
    }
    const c = this.canvas.getContext('2d', { alpha: false });
    this.c = c;
    const style = getComputedStyle(document.documentElement);
    this.ink = (name) => style.getPropertyValue(`--${name}`).trim();
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.fillStyle = this.ink('ground');
    c.fillRect(0, 0, this.width, this.height);
    c.font = '11px system-ui, "DejaVu Sans", sans-serif';
    c.textBaseline = 'middle';
    this.drawAxis();
    scene.lines.forEach((line, index) => this.drawLine(line, AXIS + index * (LINE + GAP)));
    this.drawRows(ratio);
    this.drawMarks();
  }

  xOf(us) {
    const [from, to] = this.scene.view;
    return NAMES + ((us - from) / (to - from)) * (this.width - NAMES);
  }

  usAt(x) {
    const [from, to] = this.scene.view;
    return from + ((x - NAMES) / (this.width - NAMES)) * (to - from);
  }

  yOf(row) {
    const place = this.scene.rows.indexOf(row);
    return place < 0 ? null : this.top + place * ROW - this.scene.scroll;
  }

  rowAt(y) {
    if (y < this.top) return -1;
    return this.scene.rows[Math.floor((y - this.top + this.scene.scroll) / ROW)] ?? -1;
  }

  drawAxis() {
    const { c } = this;
    const [from, to] = this.scene.view;
    const span = to - from;
    const rough = span / Math.max(2, (this.width - NAMES) / 110);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough);
    c.strokeStyle = this.ink('line');
    c.lineWidth = 1;
    const firstMark = Math.ceil(from / step);
    const marks = Math.min(200, Math.floor(to / step) - firstMark + 1);
    for (let mark = 0; mark < marks; ++mark) {
      const us = (firstMark + mark) * step;
      const x = Math.round(this.xOf(us)) + 0.5;
      c.beginPath();
      c.moveTo(x, AXIS - 6);
      c.lineTo(x, this.height);
      c.stroke();
      c.fillStyle = this.ink('quiet');
      const label = moment(us, step * 10);
      if (x + c.measureText(label).width + 3 < this.width) c.fillText(label, x + 3, 8);
    }
    c.fillStyle = this.ink('accent');
    if (this.timeline.whole.length === 0) return;
    for (const [begin, end] of this.timeline.whole) {
      const x = Math.max(NAMES, this.xOf(begin));
      const width = Math.min(this.width, this.xOf(end)) - x;
      if (width > 0) c.fillRect(x, AXIS - 4, Math.max(1, width), 4);
    }
  }

  /** line: { name, values of equal parts of the recording, most, unit } */
  drawLine(line, y) {
    const { c } = this;
    const [from, to] = this.scene.view;
    const { length } = line.values;
    const partOf = (us) => Math.min(length - 1, Math.max(0, Math.floor((us / this.timeline.span_us) * length)));
    c.fillStyle = this.ink('quiet');
    c.fillText(shortened(line.name, 30), 6, y + LINE / 2 - 6);
    c.fillText(`0 to ${line.most}${line.unit}`, 6, y + LINE / 2 + 7);
    c.fillStyle = this.ink(line.ink);
    for (let x = NAMES; x < this.width; ++x) {
      const value = line.values[partOf(from + ((x - NAMES) / (this.width - NAMES)) * (to - from))];
      const height = Math.min(1, value / line.most) * LINE;
      if (height > 0) c.fillRect(x, y + LINE - height, 1, height);
    }
    c.fillStyle = this.ink('line');
    c.fillRect(NAMES, y + LINE, this.width - NAMES, 1);
  }

  drawRows(ratio) {
    const { c, scene } = this;
    const plotWidth = Math.max(1, Math.floor((this.width - NAMES) * ratio));
    const plotHeight = Math.max(1, Math.floor((this.height - this.top) * ratio));
    const image = new ImageData(plotWidth, plotHeight);
    this.pixels = new Uint32Array(image.data.buffer);
    const palette = colors(scene.dark);
    this.palette = this.timeline.states.map((state) => pixel(palette[state] ?? '#888888'));
    this.shares = new Float32Array(plotWidth * this.timeline.states.length);
    const firstRow = Math.max(0, Math.floor(scene.scroll / ROW));
    const lastRow = Math.min(scene.rows.length, Math.ceil((scene.scroll + this.height - this.top) / ROW));
    const parts = this.partsOfView(plotWidth);
    for (let place = firstRow; place < lastRow; ++place) {
      const row = scene.rows[place];
      const y = place * ROW - scene.scroll;
      this.shares.fill(0);
      for (const part of parts) {
        if (part.near) this.addNear(row, part, plotWidth);
        else if (scene.far) this.addFar(row, part, plotWidth);
        if (!part.near && scene.near && !part.afar) this.addLong(row, part, plotWidth);
      }
      this.stackRow(Math.round((y + 1) * ratio), Math.round((ROW - 3) * ratio), plotWidth, plotHeight);
    }
    this.plot.width = plotWidth;
    this.plot.height = plotHeight;
    this.plot.getContext('2d').putImageData(image, 0, 0);
    c.save();
    c.beginPath();
    c.rect(0, this.top, this.width, this.height - this.top);
    c.clip();
    c.drawImage(this.plot, NAMES, this.top, plotWidth / ratio, plotHeight / ratio);
    for (let place = firstRow; place < lastRow; ++place) {
      const thread = this.timeline.rows[scene.rows[place]];
      c.fillStyle = this.ink(thread.outside ? 'quiet' : 'ink');
      c.fillText(shortened(`${thread.name || 'tid'}/${thread.tid}`, 28), 6, this.top + place * ROW - scene.scroll + ROW / 2);
    }
    c.restore();
  }

  /** The view cut where the page has single waits and where it has not, as pixels of the plot. */
  partsOfView(plotWidth) {
    const { view: [from, to], near } = this.scene;
    const { whole, is_whole: isWhole, bins, span_us: span } = this.timeline;
    const isAfar = (to - from) / plotWidth >= span / bins;
    if (!near || isAfar) return [{ from: 0, to: plotWidth, near: false, afar: true }];
    if (isWhole) return [{ from: 0, to: plotWidth, near: true }];
    const parts = [];
    const pixelOf = (us) => Math.min(plotWidth, Math.max(0, Math.round(((us - from) / (to - from)) * plotWidth)));
    let at = 0;
    for (const [begin, end] of whole) {
      const [left, right] = [pixelOf(begin), pixelOf(end)];
      if (right <= left) continue;
      if (left > at) parts.push({ from: at, to: left, near: false });
      parts.push({ from: left, to: right, near: true });
      at = right;
    }
    if (at < plotWidth) parts.push({ from: at, to: plotWidth, near: false });
    return parts;
  }

  addFar(row, part, plotWidth) {
    const { far, view: [from, to] } = this.scene;
    const states = this.timeline.states.length;
    const scale = far.bins / this.timeline.span_us;
    for (let state = 0; state < states; ++state) {
      const bytes = far.part(row, state);
      if (!bytes) continue;
      for (let x = part.from; x < part.to; ++x) {
        const begin = Math.floor((from + ((to - from) * x) / plotWidth) * scale);
        const end = Math.min(far.bins, Math.max(begin + 1, Math.floor((from + ((to - from) * (x + 1)) / plotWidth) * scale)));
        let sum = 0;
        for (let bin = begin; bin < end; ++bin) sum += bytes[bin];
        if (sum > 0) this.shares[x * states + state] = sum / 255 / (end - begin);
      }
    }
  }

  addNear(row, part, plotWidth) {
    const { near, view: [from, to] } = this.scene;
    const states = this.timeline.states.length;
    const scale = plotWidth / (to - from);
    const thread = this.timeline.rows[row];
    const partFrom = Math.max(from + part.from / scale, thread.from_us);
    const partTo = Math.min(from + part.to / scale, thread.to_us);
    const put = (begin, end, state) => {
      let at = (Math.max(begin, partFrom) - from) * scale;
      const stop = (Math.min(end, partTo) - from) * scale;
      for (let x = Math.floor(at); at < stop && x < plotWidth; ++x) {
        const next = Math.min(stop, x + 1);
        this.shares[x * states + state] += next - at;
        at = next;
      }
    };
    let index = firstEndingFrom(near, row, partFrom);
    let ran = index > near.first[row] ? near.end[index - 1] : thread.from_us;
    for (; index < near.first[row + 1] && near.begin[index] < partTo; ++index) {
      put(ran, near.begin[index], 0);
      put(near.begin[index], near.wake[index], near.state[index]);
      put(near.wake[index], near.end[index], 1);
      ran = near.end[index];
    }
    put(ran, partTo, 0);
  }

  /** Waits that are so long that the page has them: they take pixels that are theirs alone. */
  addLong(row, part, plotWidth) {
    const { near, view: [from, to] } = this.scene;
    const states = this.timeline.states.length;
    const scale = plotWidth / (to - from);
    const put = (begin, end, state) => {
      const left = Math.max(part.from, Math.ceil((begin - from) * scale));
      const right = Math.min(part.to, Math.floor((end - from) * scale));
      for (let x = left; x < right; ++x) {
        this.shares.fill(0, x * states, (x + 1) * states);
        this.shares[x * states + state] = 1;
      }
    };
    const last = from + part.to / scale;
    for (let index = firstEndingFrom(near, row, from + part.from / scale); index < near.first[row + 1] && near.begin[index] < last; ++index) {
      put(near.begin[index], near.wake[index], near.state[index]);
      put(near.wake[index], near.end[index], 1);
    }
  }

  /** Running at the bottom, then ready to run, then waits. */
  stackRow(y, height, plotWidth, plotHeight) {
    const states = this.timeline.states.length;
    for (let x = 0; x < plotWidth; ++x) {
      let share = 0;
      let bottom = height;
      for (let state = 0; state < states; ++state) {
        const part = this.shares[x * states + state];
        if (part < LEAST_SHARE) continue;
        share += part;
        let top = Math.max(0, Math.round(height * (1 - share)));
        if (top >= bottom && part > VISIBLE_SHARE && bottom > 0) top = bottom - 1;
        for (let line = y + top; line < y + bottom; ++line)
          if (line >= 0 && line < plotHeight) this.pixels[line * plotWidth + x] = this.palette[state];
        bottom = Math.min(bottom, top);
      }
    }
  }

  drawMarks() {
    const { c, scene } = this;
    c.save();
    c.beginPath();
    c.rect(NAMES, AXIS, this.width - NAMES, this.height);
    c.clip();
    if (scene.selection) {
      const [left, right] = scene.selection.map((us) => this.xOf(us));
      c.globalAlpha = 0.16;
      c.fillStyle = this.ink('accent');
      c.fillRect(left, AXIS, right - left, this.height);
      c.globalAlpha = 1;
      c.fillRect(left, AXIS, 1, this.height);
      c.fillRect(right, AXIS, 1, this.height);
    }
    if (scene.near && scene.current && scene.current.index >= 0) {
      const links = scene.chain ? chainOf(scene.near, scene.current.row, scene.current.index) : [scene.current];
      links.forEach((link, place) => this.drawLink(link, place === 0));
    }
    c.restore();
  }

  /** A frame around a wait, and an arrow from the thread that ended it. */
  drawLink({ row, index }, isChosen) {
    const { c, scene: { near } } = this;
    const y = this.yOf(row);
    if (y === null) return;
    const color = this.ink(isChosen ? 'ink' : 'knot');
    const left = this.xOf(near.begin[index]);
    const right = this.xOf(near.end[index]);
    c.strokeStyle = color;
    c.fillStyle = color;
    c.lineWidth = 1.5;
    c.strokeRect(left - 1, y - 0.5, Math.max(3, right - left) + 2, ROW - 1);
    const waker = near.waker[index];
    if (waker === -1 || near.open[index]) return;
    const from = waker >= 0 ? this.yOf(waker) : this.top - 4;
    if (from === null) return;
    const x = this.xOf(near.wake[index]);
    const start = waker >= 0 ? from + ROW / 2 : from;
    const down = y > start;
    const tip = down ? y : y + ROW - 2;
    c.beginPath();
    c.moveTo(x, start);
    c.lineTo(x, tip);
    c.stroke();
    c.beginPath();
    c.moveTo(x, tip);
    c.lineTo(x - 4, tip + (down ? -7 : 7));
    c.lineTo(x + 4, tip + (down ? -7 : 7));
    c.fill();
  }
}
