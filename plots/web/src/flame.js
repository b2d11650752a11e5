/* SPDX-License-Identifier: MIT */
/*
 * A flame graph that can be explored: a click, Enter or the space bar makes a frame as wide as the
 * page, Escape or 0 shows all again; arrows go to callers, callees and neighbours; a search dims what
 * does not match and says what share does.
 */
import { BlocksView } from './blocks_view.js';
import { button, el, fill, nameOf, shortText } from './dom.js';
import { figureFrames } from './figure_data.js';
import { shareText } from './words.js';

const ROW = 21, LEAST = 0.3;

const endOf = (frame) => frame.start + frame.duration;

class Flame extends BlocksView {
  constructor({ title, frames, all, depth }, name) {
    super({ kind: 'timeline flame', search: 'Search frames',
      label: `Flame graph of ${shortText(name, 60)} ${title}: arrows go from frame to frame, Enter zooms in, `
        + 'Escape zooms out',
      hint: 'Click a frame to zoom in, or go from one to the next by the arrow keys.',
      buttons: [button('All', () => this.zoom(null))] });
    Object.assign(this, { title, frames, all, depth, root: null });
    this.frames.forEach((frame, i) => { frame.index = i; });
    this.svg.addEventListener('click', (event) => {
      const frame = this.frames[this.placeOf(event)];
      if (frame)
        this.zoom(frame);
    });
    this.svg.addEventListener('pointerover', (event) => this.tell(this.frames[this.placeOf(event)]));
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

  foundWords() {
    const found = this.frames.filter((frame) => this.matches(frame));
    return `${found.length} frame${found.length === 1 ? '' : 's'} match, ${
      shareText(this.covered(found) / this.all)} of the time`;
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

  actions() {
    const first = () => this.choose(this.frames.find((frame) => frame.row === 0));
    const go = (to) => (this.chosen ? this.choose(to()) : first());
    const zoom = () => this.chosen && this.zoom(this.chosen);
    return { ArrowRight: () => go(() => this.neighbour(1)),
      ArrowLeft: () => go(() => this.neighbour(-1)), ArrowUp: () => go(() => this.chosen.parent),
      ArrowDown: () => go(() => this.chosen.children[0]), Enter: zoom, ' ': zoom,
      Escape: () => this.zoom(null), 0: () => this.zoom(null) };
  }

  drawFrame(frame, from, scale) {
    const x = Math.max(0, (frame.start - from) * scale);
    const end = Math.min(this.width, (endOf(frame) - from) * scale), width = end - x;
    if (!(width > LEAST) || end <= 0 || x >= this.width)
      return null;
    const over = this.root && frame.row < this.root.row;
    return this.block(frame, { x, y: frame.row * ROW, width, height: ROW - 1 }, { place: frame.index,
      tone: `${frame.tone.text}${over ? ' over' : ''}`, fill: frame.tone.fill, words: frame.words });
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
