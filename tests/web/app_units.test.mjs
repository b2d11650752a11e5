/* SPDX-License-Identifier: MIT */
/*
 * Features: S1-14, S1-52, S2-05, S4-16, S4-23. Parts of the page that need no browser: conditions,
 * globs, expressions, the address, saved configurations, profiles, traces, records.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { csvText } from '../../plots/web/src/csv.js';
import { density, ecdf } from '../../plots/web/src/density.js';
import { demoProfile } from '../../plots/web/src/demo.js';
import { readDropped } from '../../plots/web/src/drop_kinds.js';
import { ExpressionError, parseExpression } from '../../plots/web/src/expression.js';
import { parseFilter } from '../../plots/web/src/filter.js';
import { allFilters, pickFilter, searchFilter } from '../../plots/web/src/filter_words.js';
import { globPattern, globText, presetTakes } from '../../plots/web/src/glob.js';
import { barReach } from '../../plots/web/src/interval_bar.js';
import { labelsOf } from '../../plots/web/src/labels.js';
import { configText, presetOf, stateOfPreset, viewHash, viewOf } from '../../plots/web/src/preset.js';
import { profileEntries, summarise } from '../../plots/web/src/profile_data.js';
import { recordsData } from '../../plots/web/src/records_data.js';
import { fillCommand, shellWord } from '../../plots/web/src/shell.js';
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

test('expressions', () => {
  const values = { p50: 10, p99: 30, batch: 4, max: 40, min: 5, zero: 0, none: NaN };
  const value = (text) => parseExpression(text, (name) => name in values)((name) => values[name]);
  const cases = [['p99 / p50', 3], ['p99 - p50 * 2', 10], ['-(p50 + 2)', -12], ['max - min', 35],
    ['max(p50, p99, 7)', 30], ['min(p50, 7)', 7], ['log2(batch)', 2], ['sqrt(batch)', 2],
    ['1.5e1 + .5', 15.5], ['p50 / zero', NaN], ['p50 + none', NaN], ['log2(zero)', NaN],
    ['sqrt(-batch)', NaN], ['8 / 4 / 2', 1], ['--p50', 10]];
  for (const [text, expected] of cases)
    assert.equal(value(text), expected, text);
  const refused = [['p98', 1, 'unknown name "p98"'], ['p50 +', 6, 'must stand here'], ['(p50', 5, "')'"],
    ['p50 p99', 5, 'one of + - * /'], ['log2(1, 2)', 1, 'one value'], ['min(1)', 1, 'two values'],
    [`${'('.repeat(30)}1`, 25, 'too many levels'], ['1e999', 1, 'too large']];
  for (const [text, at, says] of refused)
    assert.throws(() => value(text), (error) => {
      assert.ok(error instanceof ExpressionError);
      assert.deepEqual([error.at, error.message.includes(says)], [at, true], `${text}: ${error.message}`);
      return true;
    });
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

test('labels say what differs, and none is said twice', () => {
  const bench = (kernel, variant, dims) => ({ kernel, variant, math: 'fp32', device: 'cpu', cache: 'warm',
    dims, key: `${kernel}/${variant}/${JSON.stringify(dims)}` });
  assert.deepEqual(labelsOf([bench('gemm/linear', 'simd', { batch: 1, seq: 64 }),
    bench('gemm/linear', 'simd', { batch: 4, seq: 64 }), bench('gemm/linear', 'naive', { batch: 1, seq: 64 })]),
  ['simd batch=1', 'simd batch=4', 'naive batch=1']);
  const alike = labelsOf([bench('a b', 'c', {}), bench('a', 'b c', {})]);
  assert.equal(new Set(alike).size, 2);
  assert.deepEqual(labelsOf([bench('gemm/linear', 'simd', { batch: 1 })]), ['gemm/linear simd']);
});

test('statistics', () => {
  assert.equal(quantile(sorted([4, 1, 3, 2]), 0.5), 2.5);
  assert.ok(Number.isNaN(quantile([], 0.5)));
  assert.deepEqual(rollingMedian([1, 9, 2, 8], 3), [null, null, 2, 8]);
  const spiky = Array.from({ length: 5000 }, (_, i) => (i === 1234 ? 99 : i % 7));
  const kept = thin(spiky, 100);
  assert.ok(kept.length <= 100 && kept.includes(1234));
  const shape = density(sorted(Array.from({ length: 400 }, (_, i) => (i % 2 ? 10 : 20) + (i % 20) / 20)));
  const at = (x) => shape.value[shape.at.findIndex((place) => place >= x)];
  assert.ok(at(10.5) > 3 * at(15) && at(20.5) > 3 * at(15), 'two humps stay two');
  assert.equal(density(sorted([3, 3, 3])), null);
  const steps = ecdf(sorted([1, 2, 2, 4]));
  assert.deepEqual(steps, { x: [1, 2, 4], y: [0.25, 0.75, 1] });
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
