/* SPDX-License-Identifier: MIT */
/* Benchmarks of one run that differ in one or two dims alone: the lines of a scaling plot, the
 * cells of a heatmap (harness/chart/base/chart_family.c). */
import { several } from './chart.js';
import { labelsOf } from './labels.js';

function withoutDims(bench, dims) {
  const rest = Object.fromEntries(Object.entries(bench.dims).filter(([name]) => !dims.includes(name)));
  const { kernel, variant, math, device, cache } = bench;
  const key = [kernel, variant, math, JSON.stringify(rest), device, cache].join('/');
  return { kernel, variant, math, device, cache, dims: rest, key };
}

/** Items that lack a dim are in no family. @returns {{bench, run, items, label, own}[]} */
export function familiesOf(chart, items, dims) {
  const families = new Map();
  for (const item of items.filter((one) => dims.every((dim) => dim in one.bench.dims))) {
    const bench = withoutDims(item.bench, dims), key = `${item.nth} ${bench.key}`;
    if (!families.has(key))
      families.set(key, { bench, run: item.run, items: [] });
    families.get(key).items.push(item);
  }
  return named(chart, [...families.values()]);
}

/** Names families by what tells them apart. @returns {object[]} the same ones */
export function named(chart, families) {
  const labels = labelsOf(families.map((one) => one.bench));
  families.forEach((one, i) => {
    one.own = labels[i];
    one.label = several(chart) ? `${labels[i]} · ${chart.core.runs[one.run].name}` : labels[i];
  });
  return families;
}

/** Sorted distinct values of a dim. */
export function dimValues(items, dim) {
  return [...new Set(items.map((item) => item.bench.dims[dim]))].sort((a, b) => a - b);
}

const sumOfDims = (family) => Object.values(family.bench.dims).reduce((sum, one) => sum + one, 0);

function goodness(family, of) {
  const logs = family.items.map((item) => Math.log(of.of(item.row)));
  const mean = logs.reduce((sum, one) => sum + one, 0) / logs.length;
  return of.direction === 'lower' ? -mean : mean;
}

/* Positive where a is shown before b. */
function ahead(a, b, of) {
  return a.items.length - b.items.length || sumOfDims(a) - sumOfDims(b)
    || goodness(a, of) - goodness(b, of) || 0;
}

/** In a crowd one family a kernel and run is shown: that with most members, then the largest other
 * dims, then the best values. */
export function leads(families, nth, of) {
  const own = families[nth];
  return families.every((other, i) => {
    if (i === nth || other.run !== own.run || other.bench.kernel !== own.bench.kernel)
      return true;
    const far = ahead(other, own, of);
    return !(far > 0 || (far === 0 && i < nth));
  });
}
