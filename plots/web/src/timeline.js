/* SPDX-License-Identifier: MIT */
/*
 * A timeline of slices in lanes: zoom and move by W S A D, arrows, wheel with Ctrl and dragging;
 * arrow keys or a click tell about a slice, with what started it and what it started; a search dims
 * what does not match. Slices are drawn on a canvas (timeline_rows.js), names and axis stand over it.
 */
import { BlocksView, nameWithin } from './blocks_view.js';
import { button, cleanText, el, fill, nameOf, shortText, svg } from './dom.js';
import { drawRow, sizedContext, sliceAt, sliceBeside } from './timeline_rows.js';
import { nameAt } from './trace_columns.js';
import { timeText } from './words.js';
import { multiples, tickStep, unitFor } from './axis.js';

const ROW = 20, HEAD = 24, LANE_GAP = 8, NAME_WIDTH = 168, REACH = 4, ARROWS_MOST = 64;
const HUES = ['#9ecae6', '#fdc49a', '#98d8bd', '#e6bcd3', '#cfd4da', '#f0e0a0', '#b8c6f0', '#d3e3a9'];
const INK = '#14171a', SHORT_TICK = 6;

/* The same name has the same colour, whatever else is there. */
function hueOf(name) {
  let hash = 0;
  for (const character of name)
    hash = (hash * 31 + character.codePointAt(0)) % 1000003;
  return { fill: HUES[hash % HUES.length], ink: INK };
}

function timeOf(us) {
  return timeText(us * 1e3);
}

class Timeline extends BlocksView {
  constructor(trace, name) {
    super({ kind: 'timeline', search: 'Search slices',
      label: `Timeline of ${shortText(name, 60)}: W and S zoom, A and D move, arrows go from slice to slice`,
      hint: `Click a slice, or go from one to the next by the arrow keys. ${trace.note || ''}`,
      buttons: [button('Zoom in (W)', () => this.zoom(0.5)), button('Zoom out (S)', () => this.zoom(2)),
        button('Earlier (A)', () => this.move(-0.3)), button('Later (D)', () => this.move(0.3)),
        button('All', () => this.reset())] });
    this.trace = trace;
    this.chosen = -1;
    [this.from, this.to] = trace.window || [trace.from, Math.max(trace.to, trace.from + 1e-3)];
    this.canvas = el('canvas', { class: 'timeline-slices', 'aria-hidden': 'true' });
    this.svg.before(this.canvas);
    this.tones = [];
    this.names = new Map();
    this.svg.addEventListener('wheel', (event) => this.onWheel(event), { passive: false });
    this.svg.addEventListener('pointerdown', (event) => this.onDown(event));
    this.svg.addEventListener('pointermove', (event) => this.onHover(event));
    this.svg.addEventListener('click', (event) => this.choose(this.sliceUnder(event)));
  }

  /* Pixels for the names of the lanes: on a narrow page the slices need the room. */
  get margin() {
    return Math.min(NAME_WIDTH, Math.round(this.width * 0.25));
  }

  get plot() {
    return this.width - this.margin - 8;
  }

  x(us) {
    return this.margin + (us - this.from) / (this.to - this.from) * this.plot;
  }

  zoom(factor, at = (this.from + this.to) / 2) {
    const whole = this.trace.to - this.trace.from || 1;
    const span = Math.min(whole * 1.02, Math.max((this.to - this.from) * factor, whole * 1e-7, 1e-3));
    const share = (at - this.from) / (this.to - this.from);
    this.show(at - share * span, at + (1 - share) * span);
  }

  move(share) {
    const by = (this.to - this.from) * share;
    this.show(this.from + by, this.to + by);
  }

  reset() {
    this.show(this.trace.from, Math.max(this.trace.to, this.trace.from + 1e-3));
  }

  /* The window stays over what there is. */
  show(from, to) {
    const span = to - from, { trace } = this;
    const low = Math.min(Math.max(from, trace.from - span * 0.5), trace.to - span * 0.5);
    [this.from, this.to] = [low, low + span];
    this.draw();
  }

  /* Once a frame, however often a pointer moves. */
  showSoon(from, to) {
    this.soon = this.soon || requestAnimationFrame(() => {
      const window = this.next;
      this.soon = null;
      this.show(...window);
    });
    this.next = [from, to];
  }

  /* Texts are few, slices are not: each text is looked at once. */
  foundWords() {
    const { trace } = this;
    const has = trace.texts.map((text) => text.toLowerCase().includes(this.query));
    this.matching = (i) => has[trace.name[i]] || has[trace.category[i]];
    let nr = 0;
    for (let i = 0; i < trace.nr; i++)
      nr += this.matching(i);
    return `${nr} slice${nr === 1 ? '' : 's'} match`;
  }

