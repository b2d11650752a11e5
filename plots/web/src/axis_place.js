/* SPDX-License-Identifier: MIT */
/*
 * Where a number stands along an axis: on a straight scale at itself, on a logarithmic one at its
 * power of ten, on one of nines a share s at -log10(1 - s), so that 90 %, 99 % and 99.9 % stand one
 * step apart (AXIS_NINES in harness/figure/figure.h).
 */

/* What is so near to everything has no place of its own. */
const NEAREST = 1e-12;

/** @param {object} axis  of a specification @param {number} value  in its numbers */
export function toPlace(axis, value) {
  if (axis.scale === 'log')
    return Math.log10(value);
  return axis.scale === 'nines' ? 0 - Math.log10(Math.max(1 - value * (axis.factor ?? 1), NEAREST))
    : value;
}

/** The number at a place. */
export function toNumber(axis, place) {
  if (axis.scale === 'log')
    return 10 ** place;
  return axis.scale === 'nines' ? (1 - 10 ** -place) / (axis.factor ?? 1) : place;
}

/** Numbers as Plotly takes them as data and ticks: of scales it knows as they are. */
export function toData(axis, values) {
  return axis.scale !== 'nines' ? values
    : values.map((value) => (typeof value === 'number' ? toPlace(axis, value) : value));
}
