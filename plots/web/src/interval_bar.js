/* SPDX-License-Identifier: MIT */
/* A change and its interval as a small picture: one scale for all rows of a table, so that they can
 * be compared at a glance. Beside it stand the numbers. */
import { svg } from './dom.js';
import { toneOf } from './verdict_words.js';

const WIDTH = 150, HEIGHT = 22, MIDDLE = HEIGHT / 2;
const LEAST = 0.02, MOST = 0.5;

/** The largest change that the bars of these rows show: at most 50 %. */
export function barReach(rows, delta = 0) {
  const ends = rows.flatMap((row) => [row.interval?.low, row.interval?.high, row.change])
    .filter((value) => Number.isFinite(value ?? NaN)).map(Math.abs);
  return Math.min(MOST, Math.max(LEAST, 2 * delta, ...ends) * 1.05);
}

const SHAPES = { bad: 'M-5 4H5L0 -5Z', good: 'M-5 -4H5L0 5Z' };

function mark(x, tone) {
  const shape = SHAPES[tone];
  return shape ? svg('path', { d: shape, transform: `translate(${x} ${MIDDLE})`, class: tone })
    : svg('circle', { cx: x, cy: MIDDLE, r: 4, class: 'open' });
}

/** @param {object} row  of a comparison @param {number} reach  see barReach() */
export function intervalBar(row, reach) {
  const inside = (value) => Math.min(Math.max(value, -reach), reach);
  const x = (value) => (inside(value) / reach + 1) / 2 * (WIDTH - 12) + 6;
  const { low, high } = row.interval || {}, delta = row.delta || 0;
  const has = Number.isFinite(low ?? NaN) && Number.isFinite(high ?? NaN);
  return svg('svg', { class: 'interval', width: WIDTH, height: HEIGHT, 'aria-hidden': 'true',
    focusable: 'false', viewBox: `0 0 ${WIDTH} ${HEIGHT}` },
  svg('rect', { class: 'floor', x: x(-delta), y: 1, width: Math.max(0, x(delta) - x(-delta)),
    height: HEIGHT - 2 }),
  svg('line', { class: 'zero', x1: x(0), x2: x(0), y1: 0, y2: HEIGHT }),
  has ? svg('line', { class: toneOf(row.verdict), x1: x(low), x2: x(high), y1: MIDDLE, y2: MIDDLE,
    'stroke-width': 2.5 }) : null,
  Number.isFinite(row.change ?? NaN) ? mark(x(row.change), toneOf(row.verdict)) : null);
}
