/* SPDX-License-Identifier: MIT */
/*
 * A series with its step or drift as a small picture. Heights, levels and words are the program's
 * (harness/reporters/trend/step_line.h); here they get their places.
 */
import { el, svg } from './dom.js';

const WIDTH = 520, HEIGHT = 132, SIDE = 8, TOP = 24, BOTTOM = 24; /* of the drawing's plane */
const FEW = 60; /* more points are a line without dots */

/* Columns and heights of 0 to 1000 become places. */
function planeOf({ points }) {
  const step = (WIDTH - 2 * SIDE) / points.length;
  return { x: (column) => SIDE + column * step, point: (i) => SIDE + (i + 0.5) * step,
    y: (height) => HEIGHT - BOTTOM - (height / 1000) * (HEIGHT - TOP - BOTTOM) };
}

const path = (kind, ...places) => svg('path', { class: kind,
  d: places.map(([x, y], i) => `${i ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`).join('') });

/* The level before, and the one since; of a drift one line. */
function levels({ from, at, to, before, after }, { x, y }) {
  if (!at)
    return path('since', [x(from), y(before)], [x(to), y(after)]);
  return [path('before', [x(from), y(before)], [x(at), y(before)]),
    path('since', [x(at), y(after)], [x(to), y(after)]),
    path('step', [x(at), 4], [x(at), HEIGHT - 4])];
}

function series({ points, at, apart }, { point, y }) {
  const last = points.length - 1;
  const dot = (height, i) => svg('circle', { cx: point(i).toFixed(1), cy: y(height).toFixed(1),
    r: i === last ? 4 : 2.5, class: i === last || (at && i >= at) ? 'since' : 'before' });
  return [apart ? null : path('median', ...points.map((height, i) => [point(i), y(height)])),
    points.map((height, i) => (i === last || points.length <= FEW ? dot(height, i) : null))];
}

const LETTER = 9; /* about as wide, on the plane */

/* Words of a level, over or under all that is drawn on its side of the step; where that side is too
 * narrow for them, on the other side of the step's line, so that it strikes nothing through. */
function levelText(line, { x, y }, since) {
  const { points, from, at, to, before, after } = line, half = Math.max(1, points.length >> 1);
  const [begin, end] = at ? (since ? [at, to] : [from, at]) : (since ? [half, to] : [from, half]);
  const level = since ? after : before, above = (after > before) === since;
  const heights = [...points.slice(begin, end), level].map(y);
  const words = since ? line.after_text : line.before_text;
  const over = at && x(end) - x(begin) < words.length * LETTER; /* the line */
  return svg('text', { class: since ? 'since' : null,
    x: over ? x(at) + (since ? -6 : 6) : since ? x(to) - 2 : x(from) + 2,
    y: above ? Math.min(...heights) - 8 : Math.max(...heights) + 18,
    'text-anchor': since ? 'end' : 'start' }, words);
}

/**
 * @param {object} line  as step_line.h says
 * @param {'worse'|'better'|'settled'} tone
 * @returns {Element} it says nothing that the words beside it do not
 */
export function stepFigure(line, tone) {
  const plane = planeOf(line), foot = (words) => el('span', {}, words);
  return el('figure', { class: `step-figure ${tone}` },
    svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, 'aria-hidden': 'true', focusable: 'false' },
      series(line, plane), levels(line, plane), line.before_text ? levelText(line, plane, false) : null,
      levelText(line, plane, true)),
    el('figcaption', {}, foot(line.first), line.middle ? foot(line.middle) : null, foot(line.last)));
}
