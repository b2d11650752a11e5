/* SPDX-License-Identifier: MIT */
/*
 * What the figures that the page makes itself have in common: which benchmarks of which runs,
 * their names and values. The rules are those of harness/chart/chart.h.
 *
 * A chart is { preset, core, table, rows, runs, samples }: `rows` those that the filter takes,
 * `runs` indices into core.runs in the order asked for, `samples(run, benchmark)` a promise. With
 * `oneFrame` the panels of series have one range.
 */
import { labelsOf, commonOf } from './labels.js';
import { measureOf, spreadOf } from './data.js';
import { presetTakes } from './glob.js';
import { figureOf, absent, HUES } from './spec.js';
import { quantityText, timestampText } from './words.js';

const ROWS_MAX = 64;
const WORDS = ['kernel', 'variant', 'math', 'device', 'cache', 'model', 'run'];

const listOf = (value) => (value === undefined ? [] : [].concat(value));

export const several = (chart) => chart.runs.length > 1;

/** Rows of the chart's runs, in their order, that the preset takes and that have a time. */
export function itemsOf(chart) {
  const filter = listOf(chart.preset.filter);
  const taken = chart.rows.filter((row) =>
    presetTakes(filter, chart.core.benchmarks[row.benchmark].key));
  const items = chart.runs.flatMap((run, nth) => taken.filter((row) => row.run === run && row.n > 0)
    .map((row) => ({ row, run, nth, bench: chart.core.benchmarks[row.benchmark],
      uuid: chart.core.runs[run].uuid })));
  return nameItems(chart, inOrderOfModels(items));
}

/* Models are read from the small to the large, not by alphabet; all else stays where it is. */
function inOrderOfModels(items) {
  const models = items.filter((item) => item.bench.model)
    .sort((a, b) => a.bench.parameters - b.bench.parameters);
  return items.map((item) => (item.bench.model ? models.shift() : item));
}

/** Gives items their labels: what differs, and the run's name where there are several. */
function nameItems(chart, items) {
  const benches = [...new Set(items.map((item) => item.bench))];
  const own = new Map(labelsOf(benches).map((label, i) => [benches[i], label]));
  for (const item of items) {
    item.own = own.get(item.bench);
    const run = chart.core.runs[item.run].name;
    item.label = !several(chart) ? item.own : benches.length > 1 ? `${item.own} · ${run}` : run;
  }
  return items;
}

/** A measure of the chart's data by its name in the preset. @throws {ExpressionError} */
export function measure(chart, text) {
  return measureOf(chart.core, chart.table, text);
}

export function valueText(of, value) {
  return quantityText(of.quantity, of.base, value);
}

/** Value and p5 to p95 of an item. */
export function valueOf(chart, of, item) {
  return { value: of.of(item.row), ...spreadOf(chart.core, chart.table, of, item.row) };
}

/** "linear" or "log": as the preset says, or log where values span more than 50 times. */
export function scaleOf(choice, values) {
  const real = values.filter(Number.isFinite);
  const low = Math.min(...real), high = Math.max(...real);
  if (choice === 'linear' || !(low > 0))
    return 'linear';
  return choice === 'log' || high > 50 * low ? 'log' : 'linear';
}

export function limitOf(chart, otherwise) {
  return Math.min(chart.preset.limit || otherwise, ROWS_MAX);
}

/* Of one benchmark all runs go or stay. */
function candidatesOf(items, weight) {
  const candidates = new Map();
  for (const item of items) {
    const one = candidates.get(item.bench) || { bench: item.bench, weight: -Infinity, nr: 0 };
    one.weight = Math.max(one.weight, weight(item));
    one.nr++;
    candidates.set(item.bench, one);
  }
  return [...candidates.values()];
}

function lightest(candidates) {
  const siblings = (one) => candidates.filter((other) => other.bench.kernel === one.bench.kernel)
    .length;
  const counted = candidates.map((one) => ({ one, siblings: siblings(one) }));
  return counted.reduce((best, next) => (next.siblings > best.siblings
    || (next.siblings === best.siblings && next.one.weight < best.one.weight) ? next : best)).one;
}

/** Keeps `limit` items in their order: the lightest go first, from the kernel that has most left. */
export function limitItems(chart, items, limit, weight) {
  let candidates = candidatesOf(items, weight), left = items.length;
  const gone = new Set();
  while (left > limit && candidates.length > 1) {
    const one = lightest(candidates);
    gone.add(one.bench);
    left -= one.nr;
    candidates = candidates.filter((other) => other !== one);
  }
  return gone.size ? nameItems(chart, items.filter((item) => !gone.has(item.bench))) : items;
}

