/* SPDX-License-Identifier: MIT */
/*
 * What figures of raw samples share: which benchmarks, and as what a sample is drawn; the rules are
 * those of harness/chart/base/chart_samples.h. Quantiles come from the table, which knows all samples;
 * shapes from the samples that the page has.
 */
import { absentItems, distinct, figureFor, groupOf, itemsOf, limitItems, measure, medianOf,
  several, styleNr } from './chart.js';
import { absent } from './spec.js';
import { quantile, sorted } from './stats.js';
import { quantityText } from './words.js';

const FAR = 4, WIDE = 10, GROUPS_MAX = 4, LEAST = 5;
export const STRIP = 30;

const COLUMNS = { 0: 'min', 0.05: 'p5', 0.25: 'p25', 0.5: 'p50', 0.75: 'p75', 0.9: 'p90',
  0.95: 'p95', 0.99: 'p99', 1: 'max' };

/* A quantile of an item's times, ns. */
function timeQuantile(chart, item, p) {
  const column = chart.table.columns[COLUMNS[Number(p.toFixed(6))]];
  if (column && Number.isFinite(column[item.row.at] ?? NaN))
    return column[item.row.at];
  return item.ordered ? quantile(item.ordered, p) : NaN;
}

/* Of several runs: one benchmark's rows beside each other. */
function inReadingOrder(items) {
  const benches = [...new Set(items.map((item) => item.bench))];
  const place = new Map(benches.map((bench, i) => [bench, i]));
  return [...items].sort((a, b) => place.get(a.bench) - place.get(b.bench) || a.nth - b.nth);
}

/* Several runs of a benchmark are measured by the first of them. */
function referenceOf(set, item) {
  return medianOf(set.chart, set.items.find((one) => one.bench === item.bench) || item);
}

/** The function from ns to a value in the measure's base unit. */
function unitOf(set, item) {
  if (set.relative) {
    const reference = referenceOf(set, item);
    return set.rate ? (ns) => (ns > 0 ? reference / ns : NaN) : (ns) => ns / reference;
  }
  if (!set.rate)
    return (ns) => ns;
  const atOne = set.of.of(item.row) * medianOf(set.chart, item);
  return (ns) => (ns > 0 ? atOne / ns : NaN);
}

/** The p-th quantile of an item's values. */
export function valueQuantile(set, item, p) {
  return unitOf(set, item)(timeQuantile(set.chart, item, set.rate ? 1 - p : p));
}

/** The median in words of the metric, whether values are drawn as they are or as multiples of it. */
export const medianText = (set, item) => (set.rate
  ? quantityText(set.of.quantity, set.of.base, set.of.of(item.row))
  : quantityText('time', '', medianOf(set.chart, item)));

/** All values that the page has of an item, ascending. */
export function valuesOf(set, item) {
  const of = unitOf(set, item);
  return sorted([...(item.ordered || [])].map(of));
}

/** A launch's values in the order measured. */
export function launchesOf(set, item) {
  const of = unitOf(set, item);
  return (item.samples?.launches || []).map((launch) => launch.map(of));
}

/** Width of p5 to p95 over the median. */
export function spreadWidth(set, item) {
  const at = (p) => timeQuantile(set.chart, item, p);
  return (at(0.95) - at(0.05)) / at(0.5);
}

/** The item with the widest p5 to p95. */
export function widestOf(set) {
  return set.items.reduce((best, item) =>
    (spreadWidth(set, item) > spreadWidth(set, best) ? item : best));
}

function spansFar(set, items) {
  const medians = items.map((item) => valueQuantile(set, item, 0.5));
  return items.length > 1 && Math.max(...medians) > FAR * Math.min(...medians);
}

async function loadSamples(chart, items) {
  await Promise.all(items.map(async (item) => {
    item.samples = await chart.samples(item.run, item.row.benchmark);
    item.ordered = item.samples ? sorted(item.samples.launches.flat()) : null;
  }));
}

