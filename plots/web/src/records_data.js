/* SPDX-License-Identifier: MIT */
/* A file of records (docs/formats/run.md) in the form of the page's own data: what `harness report`
 * would derive, as far as it can be derived from samples and work alone. */
import { namesOf } from './explore_figure.js';
import { placesIn } from './lists.js';
import { quantile, sorted } from './stats.js';

const PERCENTILES = { min: 0, p5: 0.05, p25: 0.25, p50: 0.5, p75: 0.75, p90: 0.9, p95: 0.95, p99: 0.99,
  max: 1 };
const time = (id, label) => ({ id, label, unit: 'ns', quantity: 'time', base: '', factor: 1,
  direction: 'lower', kind: 'latency' });
const METRICS = [
  time('min', 'fastest sample'), time('p5', '5th percentile'), time('p25', 'lower quartile'),
  time('p50', 'median latency'), time('p75', 'upper quartile'), time('p90', '90th percentile'),
  time('p95', '95th percentile'), time('p99', '99th percentile'), time('max', 'slowest sample'),
  { id: 'n', label: 'samples', unit: 'samples', quantity: 'plain', base: 'samples', factor: 1,
    direction: 'none', kind: 'fact' },
  { id: 'gflops', label: 'compute rate', unit: 'GFLOP/s', quantity: 'rate', base: 'FLOP/s', factor: 1e9,
    direction: 'higher', kind: 'rate' },
  { id: 'gbs', label: 'memory rate', unit: 'GB/s', quantity: 'rate', base: 'B/s', factor: 1e9,
    direction: 'higher', kind: 'rate' },
  { id: 'error', label: 'largest error', unit: 'rms', quantity: 'plain', base: 'rms', factor: 1,
    direction: 'none', kind: 'fact' },
];

/* The parts of a key: kernel (with slashes of its own), variant, math, dims, device, cache and,
   behind a +, what the inputs hold. */
function benchmarkOf(key) {
  const parts = String(key).split('/');
  const [math, dims, device, state] = parts.slice(-4), [cache, fill = 'normal'] = (state || '').split('+');
  const named = parts.length >= 6 ? Object.fromEntries((dims || '').split(',').map((one) =>
    one.split('=')).filter(([name, value]) => name && Number.isFinite(Number(value)))
    .map(([name, value]) => [name, Number(value)])) : {};
  return parts.length >= 6 ? { key, kernel: parts.slice(0, -5).join('/'), variant: parts.at(-5), math,
    dims: named, device, cache, fill } : { key, kernel: key, variant: '', math: '', dims: {}, device: '', cache: '',
    fill: '' };
}

function runName(run, i) {
  const { branch = '', commit = '' } = run.build || {};
  return run.label || `${branch} ${commit.slice(0, 7)}`.trim() || `run ${i + 1}`;
}

function runOf(run, i) {
  return { id: i + 1, uuid: run.uuid, name: runName(run, i), started_ms: run.started_ms,
    suite: run.suite, label: run.label, commit: run.build?.commit, branch: run.build?.branch,
    dirty: run.build?.dirty, machine: run.machine, build: run.build, epoch: 0 };
}

/* All launches of one benchmark in one run. */
function groupsOf(runs) {
  const groups = new Map();
  runs.forEach((run, i) => run.measurements.forEach((one) => {
    const id = `${i} ${one.key}`;
    groups.set(id, groups.get(id) || { run: i, key: String(one.key), all: [] });
    groups.get(id).all.push(one);
  }));
  return [...groups.values()];
}

function sampleBlock(all) {
  const timed = all.filter((one) => one.outcome === 'OK' && one.samples_ns?.length && one.batch > 0);
  const launches = timed.map((one) => one.samples_ns.map((ns) => ns / one.batch));
  const of = launches.reduce((sum, launch) => sum + launch.length, 0);
  return timed.length === 0 ? null : { batch: timed[0].batch, launches, of, kept: of,
    clock: timed[0].clock, started_ms: timed.map((one) => one.started_ms),
    facts: { stop: timed[0].stop, tolerance: timed[0].tolerance, checked: timed[0].checked,
      warmups: timed[0].warmups, flops: timed[0].flops, bytes: timed[0].bytes,
      footprint: timed[0].footprint } };
}

function valuesOf(all, samples) {
  const ordered = samples ? sorted(samples.launches.flat()) : [];
  const values = Object.fromEntries(Object.entries(PERCENTILES).map(([id, p]) =>
    [id, ordered.length ? quantile(ordered, p) : null]));
  const rate = (work) => (ordered.length && work > 0 && values.p50 > 0 ? work / values.p50 : null);
  return { ...values, n: ordered.length, gflops: rate(all[0].flops), gbs: rate(all[0].bytes),
    error: all[0].max_error ?? null };
}

const RANK = ['OK', 'UNSUPPORTED', 'WRONG', 'FAILED'];

/** @param {object} json  records @returns {{core, table, samples: function}} as source.js has them */
export function recordsData(json) {
  const keys = [], placeOf = placesIn(keys);
  const rows = groupsOf(json.runs).map((group) => ({ ...group, samples: sampleBlock(group.all),
    benchmark: placeOf(group.key) }));
  const benchmarks = keys.map(benchmarkOf), labels = namesOf(benchmarks);
  benchmarks.forEach((bench, i) => { bench.label = labels[i]; });
  rows.forEach((row) => { row.values = valuesOf(row.all, row.samples); });
  const samples = new Map(rows.map((row) => [`${row.run}:${row.benchmark}`, row.samples]));
  const metrics = METRICS.filter(({ id }) => rows.some((row) => row.values[id] !== null));
  const dims = [...new Set(benchmarks.flatMap((bench) => Object.keys(bench.dims)))];
  return {
    core: { title: 'records', runs: json.runs.map(runOf), head: json.runs.length - 1, base: null,
      selected: json.runs.map((_, i) => i), benchmarks, metrics, figures: [], commands: {},
      parameters: dims.map((name) => ({ name, values: [] })), comparison: null },
    table: { run: rows.map((row) => row.run), benchmark: rows.map((row) => row.benchmark),
      launches: rows.map((row) => row.all.length), n: rows.map((row) => row.values.n),
      outcome: rows.map((row) => row.all.map((one) => one.outcome)
        .reduce((worst, one) => (RANK.indexOf(one) > RANK.indexOf(worst) ? one : worst), 'OK')),
      columns: Object.fromEntries(metrics.map(({ id }) => [id, rows.map((row) => row.values[id])])) },
    samples: async (run, benchmark) => samples.get(`${run}:${benchmark}`) ?? null,
  };
}
