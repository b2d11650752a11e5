/* SPDX-License-Identifier: MIT */
/* A change and its interval as a small picture: one scale for all rows of a table, so that they can
 * be compared at a glance. A few huge changes must not flatten all others: what goes beyond the
 * scale is an arrow at its end. Beside it stand the numbers. */
import { svg } from './dom.js';
import { toneOf } from './verdict_words.js';

const WIDTH = 150, HEIGHT = 22, MIDDLE = HEIGHT / 2, EDGE = 6;
const REACHES = [0.02, 0.03, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5];
const MEDIANS = 3; // what the scale shows at least, in usual rows
const STUB = 16;   // pixels of line that lead to an arrow

const isNumber = (value) => Number.isFinite(value ?? NaN);

/** Largest distance from no change in a row, NaN without one. */
function extentOf(row) {
  const ends = [row.interval?.low, row.interval?.high, row.change].filter(isNumber);
  return ends.length ? Math.max(...ends.map(Math.abs)) : NaN;
}

/**
 * The change at the ends of the bars: a round one that holds all rows, or else three times the
 * usual row; from 2 % to 50 %. @param {object[]} rows  of a comparison @param {number} delta
 */
export function barReach(rows, delta = 0) {
  const extents = rows.map(extentOf).filter(isNumber).sort((a, b) => a - b);
  const usual = extents[Math.floor((extents.length - 1) / 2)] ?? 0;
  const wanted = Math.max(2 * delta, Math.min(extents.at(-1) ?? 0, MEDIANS * usual));
  return REACHES.find((reach) => reach >= wanted) ?? REACHES.at(-1);
}

const SHAPES = { bad: 'M-5 4H5L0 -5Z', good: 'M-5 -4H5L0 5Z' };

function mark(x, tone) {
  const shape = SHAPES[tone];
  return shape ? svg('path', { d: shape, transform: `translate(${x} ${MIDDLE})`, class: tone })
    : svg('circle', { cx: x, cy: MIDDLE, r: 4, class: 'open' });
}

/* Head of an arrow at the end of the scale; side is -1 or 1. */
function arrow(side, tone) {
  const tip = side < 0 ? 0 : WIDTH, back = tip - side * 8;
  return svg('path', { d: `M${tip} ${MIDDLE}L${back} ${MIDDLE - 5}V${MIDDLE + 5}Z`,
    class: `beyond ${tone}` });
}

/* The interval as far as it is on the scale; where all of it lies beyond, what leads there. */
function line(low, high, reach, x, tone) {
  const from = low > reach ? x(reach) - STUB : x(low);
  const to = high < -reach ? x(-reach) + STUB : x(high);
  return svg('line', { class: tone, x1: from, x2: to, y1: MIDDLE, y2: MIDDLE, 'stroke-width': 2.5 });
}

/* Where a row's interval ends; an end that is no number is open, without any it is the change. */
function endsOf({ interval, change }) {
  const { low, high } = interval || {};
  return isNumber(low) || isNumber(high)
    ? [isNumber(low) ? low : -Infinity, isNumber(high) ? high : Infinity] : [change, change];
}

/** @param {object} row  of a comparison @param {number} reach  see barReach() */
export function intervalBar(row, reach) {
  const inside = (value) => Math.min(Math.max(value, -reach), reach);
  const x = (value) => (inside(value) / reach + 1) / 2 * (WIDTH - 2 * EDGE) + EDGE;
  const { change, delta = 0 } = row, tone = toneOf(row.verdict);
  const [low, high] = endsOf(row), known = low !== undefined && low !== null;
  return svg('svg', { class: 'interval', width: WIDTH, height: HEIGHT, 'aria-hidden': 'true',
    focusable: 'false', viewBox: `0 0 ${WIDTH} ${HEIGHT}` },
  svg('rect', { class: 'floor', x: x(-delta), y: 1, width: Math.max(0, x(delta) - x(-delta)),
    height: HEIGHT - 2 }),
  svg('line', { class: 'zero', x1: x(0), x2: x(0), y1: 0, y2: HEIGHT }),
  known ? line(low, high, reach, x, tone) : null,
  known && low < -reach ? arrow(-1, tone) : null,
  known && high > reach ? arrow(1, tone) : null,
  isNumber(change) && Math.abs(change) <= reach ? mark(x(change), tone) : null);
}
