/* SPDX-License-Identifier: MIT */
/*
 * Features: S1-14, S1-52, S2-05, S4-16, S4-23. Parts of the page that need no browser: conditions,
 * globs, the address, saved configurations, figures of numbers and samples, profiles, traces, records.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { csvText } from '../../plots/web/src/csv.js';
import { readTable } from '../../plots/web/src/data.js';
import { demoProfile } from '../../plots/web/src/demo.js';
import { readDropped } from '../../plots/web/src/drop_kinds.js';
import { droppedText } from '../../plots/web/src/drop_text.js';
import { exploreFigure, namesOf } from '../../plots/web/src/explore_figure.js';
import { parseFilter } from '../../plots/web/src/filter.js';
import { allFilters, pickFilter, searchFilter } from '../../plots/web/src/filter_words.js';
import { globPattern, globText, presetTakes } from '../../plots/web/src/glob.js';
import { barReach } from '../../plots/web/src/interval_bar.js';
import { configText, presetOf, stateOfPreset, viewHash, viewOf } from '../../plots/web/src/preset.js';
import { profileEntries, summarise } from '../../plots/web/src/profile_data.js';
import { recordsData } from '../../plots/web/src/records_data.js';
import { iterationsFigure, orderFigure, shapeFigure, sharesFigure } from '../../plots/web/src/sample_figures.js';
import { rangeOf } from '../../plots/web/src/selection.js';
import { fillCommand, shellWord } from '../../plots/web/src/shell.js';
import { httpSource } from '../../plots/web/src/source_http.js';
import { formatHash, formatList, openState, parseHash, parseList, picksOf } from '../../plots/web/src/state.js';
import { quantile, rollingMedian, sorted, thin } from '../../plots/web/src/stats.js';
import { nameAt } from '../../plots/web/src/trace_columns.js';
import { traceSlices } from '../../plots/web/src/trace_data.js';

/* tests/fixtures/where.json: rows and conditions that both the page and the server must answer
 * alike; app_serve.test.mjs asks the server. */
const where = JSON.parse(readFileSync(new URL('../fixtures/where.json', import.meta.url), 'utf8'));

test('conditions take the rows that they should', () => {
  for (const { text, takes } of where.conditions) {
    const test = parseFilter(text, where.dims);
    const taken = where.rows.filter((row) => test((field) => row[field])).map((row) => row.name);
    assert.deepEqual(taken, takes, text);
  }
});

test('what is no condition is refused at its column', () => {
  for (const { text, at, says } of where.mistakes)
    assert.throws(() => parseFilter(text, where.dims), (error) => {
      assert.equal(error.at, at, `${text}: ${error.message}`);
      assert.ok(error.message.includes(says), `${text}: ${error.message}`);
      return true;
    }, text);
});

test('limits of conditions', () => {
  const deep = `${'('.repeat(40)}batch = 1${')'.repeat(40)}`;
  assert.throws(() => parseFilter(deep), /more than 32 brackets/);
  assert.throws(() => parseFilter(Array(70).fill('batch = 1').join(' or ')), /more than 64 tests/);
  assert.throws(() => parseFilter(`key = "${'x'.repeat(256)}"`), /longer than 255 bytes/);
  assert.throws(() => parseFilter(' '.repeat(5000)), /longer than 4096 bytes/);
});

