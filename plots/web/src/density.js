/* SPDX-License-Identifier: MIT */
/*
 * Shapes of distributions: kernel density and cumulative curve, by the methods and with the limits
 * that harness/metrics/density.h states, so that a violin of the page is that of the picture.
 */
import { quantile } from './stats.js';

const BINS = 512, EACH = 48, REACH = 5;

/* Samples on a grid; one between two bins belongs to both, more to the nearer. */
function binned(ordered) {
  const nr = ordered.length, low = ordered[0];
  const step = (ordered[nr - 1] - low) / (BINS - 1);
  const counts = new Float64Array(BINS);
  for (const value of ordered) {
    const at = (value - low) / step;
    const bin = Math.min(Math.floor(at), BINS - 2);
    counts[bin] += 1 - (at - bin);
    counts[bin + 1] += at - bin;
  }
  return { low, step, counts, n: nr };
}

/* How many ordered pairs lie so many bins apart. */
function pairsOf(counts) {
  const pairs = new Float64Array(BINS);
  for (let apart = 0; apart < BINS; apart++) {
    let sum = 0;
    for (let i = 0; i + apart < BINS; i++)
      sum += counts[i] * counts[i + apart];
    pairs[apart] = apart ? 2 * sum : sum;
  }
  return pairs;
}

/* The normal density times its Hermite polynomial of that even order. */
function derivative(order, x) {
  const s = x * x;
  const polynomial = order === 4 ? (s - 6) * s + 3 : ((s - 15) * s + 45) * s - 15;
  return Math.exp(-s / 2) / Math.sqrt(2 * Math.PI) * polynomial;
}

function functional(b, pairs, order, g) {
  let sum = 0;
  for (let i = 0; i < BINS; i++)
    sum += pairs[i] * derivative(order, i * b.step / g);
  return sum / (b.n * b.n * g ** (order + 1));
}

const pilot = (b, order, higher) => (-2 * derivative(order, 0) / (higher * b.n)) ** (1 / (order + 3));

/* The two-stage plug-in of Sheather and Jones. */
function plugIn(b, scale) {
  const pairs = pairsOf(b.counts);
  const psi8 = 105 / (32 * Math.sqrt(Math.PI) * scale ** 9);
  const psi6 = functional(b, pairs, 6, pilot(b, 6, psi8));
  const psi4 = functional(b, pairs, 4, pilot(b, 4, psi6));
  return (1 / (2 * Math.sqrt(Math.PI) * psi4 * b.n)) ** 0.2;
}

function deviation(ordered) {
  const mean = ordered.reduce((sum, value) => sum + value, 0) / ordered.length;
  const squares = ordered.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt(squares / (ordered.length - 1));
}

function scaleOf(ordered) {
  const quartiles = quantile(ordered, 0.75) - quantile(ordered, 0.25);
  const sd = deviation(ordered);
  return quartiles > 0 ? Math.min(sd, quartiles / 1.349) : sd;
}

/* The least difference between neighbours: a step of a coarse clock. */
function leastStep(ordered) {
  let least = Infinity;
  for (let i = 1; i < ordered.length; i++)
    if (ordered[i] > ordered[i - 1])
      least = Math.min(least, ordered[i] - ordered[i - 1]);
  return least;
}

function bandwidthOf(b, ordered) {
  const scale = scaleOf(ordered);
  const wanted = plugIn(b, scale);
  const usable = Number.isFinite(wanted) && wanted > 0 ? wanted : 0.9 * scale * b.n ** -0.2;
  return Math.max(usable, 0.75 * leastStep(ordered), b.step);
}

/* Sum of the kernels at x; what would lie below the fastest sample is folded back. */
function valueAt(b, x, h) {
  const above = (x - b.low) / b.step, reach = REACH * h / b.step;
  let sum = 0;
  for (let i = above > reach ? Math.floor(above - reach) : 0; i < BINS && i <= above + reach; i++) {
    const here = (above - i) * b.step / h, folded = (above + i) * b.step / h;
    sum += b.counts[i] * (Math.exp(-here * here / 2) + Math.exp(-folded * folded / 2));
  }
  return sum / (h * Math.sqrt(2 * Math.PI));
}

/* Half of the points on an even grid, half at quantiles, so that a narrow body beside a long tail has
 * a shape. */
function placesOf(part, top) {
  const shares = Array.from({ length: EACH }, (_, i) => i / (EACH - 1));
  return [...new Set(shares.flatMap((share) => [part[0] + (top - part[0]) * share,
    quantile(part, share)]))].sort((a, b) => a - b);
}

function within(ordered, low, high) {
  return ordered.filter((value) => value >= low && value <= high);
}

/**
 * @param {Float64Array} ordered  samples, ascending
 * @returns {{at: number[], value: number[], highest: number}|null} null where there is no shape
 */
export function density(ordered, low = -Infinity, high = Infinity) {
  const part = within(ordered, low, high);
  const last = part[part.length - 1];
  if (part.length < 2 || !(last > part[0]))
    return null;
  const b = binned(part);
  const h = bandwidthOf(b, part);
  const top = Math.min(Math.max(high, last), last + 3 * h);
  const at = placesOf(part, top);
  const value = at.map((x) => valueAt(b, x, h) / ordered.length);
  return { at, value, highest: Math.max(...value) };
}

/** At most `most` steps of the share of samples at or below each; both ends are among them. */
export function ecdf(ordered, most = 400, low = -Infinity, high = Infinity) {
  const part = within(ordered, low, high);
  const below = ordered.filter((value) => value < low).length;
  const half = (most - 2) / 2, width = part[part.length - 1] - part[0];
  const x = [], y = [];
  part.forEach((value, i) => {
    const share = (below + i + 1) / ordered.length, last = i + 1 === part.length;
    if (!last && part[i + 1] === value)
      return;
    if (x.length && !last && share - y[y.length - 1] < 1 / half
      && value - x[x.length - 1] < width / half)
      return;
    x.push(value);
    y.push(share);
  });
  return { x, y };
}
