/* SPDX-License-Identifier: MIT */
/*
 * The page's numbers: one row a benchmark of a run. A metric or a dim has a value in each row, in the base
 * unit of its quantity (ns, FLOP/s, a fraction).
 */
import { parseFilter } from './filter.js';

/** @param {object} core @param {string} id */
export function metricOf(core, id) {
  return core.metrics.find((metric) => metric.id === id) || null;
}

/** Names of all dims that some benchmark has. */
export function dimsOf(core) {
  return [...new Set(core.benchmarks.flatMap((one) => Object.keys(one.dims)))];
}

/**
 * @param {object} core @param {object} table  see docs/formats/page.md
 * @returns {object[]} rows: { at, run, benchmark, launches, outcome, n }
 */
export function rowsOf(core, table) {
  return table.run.map((run, at) => ({
    at, run, benchmark: table.benchmark[at], launches: table.launches[at],
    outcome: table.outcome[at], n: table.n[at],
  }));
}

/* A benchmark's first value stands there as it is, all others as whole steps of its fifth digit; a text
 * is the value itself, too far from the first for that. */
function readColumn(column, benchmark) {
  const firsts = new Map();
  return column.map((cell, at) => {
    const first = firsts.get(benchmark[at]);
    if (cell && !first)
      firsts.set(benchmark[at], { value: cell, step: Number(cell.toExponential().split('e')[1]) - 4 });
    if (cell === null || !first)
      return cell;
    return typeof cell === 'string' ? Number(cell)
      : Number((first.value + Number(`${cell}e${first.step}`)).toPrecision(5));
  });
}

/** The table with its values, of the block as it is packed (harness/page/page_table.c). */
export function readTable(table) {
  return { ...table, columns: Object.fromEntries(Object.entries(table.columns)
    .map(([id, column]) => [id, readColumn(column, table.benchmark)])) };
}

/** The rows of some runs. */
export function rowsOfRuns(rows, runs) {
  const wanted = new Set(runs);
  return rows.filter((row) => wanted.has(row.run));
}

/* What each field of a filter is in a row. */
function fieldOf(core, row, name) {
  const run = core.runs[row.run], benchmark = core.benchmarks[row.benchmark];
  switch (name) {
  case 'key': case 'kernel': case 'variant': case 'math': case 'device': case 'cache':
  case 'fill':
    return benchmark[name];
  case 'outcome':
    return row.outcome;
  case 'run': case 'id':
    return run.id;
  case 'machine':
    return run.machine?.class_name ?? '';
  case 'started':
    return run.started_ms;
  case 'label': case 'suite': case 'branch': case 'commit':
    return run[name] ?? '';
  case 'dirty':
    return Boolean(run.dirty);
  default:
    return benchmark.dims[name];
  }
}

/** The rows that a filter takes; which dims there are a server knows better. @throws {FilterError} */
export function filterRows(core, rows, text) {
  const takes = parseFilter(text, core.mode === 'serve' ? null : dimsOf(core));
  return rows.filter((row) => takes((name) => fieldOf(core, row, name)));
}

const NOTHING = Object.freeze({ quantity: 'plain', base: '', factor: 1, kind: 'fact',
  direction: 'none' });

function dimMeasure(core, name) {
  return { ...NOTHING, label: DIM_LABELS[name] || name,
    of: (row) => core.benchmarks[row.benchmark].dims[name] ?? NaN };
}

/* Dims whose name says too little. */
const DIM_LABELS = { seq: 'sequence length', headdim: 'width of a head', vocab: 'vocabulary',
  new: 'new tokens' };

/**
 * What can stand on an axis: "p50", "batch", "dim_n" where a metric has the dim's name.
 * @returns {{label, quantity, base, direction, kind, of: function(object): number}} `of` gives the value
 *   in a row, NaN where it has none; null for what is neither
 */
export function measureOf(core, table, text) {
  const dims = dimsOf(core), metric = metricOf(core, text);
  const dim = text.startsWith('dim_') ? text.slice(4) : text;
  if (metric)
    return { ...NOTHING, ...metric,
      of: (row) => (table.columns[text]?.[row.at] ?? NaN) * (metric.factor || 1) };
  return dims.includes(dim) ? dimMeasure(core, dim) : null;
}

/* Of rates a slow sample is a low one. */
const OPPOSITE = { p5: 'p95', p25: 'p75', p50: 'p50', p75: 'p25', p95: 'p5' };

/** A quantile ("p25") of a latency or a rate in a row; NaN of what has no samples. */
export function quantileOf(table, measure, row, name) {
  const column = (id) => table.columns[id]?.[row.at] ?? NaN;
  if (measure.kind === 'latency')
    return column(name);
  return measure.kind === 'rate' ? measure.of(row) * column('p50') / column(OPPOSITE[name]) : NaN;
}
