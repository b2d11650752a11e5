/* SPDX-License-Identifier: MIT */
/*
 * A flame graph that can be explored: a click, Enter or the space bar makes a frame as wide as the
 * page, Escape or 0 shows all again; arrows go to callers, callees and neighbours; a search dims what
 * does not match and says what share does.
 */
import { button, el, fill, nameOf, shortText, svg } from './dom.js';
import { figureFrames } from './figure_data.js';
import { shareText } from './words.js';

const ROW = 21, TEXT_ROOM = 7, LEAST = 0.3;

const endOf = (frame) => frame.start + frame.duration;

class Flame {
  constructor({ title, frames, all, depth }, name) {
    Object.assign(this, { title, frames, all, depth, query: '', chosen: null, root: null });
    this.frames.forEach((frame, i) => { frame.index = i; });
    this.svg = svg('svg', { class: 'timeline flame', tabindex: '0', role: 'application',
      'aria-label': `Flame graph of ${shortText(name, 60)} ${title}: arrows go from frame to frame, Enter zooms in, `
        + 'Escape zooms out' });
    this.details = el('div', { class: 'slice', role: 'status' },
      'Click a frame to zoom in, or go from one to the next by the arrow keys.');
    this.found = el('span', { class: 'muted', role: 'status' });
    const search = el('input', { type: 'search', 'aria-label': 'Search frames', placeholder: 'search',
      oninput: () => this.search(search.value) });
    this.element = el('div', { class: 'timeline-view' },
      el('p', { class: 'buttons' }, search, ' ', button('All', () => this.zoom(null)), ' ', this.found),
      el('div', { class: 'timeline-frame' }, this.svg), this.details);
    this.listen();
  }

  listen() {
    this.svg.addEventListener('keydown', (event) => this.onKey(event));
    this.svg.addEventListener('click', (event) => {
      const frame = this.frames[Number(event.target.dataset?.frame ?? -1)];
      if (frame)
        this.zoom(frame);
    });
    this.svg.addEventListener('pointerover', (event) => {
      const frame = this.frames[Number(event.target.dataset?.frame ?? -1)];
      if (frame)
        this.tell(frame);
    });
    this.observer = new ResizeObserver(() => {
      const width = Math.floor(this.svg.parentElement?.clientWidth || 0);
      if (width > 0 && width !== this.width) {
        this.width = width;
        this.draw();
      }
    });
    this.observer.observe(this.element);
  }

  /* As wide as the page; null: all. */
  zoom(frame) {
    this.root = frame === this.root && frame ? frame.parent : frame;
    this.chosen = frame || this.chosen;
    this.tell(this.chosen);
    this.draw();
  }

  choose(frame) {
    if (!frame)
      return;
    this.chosen = frame;
    if (this.root && (frame.start < this.root.start || endOf(frame) > endOf(this.root)))
      this.root = null;
    this.tell(frame);
    this.draw();
  }

  tell(frame) {
    if (frame)
      fill(this.details, el('b', {}, nameOf(frame.name, 200)), ` ${frame.words}`,
        frame.label ? `; ${frame.label}` : null);
  }

  search(text) {
    this.query = text.trim().toLowerCase();
    const found = this.query ? this.frames.filter((frame) => this.matches(frame)) : [];
    fill(this.found, this.query ? `${found.length} frame${found.length === 1 ? '' : 's'} match, ${
      shareText(this.covered(found) / this.all)} of the time` : null);
    this.draw();
  }

  matches(frame) {
    return frame.name.toLowerCase().includes(this.query);
  }

  /* Of matching frames within each other the outer one counts. */
  covered(found) {
    const inside = (frame) => frame && (this.matches(frame) || inside(frame.parent));
    return found.filter((frame) => !inside(frame.parent))
      .reduce((sum, frame) => sum + frame.duration, 0);
  }

  neighbour(by) {
    const row = this.frames.filter((frame) => frame.row === this.chosen.row);
    return row[row.indexOf(this.chosen) + by];
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey)
      return;
    const first = () => this.choose(this.frames.find((frame) => frame.row === 0));
    const go = (to) => (this.chosen ? this.choose(to()) : first());
    const actions = { ArrowRight: () => go(() => this.neighbour(1)),
      ArrowLeft: () => go(() => this.neighbour(-1)), ArrowUp: () => go(() => this.chosen.parent),
      ArrowDown: () => go(() => this.chosen.children[0]),
      Enter: () => this.chosen && this.zoom(this.chosen), ' ': () => this.chosen && this.zoom(this.chosen),
      Escape: () => this.zoom(null), 0: () => this.zoom(null) };
    const action = actions[event.key];
    if (!action)
      return;
    event.preventDefault();
    action();
  }

  drawFrame(frame, from, scale) {
    const x = Math.max(0, (frame.start - from) * scale);
    const end = Math.min(this.width, (endOf(frame) - from) * scale), width = end - x;
    if (!(width > LEAST) || end <= 0 || x >= this.width)
      return null;
    const letters = Math.floor((width - 6) / TEXT_ROOM), y = frame.row * ROW;
    const dim = this.query && !this.matches(frame);
    const over = this.root && frame.row < this.root.row;
    return svg('g', { class: `slice-box ${frame.tone.text}${dim ? ' dim' : ''}${over ? ' over' : ''}${
      frame === this.chosen ? ' chosen' : ''}` },
    svg('rect', { x, y, width, height: ROW - 1, rx: 1, fill: frame.tone.fill,
      'data-frame': frame.index }),
    letters > 2 ? svg('text', { x: x + 3, y: y + ROW - 7 }, shortText(frame.name, letters)) : null);
  }

  draw() {
    if (!this.width)
      return;
    const from = this.root ? this.root.start : 0;
    const scale = this.width / (this.root ? this.root.duration : this.all);
    this.svg.setAttribute('width', this.width);
    this.svg.setAttribute('height', this.depth * ROW);
    fill(this.svg, this.frames.map((frame) => this.drawFrame(frame, from, scale)));
  }
}

/** @param {object} spec  a figure with view "flame" @param {Set<string>} hidden */
export function flameView(spec, hidden) {
  const panels = figureFrames(spec, hidden);
  return el('div', {}, panels.map((panel) => [
    panels.length > 1 ? el('p', { class: 'view-title' }, panel.title) : null,
    new Flame(panel, spec.title).element]));
}
