/* SPDX-License-Identifier: MIT */
/*
 * What views of blocks (a flame graph, a timeline) share: a drawing that follows its width and is
 * reached by keys, a search that dims what does not match, a line on the block that is chosen, names
 * inside blocks as far as they can be read.
 *
 *     class Flame extends BlocksView {
 *       constructor(...) { super({ kind, label, hint, search, buttons }); }
 *       draw() { ... this.width ... }            matches(block), foundWords(), actions()
 *     }
 */
import { cleanText, el, fill, shortText, svg } from './dom.js';
import { textWidth } from './text_width.js';

const TEXT_SIZE = 11, PADDING = 3, ROW = 20;
/* Pixels: in less, a name that is cut tells nothing. It stands in the tooltip then. */
const ROOM_FOR_SOME = 60;

/** The name as it can stand in so many pixels: whole, cut in the middle, or null: not at all. */
export function nameWithin(name, width) {
  const room = width - 2 * PADDING, text = cleanText(name), whole = textWidth(text, TEXT_SIZE);
  if (whole <= room)
    return text;
  if (room < ROOM_FOR_SOME)
    return null;
  const short = shortText(text, Math.floor([...text].length * room / whole) - 1);
  return textWidth(short, TEXT_SIZE) <= room ? short : null;
}

export class BlocksView {
  /**
   * @param {string} kind  class of the drawing
   * @param {string} label  what it is, and its keys, for those who cannot see it
   * @param {string} hint  in place of the chosen block
   * @param {string} search  label of the search box
   * @param {Element[]} buttons
   */
  constructor({ kind, label, hint, search, buttons }) {
    this.query = '';
    this.chosen = null;
    this.svg = svg('svg', { class: kind, tabindex: '0', role: 'application', 'aria-label': label });
    this.details = el('div', { class: 'slice', role: 'status' }, hint);
    this.found = el('span', { class: 'muted', role: 'status' });
    const box = el('input', { type: 'search', 'aria-label': search, placeholder: 'search',
      oninput: () => this.search(box.value) });
    this.element = el('div', { class: 'timeline-view' },
      el('p', { class: 'buttons' }, box, buttons, this.found),
      el('div', { class: 'timeline-frame' }, this.svg), this.details);
    this.svg.addEventListener('keydown', (event) => this.onKey(event));
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.element);
  }

  resize() {
    const width = Math.floor(this.svg.parentElement?.clientWidth || 0);
    if (width > 0 && width !== this.width) {
      this.width = width;
      this.draw();
    }
  }

  search(text) {
    this.query = text.trim().toLowerCase();
    fill(this.found, this.query ? this.foundWords() : null);
    this.draw();
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey)
      return;
    const action = this.actions()[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action)
      return;
    event.preventDefault();
    action();
  }

  /** The block under an event: what its rectangle was given as `place`. -1: none. */
  placeOf(event) {
    return Number(event.target.dataset?.place ?? -1);
  }

  /**
   * @param {object} block  @param {object} box  { x, y, width, height } in pixels
   * @param {object} look  place: for placeOf(); tone: classes; fill; words: tooltip behind the name
   */
  block(block, { x, y, width, height }, { place, tone, fill: colour, words }) {
    const name = nameWithin(block.name, width), dim = this.query && !this.matches(block);
    return svg('g', { class: `slice-box ${tone}${dim ? ' dim' : ''}${block === this.chosen ? ' chosen'
      : ''}` },
    svg('rect', { x, y, width, height, rx: 2, fill: colour, 'data-place': place },
      svg('title', {}, `${shortText(block.name, 300)}\n${words}`)),
    name ? svg('text', { x: x + PADDING, y: y + ROW - 7 }, name) : null);
  }
}
