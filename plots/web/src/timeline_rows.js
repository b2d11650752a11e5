/* SPDX-License-Identifier: MIT */
/*
 * Rows of slices on a canvas. What has a pixel of its own is a block with its name; what has not is
 * drawn a pixel at a time, as dark as that pixel's time is covered and in the colour of the slice in
 * its middle. So a drawing costs what there are pixels, however many slices there are.
 */
import { firstWhere, shownAt } from './trace_columns.js';

const LEAST_SHADE = 0.25, DIM = 0.25;

/**
 * What is to be drawn of a row.
 * @param {object} trace  see TraceColumns @param {object} row  one of a lane's
 * @param {object} scale  { from, to: µs, perPixel: µs, x: function of µs }
 * @param {function(number, number, number, number)} block  called with a slice, its left edge and
 *   width in pixels, and a shade up to 1
 */
export function rowBlocks(trace, row, { from, to, perPixel, x }, block) {
  const { items, covered, nr } = row, { start, duration } = trace;
  const endOf = (k) => start[items[k]] + duration[items[k]];
  let k = firstWhere(0, nr, (at) => endOf(at) > from);
  while (k < nr && start[items[k]] < to) {
    if (duration[items[k]] >= perPixel) {
      const left = Math.max(from, start[items[k]]);
      block(items[k], x(left), (Math.min(to, endOf(k)) - left) / perPixel, 1);
      k++;
      continue;
    }
    const pixel = Math.floor((start[items[k]] - from) / perPixel), edge = from + (pixel + 1) * perPixel;
    let next = firstAfter(start, items, k, nr, edge);
    if (next > k + 1 && duration[items[next - 1]] >= perPixel)
      next--;
    block(items[(k + next) >> 1], x(edge - perPixel), 1,
      Math.min(1, LEAST_SHADE + (covered[next] - covered[k]) / perPixel));
    k = next;
  }
}

/* The first behind `k` that starts at `edge` or later: by steps that double, then by halving. */
function firstAfter(start, items, k, nr, edge) {
  let step = 1;
  while (k + step < nr && start[items[k + step]] < edge)
    step *= 2;
  return firstWhere(k + 1 + (step >> 1), Math.min(nr, k + step), (at) => start[items[at]] >= edge);
}

/** The slice of a row at a time, or the nearest within `reach` µs; -1: none. */
export function sliceAt(trace, row, us, reach) {
  const { items, nr } = row, { start, duration } = trace;
  const after = firstWhere(0, nr, (at) => start[items[at]] > us);
  const distance = (k) => (k < 0 || k >= nr ? Infinity
    : Math.max(0, start[items[k]] - us, us - start[items[k]] - duration[items[k]]));
  const best = distance(after - 1) <= distance(after) ? after - 1 : after;
  return distance(best) <= reach ? items[best] : -1;
}

/**
 * The slice at about the time of `i` in the next lane down (1) or up (-1) that has any: those of
 * moments alone, or of what was switched off, have none. `i` itself where there is no such lane.
 */
export function sliceBeside(trace, i, down) {
  const { lanes, lane, start } = trace;
  let next = lane[i] + down;
  while (lanes[next]?.nr === 0)
    next += down;
  if (!lanes[next])
    return i;
  const { first, nr } = lanes[next], at = start[i];
  const after = firstWhere(first, first + nr, (k) => start[k] > at), before = Math.max(first, after - 1);
  return after < first + nr && start[after] - at < Math.abs(at - start[before]) ? after : before;
}

/** A canvas of so many pixels, sharp on screens with more of them. @returns {CanvasRenderingContext2D} */
export function sizedContext(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1, context = canvas.getContext('2d');
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/**
 * Draws one row.
 * @param {object} look  top, height: pixels; tone(slice): { fill, ink }; isDim(slice);
 *   words(name, width): what fits, or null
 * @returns {{blocks: number, dim: number}} how many were drawn
 */
export function drawRow(context, trace, row, scale, { top, height, tone, isDim, words }) {
  const done = { blocks: 0, dim: 0 };
  rowBlocks(trace, row, scale, (slice, left, width, shade) => {
    const { fill, ink } = tone(slice), dim = isDim(slice);
    context.globalAlpha = (dim ? DIM : 1) * shade;
    context.fillStyle = fill;
    context.fillRect(left, top, width > 3 ? width - 0.5 : width, height);
    const name = width > 12 ? words(shownAt(trace, slice), width) : null;
    if (name) {
      context.fillStyle = ink;
      context.fillText(name, left + 3, top + height - 5);
    }
    done.blocks++;
    done.dim += dim;
  });
  context.globalAlpha = 1;
  return done;
}
