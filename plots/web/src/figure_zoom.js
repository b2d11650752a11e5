/* SPDX-License-Identifier: MIT */
/* The reader's ranges of a figure's axes: { "<panel>.<x or y>": [low, high] }, in its numbers. */
import { toNumber, toPlace } from './axis_place.js';

const SIDES = ['x', 'y'];
const key = (index, side) => `${side}axis${index ? index + 1 : ''}`;

/**
 * What an event of Plotly says about ranges.
 * @param {object} change  of plotly_relayout
 * @returns {?object} null where it says nothing
 */
export function rangesOf(spec, change) {
  const ranges = {};
  spec.panels.forEach((panel, index) => SIDES.forEach((side) => {
    const name = `${key(index, side)}.range`;
    const range = change[name] || [change[`${name}[0]`], change[`${name}[1]`]];
    if (range.every((end) => typeof end === 'number'))
      ranges[`${index}.${side}`] = range.map((end) => toNumber(panel[side], end))
        .sort((a, b) => a - b);
  }));
  return Object.keys(ranges).length > 0 ? ranges : null;
}

/** All axes of numbers zoomed about their middle. @param {number} factor  0.5: half the range */
export function scaleRanges(spec, ranges, factor) {
  const scaled = { ...ranges };
  spec.panels.forEach((panel, index) => SIDES.forEach((side) => {
    const axis = panel[side];
    if (axis.scale === 'category')
      return;
    const [low, high] = (ranges[`${index}.${side}`] || [axis.low, axis.high])
      .map((value) => toPlace(axis, value));
    const middle = (low + high) / 2, half = (high - low) / 2 * factor;
    scaled[`${index}.${side}`] = [middle - half, middle + half].map((at) => toNumber(axis, at));
  }));
  return scaled;
}
