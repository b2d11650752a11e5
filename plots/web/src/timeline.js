/* SPDX-License-Identifier: MIT */
/*
 * A timeline of slices in lanes: zoom and move by W S A D, arrows, wheel with Ctrl and dragging;
 * Tab and Enter, or a click, tell about a slice; a search dims what does not match. Only what can be
 * seen is in the document: slices under a pixel are drawn as one.
 */
import { BlocksView } from './blocks_view.js';
import { button, cleanText, el, fill, nameOf, shortText, svg } from './dom.js';
import { timeText } from './words.js';
import { multiples, tickStep, unitFor } from './axis.js';

const ROW = 20, HEAD = 24, LANE_GAP = 8, NAME_WIDTH = 168, MOST_DRAWN = 3000;
const HUES = 8;

/* The same name has the same colour, whatever else is there. */
function hueOf(name) {
  let hash = 0;
  for (const character of name)
    hash = (hash * 31 + character.codePointAt(0)) % 1000003;
  return hash % HUES;
}

function timeOf(us) {
  return timeText(us * 1e3);
}

class Timeline extends BlocksView {
  constructor(trace, name) {
    super({ kind: 'timeline', search: 'Search slices',
      label: `Timeline of ${shortText(name, 60)}: W and S zoom, A and D move, arrows go from slice to slice`,
      hint: 'Click a slice, or go from one to the next by the arrow keys.',
      buttons: [button('Zoom in (W)', () => this.zoom(0.5)), button('Zoom out (S)', () => this.zoom(2)),
        button('Earlier (A)', () => this.move(-0.3)), button('Later (D)', () => this.move(0.3)),
        button('All', () => this.reset())] });
    this.trace = trace;
    this.from = trace.start;
    this.to = trace.end > trace.start ? trace.end : trace.start + 1;
    this.svg.addEventListener('wheel', (event) => this.onWheel(event), { passive: false });
    this.svg.addEventListener('pointerdown', (event) => this.onDown(event));
    this.svg.addEventListener('click', (event) => this.choose(this.placeOf(event)));
  }

  /* Pixels for the names of the lanes: on a narrow page the slices need the room. */
  get names() {
    return Math.min(NAME_WIDTH, Math.round(this.width * 0.25));
  }

  x(us) {
    return this.names + (us - this.from) / (this.to - this.from) * (this.width - this.names - 8);
  }

  zoom(factor, at = (this.from + this.to) / 2) {
    const whole = this.trace.end - this.trace.start || 1;
    const span = Math.min(whole * 1.02, Math.max((this.to - this.from) * factor, whole * 1e-7, 1e-3));
    const share = (at - this.from) / (this.to - this.from);
    this.show(at - share * span, at + (1 - share) * span);
  }

  move(share) {
    const by = (this.to - this.from) * share;
    this.show(this.from + by, this.to + by);
  }

  reset() {
    this.show(this.trace.start, Math.max(this.trace.end, this.trace.start + 1e-3));
  }

  /* The window stays over what there is. */
  show(from, to) {
    const span = to - from, { start, end } = this.trace;
    const low = Math.min(Math.max(from, start - span * 0.5), end - span * 0.5);
    [this.from, this.to] = [low, low + span];
    this.draw();
  }

  foundWords() {
    const nr = this.trace.slices.filter((slice) => this.matches(slice)).length;
    return `${nr} slice${nr === 1 ? '' : 's'} match`;
  }

  matches(slice) {
    return slice.name.toLowerCase().includes(this.query)
      || slice.category.toLowerCase().includes(this.query);
  }