function groupsOf(chart, items) {
  const group = chart.preset.group || (several(chart) ? 'run' : 'variant');
  const names = distinct(items, (item) => groupOf(chart, group, item));
  if (names.length < 2 || names.length > GROUPS_MAX)
    return { names: [], styles: [0], of: () => 0 };
  return { names, styles: names.map((name, nth) => styleNr(chart, group, name, nth)), of: (item) => names.indexOf(groupOf(chart, group, item)) };
}

/**
 * @param {"auto"|"linear"|"log"} scale  the preset's choice for the axis of the values
 * @param {function} weight  (set, item) → number: the heaviest stay
 * @returns {Promise<{figure}|object>} a figure that says why there is none, or the set: { chart,
 *   items, of, rate, relative, groups, all }
 */
export async function sampleSet(chart, { scale, limit, weight, needed }) {
  const of = measure(chart, chart.preset.y || 'p50');
  if (of.kind !== 'latency' && of.kind !== 'rate')
    return { figure: absent(figureFor(chart), `${of.label} is neither a latency nor a rate of samples.`) };
  const timed = itemsOf(chart);
  const set = { chart, of, rate: of.kind === 'rate' };
  const usable = inReadingOrder(timed.filter((item) => medianOf(chart, item) > 0
    && item.row.n >= LEAST && Number.isFinite(set.rate ? of.of(item.row) : 0)));
  set.few = timed.filter((item) => medianOf(chart, item) > 0 && item.row.n < LEAST).length;
  if (usable.length === 0)
    return { figure: timed.length === 0 ? absentItems(chart) : absent(figureFor(chart), set.few
      ? `No benchmark has ${LEAST} samples or more: there is no distribution to draw.`
      : `${of.label} does not apply to any of the ${timed.length} benchmarks with a time.`) };
  set.relative = (scale || 'auto') === 'auto' && spansFar(set, usable);
  set.items = limitItems(chart, usable, limit, (item) => weight(set, item));
  set.all = usable.length;
  await loadSamples(chart, set.items);
  set.without = set.items.filter((item) => !item.ordered).length;
  if (needed)
    set.items = set.items.filter((item) => item.ordered?.length > 0);
  set.groups = groupsOf(chart, set.items);
  return set.items.length ? set : { figure: absent(figureFor(chart),
    'The samples of these runs are not in this file; the program that wrote it has them.') };
}

/** "latency", "latency / median", "token rate" */
function valueLabel(set) {
  if (set.rate)
    return set.relative ? 'rate / median' : set.of.label;
  return set.relative ? 'latency / median' : 'latency';
}

/** An axis of values that reach from low to high, with some room at both ends. */
export function valueAxis(set, axis, label, scale, low, high) {
  const log = low > 0 && (scale === 'log' || ((scale || 'auto') === 'auto' && high > WIDE * low));
  Object.assign(axis, { label: label || valueLabel(set), scale: log ? 'log' : 'linear',
    quantity: set.relative ? 'plain' : set.of.quantity, base: set.relative ? '' : set.of.base });
  const room = log ? (high / low) ** 0.04 * 1.01
    : high > low ? 0.04 * (high - low) : Math.max(0.02 * Math.abs(high), 1e-9);
  axis.low = log ? low / room : low >= 0 ? Math.max(low - room, 0) : low - room;
  axis.high = log ? high * room : high + room;
}

/** What is worth saying about all figures of samples. */
export function samplesWords(set) {
  const thinned = set.items.filter((item) => item.samples && item.samples.of > item.samples.kept);
  return [
    set.relative ? `Values are multiples of each benchmark's own median${several(set.chart)
      ? ' in its first run here' : ''}, because the medians lie more than ${FAR} times apart.` : '',
    set.few ? `${set.few} with fewer than ${LEAST} samples ${set.few === 1 ? 'is' : 'are'} not shown.` : '',
    set.without ? `Of ${set.without} the samples are not in this file.` : '',
    thinned.length ? `Of ${thinned.length} this file has an even part of the samples alone.` : '',
  ].filter(Boolean).join(' ');
}
