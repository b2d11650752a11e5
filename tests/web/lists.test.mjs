/* SPDX-License-Identifier: MIT */
/*
 * Reports of many benchmarks: the page's work grows with their number, not with its square, and no list
 * is too long for it. Work is counted in elements that are read one after another, never in time.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowsOfRuns } from '../../plots/web/src/data.js';
import { exploreFigure, namesOf } from '../../plots/web/src/explore_figure.js';
import { gathered, leastOf, mostOf, placesIn } from '../../plots/web/src/lists.js';
import { recordsData } from '../../plots/web/src/records_data.js';

const FEW = 2000, MANY = 20000;
const READS = 200; /* elements that are read for a benchmark of a run: some dozens, for its fields */

const benchOf = (i) => ({ key: `gemm/linear/simd/fp32/n=${i}`, kernel: 'gemm/linear', variant: 'simd',
  math: 'fp32', device: 'cpu', cache: 'warm', dims: { n: i } });

/* What exploreFigure() takes: so many benchmarks in each of so many runs. */
function chartOf(benchmarks, preset, nrRuns = 2) {
  const rows = Array.from({ length: nrRuns * benchmarks }, (_, at) => ({ at,
    run: Math.floor(at / benchmarks), benchmark: at % benchmarks, n: 9 }));
  const runs = Array.from({ length: nrRuns }, (_, i) => i);
  return { preset: { name: 'view', title: 'T', ...preset }, rows, runs,
    core: { benchmarks: Array.from({ length: benchmarks }, (_, i) => benchOf(i)),
      runs: runs.map((i) => ({ name: `run ${i}`, uuid: `u${i}` })),
      metrics: [{ id: 'p50', label: 'median latency', quantity: 'time', kind: 'latency' },
        { id: 'n', label: 'samples', quantity: 'plain', kind: 'fact' }] },
    table: { columns: { p50: rows.map(({ at }) => 10 + at), n: rows.map(() => 9) } } };
}

/* How many elements `work` reads by spreading lists, going through them and looking for one; more than
 * `most` is an error, so that what copies a list for each of its items is not waited for. */
function counted(work, most) {
  const { prototype } = Array, { indexOf, find } = prototype, original = prototype[Symbol.iterator];
  let read = 0;
  const count = (nr) => {
    read += nr;
    if (read > most)
      throw new Error(`more than ${most} elements were read`);
  };
  prototype[Symbol.iterator] = function* counting() {
    for (let i = 0; i < this.length; i++) {
      count(1);
      yield this[i];
    }
  };
  prototype.indexOf = function counting(...sought) {
    const at = indexOf.apply(this, sought);
    count(at < 0 ? this.length : at + 1);
    return at;
  };
  prototype.find = function counting(test) {
    return find.call(this, (one, i) => {
      count(1);
      return test(one, i, this);
    });
  };
  try {
    work();
  } finally {
    prototype[Symbol.iterator] = original;
    Object.assign(prototype, { indexOf, find });
  }
  return read;
}

/* A file of records that is dropped, and then the samples of each benchmark. */
function droppedRecords(nr) {
  const data = recordsData({ runs: [{ measurements: Array.from({ length: nr }, (_, i) => ({
    key: benchOf(i).key, launch: 0, outcome: 'OK', batch: 1, samples_ns: [i, i + 1], flops: 0 })) }] });
  for (let i = 0; i < nr; i++)
    data.samples(0, i);
}

const PRESETS = [{ type: 'scatter', x: 'n', y: 'p50' }, { type: 'bars', y: 'p50' },
  { type: 'lines', x: 'dim_n', y: 'p50' }];

test('ten times the benchmarks are about ten times the work', () => {
  const works = [['names', (nr) => namesOf(Array.from({ length: nr }, (_, i) => benchOf(i)))],
    ['dropped records', droppedRecords],
    ['groups', (nr) => gathered(Array.from({ length: nr }, (_, i) => i), (i) => i % 3)],
    ...PRESETS.map((preset) => [preset.type, (nr) => exploreFigure(chartOf(nr / 2, preset))])];
  for (const [name, work] of works) {
    const few = counted(() => work(FEW), READS * FEW);
    const ratio = counted(() => work(MANY), 15 * few) / few;
    assert.ok(ratio > 5 && ratio < 15, `${name}: ${ratio} times`);
  }
});

/* The same rows; how often each is asked for its run is counted. */
function askedForRuns(rows) {
  const asked = { rows: [], nr: 0 };
  asked.rows = rows.map(({ run, ...row }) => Object.defineProperty(row, 'run', { get: () => {
    asked.nr++;
    return run;
  } }));
  return asked;
}

test('a hundred times the runs are no more work a row', () => {
  const chart = chartOf(2, PRESETS[1], 1000), asked = askedForRuns(chart.rows);
  exploreFigure({ ...chart, rows: asked.rows });
  assert.ok(asked.nr <= 5 * asked.rows.length, `a row was asked ${asked.nr / asked.rows.length} times`);
  let read = 0;
  const runs = new Proxy(chart.runs, { get(target, key) {
    read++;
    return target[key];
  } });
  assert.deepEqual([rowsOfRuns(chart.rows, runs).length, rowsOfRuns(chart.rows, [7]).map(({ at }) => at)],
    [2000, [14, 15]]);
  assert.ok(read <= 5 * chart.runs.length, `${read} runs were looked at`);
});

test('no list is too long', () => {
  const long = 70000; /* of each run: more values than a call takes arguments */
  const chart = chartOf(long, PRESETS[0]);
  let figure = null;
  counted(() => { figure = exploreFigure(chart); }, READS * 2 * long);
  assert.equal(figure.reason, undefined);
  assert.equal(figure.benchmarks.length, long);
  const { benchmark, run } = figure.panels[0].layers[1];
  assert.deepEqual([benchmark.at(-1), run.at(-1), figure.runs], [long - 1, 1, ['u0', 'u1']]);
});

test('lists by name, ends and places', () => {
  assert.deepEqual([...gathered(['ab', 'c', 'ad'], ([first]) => first)], [['a', ['ab', 'ad']], ['c', ['c']]]);
  assert.deepEqual([leastOf([3, -1, 2]), mostOf([3, -1, 2]), leastOf([]), mostOf([])], [-1, 3, Infinity, -Infinity]);
  const list = ['a'], placeOf = placesIn(list);
  assert.deepEqual([placeOf('b'), placeOf('a'), placeOf('b'), list], [1, 0, 1, ['a', 'b']]);
});