  actions() {
    return { w: () => this.zoom(0.6), s: () => this.zoom(1.7), a: () => this.move(-0.2),
      d: () => this.move(0.2), ArrowRight: () => this.step(1, 0), ArrowLeft: () => this.step(-1, 0),
      ArrowDown: () => this.step(0, 1), ArrowUp: () => this.step(0, -1), 0: () => this.reset(),
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
    return this.from + (x - this.names) / (this.width - this.names - 8) * (this.to - this.from);
  }

  onDown(event) {
    if (event.pointerType === 'touch' || event.button !== 0)
      return;
    const start = event.clientX, { from, to } = this;
    const move = (next) => {
      const by = (next.clientX - start) / (this.width - this.names - 8) * (to - from);
      if (Math.abs(next.clientX - start) > 3)
        this.show(from - by, to - by);
    };
    window.addEventListener('pointermove', move);
    window.addEventListener('pointerup', () => window.removeEventListener('pointermove', move),
      { once: true });
  }

  /* The next slice of the lane, or one of the next lane at about the same time. */
  step(across, down) {
    const lanes = this.trace.lanes;
    const lane = Math.max(0, lanes.findIndex((one) => one.slices.includes(this.chosen)));
    if (!this.chosen)
      return this.chooseSlice(lanes[0].slices[0]);
    if (across) {
      const { slices } = lanes[lane];
      const next = slices[slices.indexOf(this.chosen) + across];
      return next && this.chooseSlice(next);
    }
    const { slices } = lanes[Math.min(lanes.length - 1, Math.max(0, lane + down))];
    return this.chooseSlice(slices.reduce((best, one) => (Math.abs(one.start - this.chosen.start)
      < Math.abs(best.start - this.chosen.start) ? one : best)));
  }

  choose(index) {
    if (index >= 0)
      this.chooseSlice(this.trace.slices[index]);
  }

  chooseSlice(slice) {
    this.chosen = slice;
    const lane = this.trace.lanes.find((one) => one.slices.includes(slice));
    fill(this.details, el('b', {}, nameOf(slice.name, 200)), ` ${timeOf(slice.duration)}, from ${
      timeOf(slice.start - this.trace.start)} on, in ${cleanText([lane.process, lane.thread]
      .filter(Boolean).join(' / '))}`, Object.keys(slice.args).length === 0 ? null
      : el('dl', {}, Object.entries(slice.args).slice(0, 30).map(([key, value]) => [
        el('dt', {}, nameOf(key, 60)), el('dd', {}, nameOf(typeof value === 'object'
          ? JSON.stringify(value) : value, 200))])));
    if (slice.start + slice.duration < this.from || slice.start > this.to) {
      const span = this.to - this.from;
      this.show(slice.start - span * 0.3, slice.start + span * 0.7);
    } else
      this.draw();
  }

  focusChosen() {
    if (this.chosen)
      this.show(this.chosen.start - this.chosen.duration * 0.25,
        this.chosen.start + Math.max(this.chosen.duration, 1e-3) * 1.25);
  }

  drawAxis(height) {
    const span = this.to - this.from, step = tickStep(0, span, Math.max(2, this.width / 140));
    const unit = unitFor('time', '', span * 1e3), zero = this.trace.start, parts = [];
    for (const at of multiples(this.from - zero, this.to - zero, step)) {
      const x = this.x(at + zero);
      parts.push(svg('line', { class: 'rule', x1: x, x2: x, y1: HEAD - 6, y2: height }),
        svg('text', { class: 'tick-text', x, y: HEAD - 9,
          'text-anchor': x > this.width - 40 ? 'end' : 'middle' },
          `${Number((at * 1e3 / unit.factor).toPrecision(6))} ${unit.name}`));
    }
    return parts;
  }

  /* Neighbours that share a pixel are drawn once, as wide as all of them. */
  visible(lane) {
    const parts = [], last = [];
    for (const slice of lane.slices) {
      if (slice.start + slice.duration < this.from || slice.start > this.to)
        continue;
      const x = Math.max(this.names, this.x(slice.start));
      const end = Math.min(this.width - 8, this.x(slice.start + slice.duration));
      const before = last[slice.depth];
      if (before && end - before.x < 1 && slice !== this.chosen)
        continue;
      const part = { slice, x, width: Math.max(1, end - x) };
      last[slice.depth] = part;
      parts.push(part);
    }
    return parts;
  }

  drawSlice({ slice, x, width }, top) {
    return this.block(slice, { x, y: top + slice.depth * ROW, width, height: ROW - 2 }, {
      place: this.place.get(slice), tone: slice.tone?.text || `hue-${hueOf(slice.name)}`,
      fill: slice.tone?.fill, words: timeOf(slice.duration) });
  }

  drawLane(lane, top) {
    return [svg('text', { class: 'lane-name', x: 4, y: top + ROW - 7 },
      shortText(lane.thread, Math.floor((this.names - 8) / 7)), svg('title', {}, `${cleanText(lane.process)} / ${cleanText(lane.thread)}`)),
    this.visible(lane).slice(0, MOST_DRAWN).map((part) => this.drawSlice(part, top))];
  }

  draw() {
    if (!this.width)
      return;
    this.place = this.place || new Map(this.trace.slices.map((slice, i) => [slice, i]));
    const height = HEAD + this.trace.lanes.reduce((sum, lane) => sum + lane.depth * ROW + LANE_GAP, 0);
    let top = HEAD;
    const lanes = this.trace.lanes.map((lane) => {
      const parts = this.drawLane(lane, top);
      top += lane.depth * ROW + LANE_GAP;
      return parts;
    });
    this.svg.setAttribute('width', this.width);
    this.svg.setAttribute('height', height);
    fill(this.svg, this.drawAxis(height), lanes);
  }
}

/**
 * @param {object} trace  see traceSlices()
 * @param {string} name  what it is of
 * @returns {Element}
 */
export function timelineView(trace, name) {
  return new Timeline(trace, name).element;
}