export function medianOf(chart, item) {
  return chart.table.columns.p50?.[item.row.at] ?? NaN;
}

/** FLOPs, else bytes, else the median: all variants of the largest size come before a slow one of each.
 * The table has them as rates of five digits, so equal work is equal to four. */
export function workOf(chart) {
  const { columns } = chart.table;
  return (item) => {
    const median = medianOf(chart, item);
    const rate = ['gflops', 'gbs'].map((name) => columns[name]?.[item.row.at]).find((one) => one > 0);
    return rate ? Number((rate * median).toPrecision(4)) : median;
  };
}

/** The text by which a preset's "group" tells items apart. */
export function groupOf(chart, group, item) {
  const { bench } = item;
  if (group === 'run')
    return chart.core.runs[item.run].name;
  if (group === 'model')
    return bench.model ?? bench.kernel;
  if (WORDS.includes(group))
    return bench[group];
  return group in bench.dims ? `${group}=${bench.dims[group]}` : `${group} n/a`;
}

/**
 * Which style a group has: a variant the same one in every figure of the runs, as long as these have
 * no more variants than there are hues; anything else its place among the groups.
 */
export function styleNr(chart, group, value, nth) {
  if (group !== 'variant')
    return nth;
  const { run, benchmark } = chart.table;
  const variants = [...new Set(benchmark.filter((_, at) => chart.runs.includes(run[at]))
    .map((one) => chart.core.benchmarks[one].variant))].sort();
  return variants.length <= HUES.length && variants.includes(value) ? variants.indexOf(value) : nth;
}

/** The distinct texts of some items in the order of first use. */
export function distinct(items, textOf) {
  return [...new Set(items.map(textOf))];
}

const machineOf = ({ machine }) => machine?.gpu || machine?.cpu || '';

function runText(run) {
  const { commit, dirty, started_ms: started } = run;
  return [machineOf(run), commit ? `commit ${commit.slice(0, 9)}${dirty ? ' (dirty)' : ''}` : '',
    timestampText(started)];
}

/* The machine, if it is one; names, if they are few. */
function runsText(runs) {
  const machines = new Set(runs.map(machineOf));
  let names = '';
  const length = runs.reduce((sum, run) => sum + run.name.length + 2, 0);
  if (length < 90)
    names = `: ${runs.map((run) => run.name).join(', ')}`;
  return [machines.size === 1 ? machineOf(runs[0]) : '', `${runs.length} runs${names}`];
}

/** What all items share, and the run or runs. */
export function subtitleOf(chart, items) {
  const benches = [...new Set(items.map((item) => item.bench))];
  const common = items.length > 1 ? commonOf(benches) : '';
  const runs = chart.runs.map((run) => chart.core.runs[run]);
  return [common, ...(several(chart) ? runsText(runs) : runText(runs[0]))].filter(Boolean)
    .join('  ·  ');
}

/** "Without a time, so not shown: 2 WRONG." */
function outcomesText(chart) {
  const absentRows = chart.rows.filter((row) => chart.runs.includes(row.run) && !(row.n > 0)
    && presetTakes(listOf(chart.preset.filter), chart.core.benchmarks[row.benchmark].key));
  const counts = ['UNSUPPORTED', 'WRONG', 'FAILED']
    .map((outcome) => [absentRows.filter((row) => row.outcome === outcome).length, outcome])
    .filter(([nr]) => nr > 0);
  return counts.length
    ? `Without a time, so not shown: ${counts.map((one) => one.join(' ')).join(', ')}.` : '';
}

/** How to read it, what was left out, what has no time. */
export function captionOf(chart, how, shown, of, which) {
  const { runs, runsLeftOut } = chart;
  return [how, of > shown ? `Showing ${shown} of ${of}: ${which}.` : '', runsLeftOut
    ? `Of ${runs.length + runsLeftOut} runs the last ${runs.length}.` : '', outcomesText(chart)]
    .filter(Boolean).join(' ');
}

export function figureFor(chart) {
  const { preset } = chart;
  const figure = figureOf(preset.name || 'view', preset.title || 'View');
  figure.legend = preset.show_legend !== false;
  return figure;
}

/** The reason for an empty set of items. */
export function absentItems(chart) {
  const outcomes = outcomesText(chart);
  const runs = several(chart) ? 'the runs' : 'the run';
  return absent(figureFor(chart), outcomes ? `No benchmark has a time. ${outcomes}`
    : `No benchmark of ${runs} matches the filter.`);
}