  actions() {
    return { w: () => this.zoom(0.6), s: () => this.zoom(1.7), a: () => this.move(-0.2),
      d: () => this.move(0.2), ArrowRight: () => this.step(1), ArrowLeft: () => this.step(-1),
      ArrowDown: () => this.stepDown(1), ArrowUp: () => this.stepDown(-1), 0: () => this.reset(),
      f: () => this.focusChosen(), '+': () => this.zoom(0.6), '-': () => this.zoom(1.7) };
  }

  onWheel(event) {
    if (!event.ctrlKey && !event.shiftKey)
      return;
    event.preventDefault();
    if (event.shiftKey)
      this.move(Math.sign(event.deltaY || event.deltaX) * 0.1);
    else
      this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.timeAt(event));
  }

  timeAt(event) {
    const x = event.clientX - this.svg.getBoundingClientRect().left;
    return this.from + (x - this.margin) / this.plot * (this.to - this.from);
  }

  onDown(event) {
    if (event.pointerType === 'touch' || event.button !== 0)
      return;
    const start = event.clientX, { from, to } = this;
    const move = (next) => {
      const by = (next.clientX - start) / this.plot * (to - from);
      if (Math.abs(next.clientX - start) > 3)
        this.showSoon(from - by, to - by);
    };
    window.addEventListener('pointermove', move);
    window.addEventListener('pointerup', () => window.removeEventListener('pointermove', move),
      { once: true });
  }

  onHover(event) {
    const i = event.buttons ? -1 : this.sliceUnder(event);
    this.tip.textContent = i < 0 ? '' : `${shortText(nameAt(this.trace, i), 300)}\n${
      timeOf(this.trace.duration[i])}`;
  }

  /* The slice at a place of the drawing; -1: none. */
  sliceUnder(event) {
    const y = event.clientY - this.svg.getBoundingClientRect().top;
    const at = this.tops.findLastIndex((top) => top <= y), lane = this.trace.lanes[at];
    const row = lane?.rows[Math.floor((y - this.tops[at]) / ROW)];
    return row ? sliceAt(this.trace, row, this.timeAt(event), REACH * (this.to - this.from) / this.plot)
      : -1;
  }

  laneOf(i) {
    return this.trace.lanes[this.trace.lane[i]];
  }

  /* The next slice of the lane. */
  step(across) {
    const next = this.chosen < 0 ? 0 : this.chosen + across;
    if (this.chosen < 0 || this.trace.lane[next] === this.trace.lane[this.chosen])
      this.choose(next);
  }

  /* The one of the next lane at about the same time. */
  stepDown(down) {
    this.choose(this.chosen < 0 ? 0 : sliceBeside(this.trace, this.chosen, down));
  }

  choose(i) {
    const { trace } = this, start = trace.start[i], duration = trace.duration[i];
    if (!(i >= 0 && i < trace.nr))
      return;
    this.chosen = i;
    const lane = this.laneOf(i), args = Object.entries(trace.args?.(i) || {});
    fill(this.details, el('b', {}, nameOf(nameAt(trace, i), 200)), ` ${timeOf(duration)}, from ${
      timeOf(start - trace.from)} on, in ${cleanText([lane.process, lane.thread]
      .filter(Boolean).join(' / '))}`, args.length === 0 ? null
      : el('dl', {}, args.slice(0, 30).map(([key, value]) => [
        el('dt', {}, nameOf(key, 60)), el('dd', {}, nameOf(typeof value === 'object'
          ? JSON.stringify(value) : value, 200))])));
    if (start + duration < this.from || start > this.to) {
      const span = this.to - this.from;
      this.show(start - span * 0.3, start + span * 0.7);
    } else
      this.draw();
  }

  focusChosen() {
    if (this.chosen < 0)
      return;
    const start = this.trace.start[this.chosen], duration = this.trace.duration[this.chosen];
    this.show(start - duration * 0.25, start + Math.max(duration, 1e-3) * 1.25);
  }

  /* [x, text] of each tick of the axis. */
  axisTicks() {
    const span = this.to - this.from, step = tickStep(0, span, Math.max(2, this.width / 140));
    const unit = unitFor('time', '', span * 1e3), zero = this.trace.from;
    return multiples(this.from - zero, this.to - zero, step).map((at) => [this.x(at + zero),
      `${Number((at * 1e3 / unit.factor).toPrecision(6))} ${unit.name}`]);
  }

  axisParts(ticks) {
    return ticks.map(([x, text]) => svg('text', { class: 'tick-text', x, y: HEAD - 9,
      'text-anchor': x > this.width - 40 ? 'end' : 'middle' }, text));
  }

  /* Where a slice is drawn; null: it is not. */
  boxOf(i) {
    const { trace } = this, lane = trace.lane[i], end = trace.start[i] + trace.duration[i];
    if (trace.row[i] < 0 || end < this.from || trace.start[i] > this.to)
      return null;
    const x = Math.max(this.margin, this.x(trace.start[i]));
    return { x, y: this.tops[lane] + trace.row[i] * ROW, height: ROW - 2,
      width: Math.max(1, Math.min(this.width - 8, this.x(end)) - x) };
  }

  /* From what started a slice to it, and from it to what it started. */
  arrows() {
    const { launch } = this.trace, pairs = [];
    if (!launch || this.chosen < 0)
      return pairs;
    if (launch[this.chosen] >= 0)
      pairs.push([launch[this.chosen], this.chosen]);
    for (let i = launch.indexOf(this.chosen); i >= 0 && pairs.length < ARROWS_MOST;
      i = launch.indexOf(this.chosen, i + 1))
      pairs.push([this.chosen, i]);
    return pairs.map(([from, to]) => [this.boxOf(from), this.boxOf(to)])
      .filter(([from, to]) => from && to);
  }

  arrowParts() {
    return this.arrows().map(([from, to]) => {
      const [x1, y1] = [from.x + from.width, from.y + from.height / 2];
      const [x2, y2] = [to.x, to.y + to.height / 2], bend = Math.max(12, Math.abs(x2 - x1) / 2);
      return svg('path', { class: 'arrow', d: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${
        x2} ${y2}m-6 -4l6 4l-6 4` });
    });
  }

  chosenParts() {
    const box = this.chosen >= 0 ? this.boxOf(this.chosen) : null;
    return box ? svg('rect', { class: 'chosen', ...box }) : null;
  }

  /* What a name is in so many pixels does not change from frame to frame. */
  words(name, width) {
    const key = `${Math.floor(width)}\n${name}`;
    if (!this.names.has(key)) {
      if (this.names.size > 20000)
        this.names.clear();
      this.names.set(key, nameWithin(name, Math.floor(width)));
    }
    return this.names.get(key);
  }

  toneOf(i) {
    const own = this.trace.tone?.(i);
    if (own)
      return own;
    const name = this.trace.name[i];
    return this.tones[name] = this.tones[name] || hueOf(this.trace.texts[name]);
  }

  drawRules(context, ticks, height) {
    context.fillStyle = getComputedStyle(this.svg).getPropertyValue('--line') || HUES[4];
    for (const [x] of ticks)
      context.fillRect(x, HEAD - SHORT_TICK, 1, height);
  }

  drawSlices(ticks, height) {
    const context = sizedContext(this.canvas, this.width, height), { trace } = this;
    const perPixel = (this.to - this.from) / this.plot, scale = { from: this.from, to: this.to, perPixel,
      x: (us) => this.margin + (us - this.from) / perPixel };
    const look = { height: ROW - 2, tone: (i) => this.toneOf(i),
      isDim: (i) => (this.query ? !this.matching(i) : false), words: (name, width) => this.words(name, width) };
    let blocks = 0, dim = 0;
    this.drawRules(context, ticks, height);
    context.font = '11px "DejaVu Sans", sans-serif';
    trace.lanes.forEach((lane, nth) => lane.rows.forEach((row, depth) => {
      const done = drawRow(context, trace, row, scale, { ...look, top: this.tops[nth] + depth * ROW });
      blocks += done.blocks;
      dim += done.dim;
    }));
    Object.assign(this.canvas.dataset, { blocks, dim });
  }

  /* Names of lanes stay where they are. */
  layOut() {
    let top = HEAD;
    this.tops = this.trace.lanes.map((lane) => {
      const mine = top;
      top += lane.nr > 0 ? lane.depth * ROW + LANE_GAP : 0;
      return mine;
    });
    this.over = svg('g');
    this.tip = svg('title');
    this.svg.setAttribute('width', this.width);
    this.svg.setAttribute('height', top);
    fill(this.svg, this.tip, this.trace.lanes.map((lane, i) => this.laneName(lane, this.tops[i])),
      this.over);
    return top;
  }

  laneName(lane, top) {
    return lane.nr === 0 ? null : svg('text', { class: 'lane-name', x: 4, y: top + ROW - 7 },
      shortText(lane.thread, Math.floor((this.margin - 8) / 7)),
      svg('title', {}, `${cleanText(lane.process)} / ${cleanText(lane.thread)}`));
  }

  draw() {
    if (!this.width)
      return;
    if (this.laidOut !== this.width) {
      this.height = this.layOut();
      this.laidOut = this.width;
    }
    const ticks = this.axisTicks();
    this.drawSlices(ticks, this.height);
    fill(this.over, this.axisParts(ticks), this.arrowParts(), this.chosenParts());
  }
}

/**
 * @param {object} trace  see TraceColumns; where it has them: args(i); launch; tone(i): { fill, ink };
 *   window: [from, to] that is shown first
 * @param {string} name  what it is of
 * @returns {Element}
 */
export function timelineView(trace, name) {
  return new Timeline(trace, name).element;
}