test('words become a condition, and a condition stays one', () => {
  assert.equal(searchFilter('gemm  simd'), 'key = "*gemm*" and key = "*simd*"');
  assert.equal(searchFilter('batch >= 4'), 'batch >= 4');
  assert.equal(searchFilter('  '), '');
  for (const name of ['a"b', "it's", 'back\\slash', '[x]*?', '<b>', 'RTL\u202e', 'x'.repeat(80)]) {
    const test = parseFilter(searchFilter(name.replaceAll(/[=<>()"]/g, '')));
    assert.equal(test(() => `left ${name.replaceAll(/[=<>()"]/g, '')} right`), true, name);
  }
  assert.equal(allFilters(['a = 1', '', 'b = 2 or c = 3']), '(a = 1) and (b = 2 or c = 3)');
  assert.equal(pickFilter({ batch: ['1', '4'], kernel: ['gemm/[x]'] }),
    'batch = 1, 4 and kernel = "gemm/[[]x]"');
});

/* However many benchmarks are in it: a list of their keys has no room in an address. */
test('a range is asked for as it is', () => {
  const asked = (state) => rangeOf({ get: (key) => state[key] ?? '' });
  assert.equal(asked({ metric: 'p50', min: '1e3' }), 'p50:1e3:');
  assert.equal(asked({ metric: 'own:rows', min: '1', max: '5e6' }), 'own:rows:1:5e6');
  for (const state of [{}, { metric: 'p50' }, { min: '1', max: '2' }])
    assert.equal(asked(state), '');
});

test('globs', () => {
  const cases = [['gemm/*', 'gemm/linear/simd', true], ['gemm', 'gemm/linear', false],
    ['g?mm', 'gemm', true], ['[a-f]x', 'bx', true], ['[!a-f]x', 'bx', false], ['[^a-f]x', 'gx', true],
    ['[]]x', ']x', true], ['a[b', 'a[b', true], ['*', 'line\nline', true], ['a.c', 'abc', false],
    ['[z-a]', 'b', false], ['💾?', '💾é', true]];
  for (const [glob, text, takes] of cases)
    assert.equal(globPattern(glob).test(text), takes, `${glob} ${text}`);
  for (const text of ['a*b', '[x]', 'q?', 'plain'])
    assert.equal(globPattern(globText(text)).test(text), true, text);
  assert.equal(presetTakes(['gpt/?*', '!gpt/gpt2'], 'gpt/nano/prefill'), true);
  assert.equal(presetTakes(['gpt/?*', '!gpt/gpt2'], 'gpt/gpt2/prefill'), false);
  assert.equal(presetTakes(['!gpt'], 'gemm/linear'), true);
  assert.equal(presetTakes([], 'anything'), true);
});

test('a change that waits comes before the next one, and not after it', async () => {
  const written = [], told = [];
  let hash = '#where=simd', news = null;
  const state = openState({ hash: () => hash, listen: (changed) => { news = changed; },
    write: (text, step) => written.push(`${text} ${step}`) });
  const passed = () => new Promise((resolve) => { setTimeout(resolve, 60); });
  state.onChange((changed) => told.push([...changed].join()));
  state.soon({ where: 'g' }, 20);
  state.soon({ where: 'gemm' }, 20);
  assert.deepEqual([state.get('where'), state.waits('where'), state.waits('x')], ['simd', true, false]);
  await passed();
  assert.deepEqual([written.splice(0), told.splice(0), state.waits('where')],
    [['#where=gemm false'], ['where'], false], 'once, after its time');
  state.soon({ where: '' }, 20);
  state.set({ where: 'gemm', bench: 3 }, { step: true });
  await passed();
  assert.deepEqual([written.splice(0), state.get('where')],
    [[' false', '#where=gemm&bench=3 true'], 'gemm'], 'also where the next one says what was before');
  state.soon({ where: 'simd' }, 20);
  state.settle();
  state.settle();
  await passed();
  assert.deepEqual(written.splice(0), ['#where=simd&bench=3 false']);
  state.soon({ where: 'typed' }, 20);
  hash = '#where=other';
  news();
  await passed();
  assert.deepEqual([written, state.get('where')], [[], 'other'], 'an address of another is the last word');
});

test('the address holds the state, whatever it is', () => {
  const state = { ...parseHash(''), where: 'kernel = "gemm/*" and batch >= 4', x: 'p99 / p50',
    title: 'a & b = c #1 \u202e</script>', 'pick.kernel': formatList(['a,b', '100%', 'ü']), runs: '1,2' };
  assert.deepEqual(parseHash(formatHash(state)), state);
  assert.deepEqual(picksOf(state), { kernel: ['a,b', '100%', 'ü'] });
  assert.equal(formatHash(parseHash('')), '');
  assert.deepEqual(parseHash('#unknown=1&__proto__=x&constructor=y'), parseHash(''));
  for (const list of [[], ['a'], ['%2C', ',', '%'], ['', 'x']])
    assert.deepEqual(parseList(formatList(list)), list.length === 1 && list[0] === '' ? [] : list);
});

const CORE = {
  title: 'T', benchmarks: [], metrics: [{ id: 'p50', label: 'median latency', unit: 'ns', kind: 'latency' },
    { id: 'gflops', label: 'compute rate', unit: 'GFLOP/s', kind: 'rate' },
    { id: 'n', label: 'samples', unit: 'samples', kind: 'fact' }],
  parameters: [{ name: 'batch', values: [1, 4] }, { name: 'seq', values: [64] }],
};

test('a saved configuration gives the same view again', () => {
  const hashes = ['#type=scatter&x=p50&y=gflops&group=variant&colour=batch&size=p50&xlog=1&ylog=0&pareto=1',
    '#type=lines&x=seq&y=p50&limit=3&legend=0&title=Mine', '#type=iterations&y=p50&window=15',
    '#type=scatter&x=p50%20%2F%20n&y=gflops&where=batch%20%3E%3D%204&pick.kernel=a,b&metric=p50&min=5'];
  for (const hash of hashes) {
    const state = parseHash(hash), view = viewOf(CORE, state);
    const preset = presetOf(CORE, view, false, state.where ? ['gemm/*'] : undefined);
    const text = configText(CORE, preset, { command: 'harness plot', hash: viewHash(state) });
    const json = JSON.parse(text), again = { ...parseHash(''), ...stateOfPreset(json) };
    assert.deepEqual(viewOf(CORE, again), { ...view, title: preset.title });
    assert.deepEqual([again.where, picksOf(again), again.metric, again.min],
      [state.where, picksOf(state), state.metric, state.min]);
    assert.ok(json._why.length > 0 && json._why_y.includes(CORE.metrics.find(({ id }) =>
      id === preset.y).label), 'comments say what the keys are');
  }
});

test('a configuration written by hand is read, and what is none is refused in words', () => {
  const state = stateOfPreset({ name: 'x', title: 'X', type: 'bars', y: 'p50', y_scale: 'log',
    filter: ['gemm', '!gemm/linear'] });
  assert.deepEqual([state.type, state.ylog], ['bars', '1']);
  const takes = parseFilter(state.where);
  const of = (key) => takes((field) => (field === 'key' ? key : undefined));
  assert.deepEqual([of('gemm/other/simd'), of('gemm/linear/simd'), of('gpt/nano')], [true, false, false]);
  assert.equal(stateOfPreset({ presets: [{ type: 'box', y: 'p50' }] }).type, 'box');
  for (const [json, says] of [[{}, 'neither'], [{ type: 'roofline' }, 'cannot draw'], [[], 'neither'],
    [null, 'neither']])
    assert.throws(() => stateOfPreset(json), (error) => error.message.includes(says));
});

test('names in commands stay names', () => {
  assert.equal(shellWord('gemm/linear'), 'gemm/linear');
  assert.equal(shellWord("a'b$(touch x)`y`"), "'a'\\''b$(touch x)`y`'");
  assert.equal(shellWord('a\nb\u202e'), "$'a\\U0000000ab\\U0000202e'");
  assert.equal(fillCommand("x = '{key}'", { key: "it's" }, true), "x = 'it''s'");
  assert.equal(fillCommand('run {key} {other}', { key: '; rm -rf' }), "run '; rm -rf' {other}");
  assert.equal(csvText([['=1+1', 'a"b,c', -5, NaN, null]]), '\'=1+1,"a""b,c",-5,,\r\n');
});

const bench = (kernel, variant, dims) => ({ kernel, variant, math: 'fp32', device: 'cpu', cache: 'warm',
  dims, key: `${kernel}/${variant}/${JSON.stringify(dims)}` });

test('names say what differs', () => {
  assert.deepEqual(namesOf([bench('gemm/linear', 'simd', { batch: 1, seq: 64 }),
    bench('gemm/linear', 'simd', { batch: 4, seq: 64 }), bench('gemm/linear', 'naive', { batch: 1, seq: 64 })]),
  ['simd batch=1', 'simd batch=4', 'naive batch=1']);
  assert.deepEqual(namesOf([bench('a', 'b', { n: 1 }), bench('a', 'c', {})]), ['b n=1', 'c']);
  assert.deepEqual(namesOf([bench('a', 'b', { n: 1 }), bench('a', 'c', { n: 2 })], 'n'), ['b', 'c']);
  assert.deepEqual(namesOf([bench('gemm/linear', 'simd', { batch: 1 })]), ['gemm/linear']);
});

/* Two benchmarks of two runs; the second has no rate. */
function numbers(preset, [small, large] = [1, 8]) {
  const benchmarks = [bench('a', 'x', { n: small }), bench('a', 'x', { n: large })];
  const core = { benchmarks, runs: [{ name: 'old', uuid: 'u' }, { name: 'new', uuid: 'v' }], metrics: CORE.metrics
    .map((metric) => ({ ...metric, quantity: metric.kind === 'latency' ? 'time' : 'plain' })) };
  const rows = [0, 1, 2, 3].map((at) => ({ at, run: at >> 1, benchmark: at & 1, n: at === 3 ? 0 : 9 }));
  return exploreFigure({ core, rows, runs: [0, 1], preset: { name: 'view', title: 'T', ...preset }, table: { columns: {
    p50: [10, 20, 30, null], gflops: [5, null, 7, null], p5: [9, 19, 29, null], p95: [11, 21, 31, null],
    p25: [9.5, 19.5, 29.5, null], p75: [10.5, 20.5, 30.5, null] } } });
}

test('a file draws points, lines, bars and boxes of its numbers, and says what it cannot draw', () => {
  const marks = (preset) => numbers(preset).panels[0].layers.map((layer) => `${layer.mark} ${layer.label ?? ''}`);
  assert.deepEqual(marks({ type: 'scatter', x: 'p50', y: 'gflops' }), ['points old', 'points new', 'text ']);
  const scatter = { type: 'scatter', x: 'p50', y: 'gflops' };
  assert.match(numbers({ ...scatter, limit: 1 }).caption, /the first 1 of 2/);
  assert.doesNotMatch(numbers(scatter).caption, /Showing/);
  assert.deepEqual(marks({ type: 'lines', x: 'dim_n', y: 'p50' }), ['line a · old', 'points a · old']);
  assert.deepEqual(marks({ type: 'bars', y: 'p50', group: 'n' }), ['text ', 'bars n=1', 'bars n=8', 'whiskers p5 to p95']);
  const box = numbers({ type: 'box', y: 'gflops' }), [panel] = box.panels, boxes = panel.layers.find(({ mark }) => mark === 'boxes');
  assert.deepEqual([boxes.low[0], boxes.x[0]], [5 * 10 / 10.5, 5 * 10 / 9.5], 'of a rate the slow quarter is the low one');
  assert.deepEqual([panel.y.ticks.map(({ text }) => text), panel.rows.run, box.runs], [['a · old', 'a · new'], [0, 1], ['u', 'v']]);
  for (const [preset, says] of [[{ type: 'violin', y: 'p50' }, 'points, lines, bars and boxes'],
    [{ type: 'bars', y: 'p99 / p50' }, 'a file has no "p99 / p50"'], [{ type: 'box', y: 'n' }, 'neither a latency'],
    [{ type: 'bars', y: 'dim_other' }, 'a file has no'], [{ type: 'lines', x: 'seq', y: 'p50' }, 'has no "dim_seq"']])
    assert.match(numbers(preset).reason, new RegExp(says));
});

test('ticks of lines say what was varied, however large it is', () => {
  for (const [sizes, label] of [[[100, 200], 'n'], [[100000, 400000], 'n'], [[5000000, 20000000], 'n'],
    [[100000, 10000000], 'n (log scale)']]) {
    const { x } = numbers({ type: 'lines', x: 'dim_n', y: 'p50' }, sizes).panels[0];
    assert.deepEqual(x.ticks, sizes.map((at) => ({ at, text: String(at) })), label);
    assert.equal(x.label, label);
    assert.ok(x.low <= sizes[0] && x.high >= sizes[1], `${x.low} to ${x.high} holds ${sizes}`);
  }
});

test('"At most" leaves out points, too, and says so', () => {
  const scatter = { type: 'scatter', x: 'p50', y: 'p50' };
  for (const [limit, xs, caption] of [[undefined, [10, 20, 30], /^One point a benchmark and run\.$/],
    [2, [10, 20], /Showing the first 2 of 3/], [9, [10, 20, 30], /run\.$/]]) {
    const figure = numbers({ ...scatter, limit }), { layers } = figure.panels[0];
    assert.deepEqual(layers.filter(({ mark }) => mark === 'points').flatMap(({ x }) => x), xs);
    assert.match(figure.caption, caption);
    assert.match(figure.alt, new RegExp(`^${xs.length} points`));
  }
});

test('values of a packed table have five digits each, however far from the first', () => {
  const table = { benchmark: [0, 0, 0, 0, 1, 1], columns: { faults: [123460, '3', -2, null, 1.2345, 20],
    p50: [null, 0, 90402, -35, null, 7] } };
  assert.deepEqual(readTable(table).columns, { faults: [123460, 3, 123440, null, 1.2345, 1.2365],
    p50: [null, 0, 90402, 90367, null, 7] });
});

test('samples are remembered by run, and another history has other runs', async (t) => {
  let uuid = 'old', asked = 0;
  const core = () => ({ runs: [{ id: 1, uuid }], benchmarks: [{ key: 'a' }] });
  t.mock.method(globalThis, 'fetch', async (url) => ({ ok: true,
    json: async () => (url.startsWith('api/core') ? core() : `${uuid} ${++asked}`) }));
  const source = httpSource(core(), { search: '' });
  assert.deepEqual([await source.samples(0, 0), await source.samples(0, 0)], ['old 1', 'old 1']);
  await source.select({}, true);
  assert.equal(await source.samples(0, 0), 'old 1', 'the same run is asked for once');
  uuid = 'new';
  await source.select({}, true);
  assert.equal(await source.samples(0, 0), 'new 2');
});

/* Requests that are answered when the test says so, and end where they are aborted. */
function heldRequests(t) {
  const open = [];
  t.mock.method(globalThis, 'fetch', (url, { signal }) => new Promise((resolve, reject) => {
    const end = (call) => (result) => {
      open.splice(open.indexOf(request), 1);
      call(result);
    };
    const request = { url, answer: end((core) => resolve({ ok: true, json: async () => core })), fail: end(reject) };
    open.push(request);
    signal.addEventListener('abort', () => request.fail(new DOMException('aborted', 'AbortError')));
  }));
  return open;
}

/* A choice after the other while the server is busy; which questions are left, and what the last answer shows. */
const nightly = { where: 'kernel = gemm' }, all = { where: '' };
for (const [name, steps, left] of [
  ['a filter that is taken back', [nightly, all], null],
  ['and given again', [nightly, all, nightly], 'api/core?where=kernel+%3D+gemm'],
  ['given twice', [nightly, nightly], 'api/core?where=kernel+%3D+gemm'],
  ['a run beside it', [nightly, { run: '7' }], 'api/core?run=7&where=kernel+%3D+gemm'],
  ['taken back while a new run is fetched', [['new'], nightly, all], 'api/core?'],
]) {
  test(`live page: of choices the last one holds: ${name}`, async (t) => {
    const open = heldRequests(t), core = { runs: [], benchmarks: [] };
    const source = httpSource(core, { search: '' });
    const answers = steps.map((step) => (Array.isArray(step) ? source.select({}, true) : source.select(step))
      .catch((error) => error.name));
    await new Promise(setImmediate);
    assert.deepEqual(open.map(({ url }) => url), left === null ? [] : [left]);
    open[0]?.answer({ of: left });
    await Promise.all(answers);
    assert.deepEqual(source.core, left === null ? core : { of: left });
    assert.equal(await source.select({}), null, 'and is there now');
    assert.equal(open.length, 0);
  });
}

test('live page: a choice that failed may be made again', async (t) => {
  const open = heldRequests(t), source = httpSource({ runs: [] }, { search: '' });
  for (let i = 0; i < 2; i++) {
    const answer = assert.rejects(source.select({ where: 'kernel = ' }));
    await new Promise(setImmediate);
    assert.equal(open.length, 1, `time ${i}`);
    open[0].fail(new Error('no such thing'));
    await answer;
  }
});

test('live page: a new run is fetched, also where the filter that came meanwhile failed', async (t) => {
  const open = heldRequests(t), source = httpSource({ runs: [], benchmarks: [] }, { search: '' });
  const newest = source.select({}, true).catch((error) => error.name);
  const unfinished = assert.rejects(source.select({ where: 'kernel =' }));
  await new Promise(setImmediate);
  open[0].fail(new Error('no filter'));
  await unfinished;
  assert.equal(await newest, 'AbortError');
  const cleared = source.select({ where: '' });
  await new Promise(setImmediate);
  assert.deepEqual(open.map(({ url }) => url), ['api/core?']);
  open[0].answer({ of: 'new' });
  assert.deepEqual(await cleared, { of: 'new' });
  assert.equal(await source.select({}), null, 'and once only');
});

test('samples of both sides, whatever there are', () => {
  const side = (name, launches) => ({ name, uuid: name, bench: bench('a', 'x', {}),
    samples: launches && { launches, of: launches.flat().length, kept: launches.flat().length, started_ms: [2, 1] } });
  const two = [side('old', [[1, 2, 3, 4], [2, 3, 4, 99]]), side('new', [[2, 3], [3, 4]])];
  const shares = sharesFigure(two).panels[0].layers.filter(({ mark }) => mark === 'steps');
  assert.deepEqual(shares.map(({ y }) => [y[0], y.at(-1)]), [[0, 100], [0, 100]]);
  const [shape] = shapeFigure(two).panels[0].layers;
  assert.ok(Math.abs(shape.y.reduce((sum, one) => sum + one, 0) - 100) < 1e-6, 'all but the tail, here none');
  const [old, now] = iterationsFigure(two, 2).panels;
  assert.deepEqual(old.layers.flatMap(({ label }) => label ?? []), ['a sample', 'moving median of 2']);
  assert.equal(old.y.high, now.y.high, 'one frame');
  const order = orderFigure(two).panels[0].layers.filter(({ mark }) => mark === 'points');
  assert.deepEqual(order.map(({ x }) => x), [[1, 3], [2, 4]]);
  for (const [live, says] of [[false, /not in this file; the notes at its end/], [true, /^No raw samples .* are kept/]])
    assert.match(sharesFigure([{ ...side('old', null), live }]).reason, says, 'a server has what there is');
  for (const make of [sharesFigure, shapeFigure, iterationsFigure, orderFigure])
    assert.equal(make([side('old', [[3, 3]])], 5).reason, undefined, 'all alike');
});

test('statistics', () => {
  assert.equal(quantile(sorted([4, 1, 3, 2]), 0.5), 2.5);
  assert.ok(Number.isNaN(quantile([], 0.5)));
  assert.deepEqual(rollingMedian([1, 9, 2, 8], 3), [null, null, 2, 8]);
  const spiky = Array.from({ length: 5000 }, (_, i) => (i === 1234 ? 99 : i % 7));
  const kept = thin(spiky, 100);
  assert.ok(kept.length <= 100 && kept.includes(1234));
});

test('profiles in both forms', () => {
  const ns = profileEntries({ entries: [{ operation: 'a', start_ns: 1000, end_ns: 3000, gpu_ns: 1500,
    allocated_bytes: 10, device: 'gpu' }] });
  assert.deepEqual([ns[0].start, ns[0].duration, ns[0].gpu, ns[0].allocated], [0, 2000, 1500, 10]);
  const ms = profileEntries([{ operation: 'a', start_time: 1.5, end_time: 1.6, duration_ms: 100,
    gpu_time_ms: 60, transfer_time_ms: 5, memory_peak_mb: 2, gpu_utilization: 80 },
  { operation: 'a', start_time: 2.5, end_time: 2.6, duration_ms: 100 },
  { operation: 'b', start_time: 3.5, end_time: 3.8, duration_ms: 300 }]);
  assert.deepEqual([ms[0].duration, ms[0].gpu, ms[0].transfer, ms[0].peak, ms[1].gpu],
    [1e8, 6e7, 5e6, 2097152, null]);
  const summary = summarise(ms);
  assert.deepEqual(summary.map((row) => [row.operation, row.calls, row.total, row.share]),
    [['b', 1, 3e8, 0.6], ['a', 2, 2e8, 0.4]]);
  assert.equal(profileEntries({ entries: [{ operation: 'a' }] }), null, 'without a time it is none');
  assert.equal(profileEntries({ runs: [] }), null);
  const demo = profileEntries(demoProfile());
  assert.ok(demo.every((one) => one.gpu + one.cpu + one.transfer + one.overhead === one.duration));
});

test('traces nest, and pairs find each other', () => {
  const trace = traceSlices({ traceEvents: [
    { ph: 'M', name: 'process_name', pid: 1, args: { name: 'program' } },
    { ph: 'M', name: 'thread_name', pid: 1, tid: 2, args: { name: 'stream 2' } },
    { ph: 'X', name: 'outer', pid: 1, tid: 2, ts: 10, dur: 50 },
    { ph: 'X', name: 'inner', pid: 1, tid: 2, ts: 20, dur: 10, args: { bytes: 4 } },
    { ph: 'X', name: 'next', pid: 1, tid: 2, ts: 60, dur: 5 },
    { ph: 'B', name: 'pair', pid: 1, tid: 3, ts: 5 }, { ph: 'E', pid: 1, tid: 3, ts: 9, args: { ok: 1 } },
    { ph: 'E', pid: 1, tid: 3, ts: 99 }, { ph: 'C', name: 'counter', ts: 1 }] });
  assert.deepEqual(trace.lanes.map((lane) => [lane.process, lane.thread, lane.depth]),
    [['program', 'stream 2', 2], ['program', 'thread 3', 1]]);
  assert.deepEqual([0, 1, 2].map((i) => [nameAt(trace, i), trace.depth[i]]),
    [['outer', 0], ['inner', 1], ['next', 0]]);
  const { first } = trace.lanes[1];
  assert.deepEqual([trace.duration[first], trace.args(first).ok], [4, 1]);
  assert.deepEqual([trace.from, trace.to], [5, 65]);
});

test('files are told by what is in them', () => {
  const kinds = [['trace', { traceEvents: [{ ph: 'X', ts: 1, dur: 1, name: 'a' }] }],
    ['trace', [{ ph: 'X', ts: 1, dur: 1, name: 'a' }]], ['records', { runs: [{ measurements: [] }] }],
    ['comparison', { counts: {}, rows: [{ key: 'a', verdict: 'same' }] }],
    ['figure', { id: 'a', panels: [] }], ['profile', demoProfile()]];
  for (const [kind, json] of kinds)
    assert.equal(readDropped(JSON.stringify(json)).kind, kind);
  for (const [text, says] of [['{', 'no JSON'], ['{"a":1}', '"a"'], ['[]', 'list is empty'],
    ['{"traceEvents":[]}', 'list is empty'], ['{"runs":[{}]}', 'measurements'],
    ['{"name":"x","type":"bars"}', 'configuration'],
    ['{"profile":"x","summary":{},"bottlenecks":{}}', 'Its members are'], ['3', 'neither'],
    ['{"traceEvents":[{"ph":"M"}]}', 'no slice']])
    assert.throws(() => readDropped(text), (error) => error.message.includes(says), text);
});

test('numbers that JSON does not have are none, in traces and profiles alone', () => {
  const event = (args) => `[{"ph":"X","ts":1,"dur":2,"name":"a\\"NaN, -Infinity","args":{${args}}}]`;
  const { json: trace } = readDropped(event('"loss":NaN,"a":-Infinity,"b":[inf,-inf,nan]'));
  assert.equal(nameAt(trace, 0), 'a"NaN, -Infinity');
  assert.deepEqual(trace.args(0), { loss: null, a: null, b: [null, null, null] });
  const { json } = readDropped('[{"operation":"NaN","duration_ms":3,"gpu_time_ms":NaN}]');
  assert.deepEqual(profileEntries(json).map(({ operation, gpu }) => [operation, gpu]), [['NaN', null]]);
  for (const text of [event('"loss":Nan'), event('"loss":NaN'.padEnd(99, '"')), '[NaN', '"'.padEnd(99999, '\\"'),
    '{"runs":[{"measurements":[{"samples_ns":[NaN]}]}]}'])
    assert.throws(() => readDropped(text), /This is no JSON: /, text.slice(0, 80));
});

test('packed files are unpacked, up to a bound', async () => {
  const text = JSON.stringify({ name: 'ä€😀'.repeat(99999) }), packed = gzipSync(text);
  assert.equal(await droppedText(new Blob([packed])), text);
  assert.equal(await droppedText(new Blob([text])), text);
  assert.equal(await droppedText(new Blob(['1'])), '1');
  for (const bytes of [packed.subarray(0, -9), Buffer.from([0x1f, 0x8b, 0])])
    await assert.rejects(droppedText(new Blob([bytes])), /damaged or not whole/);
  await assert.rejects(droppedText(new Blob([gzipSync('x'.repeat(2 ** 21))]), 2 ** 20),
    /^RangeError: The file unpacks to more than 1 MiB\.$/);
  await assert.rejects(droppedText(new Blob(['x'.repeat(2 ** 20 + 1)]), 2 ** 20), /larger than 1 MiB/);
});

test('records become the page\'s own data', () => {
  const one = (launch, samples, rest) => ({ key: 'gemm/linear/simd/fp32/batch=1,seq=64/cpu-2t/warm', launch,
    outcome: 'OK', batch: 2, samples_ns: samples, flops: 1000, bytes: 500, started_ms: 5, ...rest });
  const { core, table, samples } = recordsData({ runs: [{ label: 'mine', started_ms: 1,
    measurements: [one(0, [20, 40]), one(1, [60, 80]), one(2, [], { outcome: 'FAILED' })] }] });
  assert.deepEqual(core.benchmarks[0].dims, { batch: 1, seq: 64 });
  assert.deepEqual([core.benchmarks[0].kernel, core.benchmarks[0].variant, core.runs[0].name],
    ['gemm/linear', 'simd', 'mine']);
  assert.deepEqual([table.columns.p50[0], table.columns.gflops[0], table.outcome[0], table.n[0]],
    [25, 40, 'FAILED', 4]);
  return samples(0, 0).then((block) => assert.deepEqual(block.launches, [[10, 20], [30, 40]]));
});

test('bars of changes: one scale, which few huge changes do not flatten', () => {
  const row = (low, high) => ({ change: (low + high) / 2, interval: { low, high } });
  assert.equal(barReach([]), 0.02);
  assert.equal(barReach([{ change: null, interval: null }]), 0.02);
  assert.equal(barReach([row(-0.01, 0.01)], 0.03), 0.1, 'what does not matter is seen');
  assert.equal(barReach([row(-0.01, 0.04), row(0.1, 0.12), row(0.05, 0.09)]), 0.15, 'all fit');
  assert.equal(barReach([row(-0.03, 0.04), row(-0.04, 0.03), row(5, 11)]), 0.15, 'one does not');
  assert.equal(barReach([row(5, 11), row(7, 8)]), 0.5);
});
