/* SPDX-License-Identifier: MIT */
/* Arithmetic over samples; the same definitions as harness/stats/stats.h. */

/** @param {number[]} values @returns {number[]} the finite ones, sorted */
export function sorted(values) {
  return Float64Array.from(values.filter(Number.isFinite)).sort();
}

/** Hyndman and Fan's type 7: linear between order statistics. NaN of nothing. */
export function quantile(ordered, p) {
  if (ordered.length === 0)
    return NaN;
  const at = p * (ordered.length - 1);
  const below = Math.floor(at);
  const above = Math.min(below + 1, ordered.length - 1);
  return ordered[below] + (at - below) * (ordered[above] - ordered[below]);
}

export function median(values) {
  return quantile(sorted(values), 0.5);
}

/** Of a sample; null of fewer than two. */
export function deviation(values) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return values.length < 2 ? null : Math.sqrt(values.reduce((sum, value) =>
    sum + (value - mean) ** 2, 0) / (values.length - 1));
}

/** The median of the `window` values that end at each place; null until there are that many. */
export function rollingMedian(values, window) {
  return values.map((_, i) => (i + 1 < window ? null
    : median(values.slice(i + 1 - window, i + 1))));
}

/**
 * At most `most` of the points of a series, the smallest and the largest of each column kept, so
 * that outliers survive. @returns {number[]} indices, ascending
 */
export function thin(values, most) {
  if (values.length <= most)
    return values.map((_, i) => i);
  const columns = Math.max(1, Math.floor(most / 2));
  const kept = new Set();
  for (let column = 0; column < columns; column++) {
    const begin = Math.floor(column * values.length / columns);
    const end = Math.floor((column + 1) * values.length / columns);
    let low = begin, high = begin;
    for (let i = begin; i < end; i++) {
      low = values[i] < values[low] ? i : low;
      high = values[i] > values[high] ? i : high;
    }
    kept.add(low).add(high);
  }
  return [...kept].sort((a, b) => a - b);
}
