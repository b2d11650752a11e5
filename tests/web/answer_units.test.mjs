/* SPDX-License-Identifier: MIT */
/* Features: S4-17, S4-22, S4-29. Parts of a profile's page that need no browser: the answer of a trace
 * dropped on it, names in blocks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nameWithin } from '../../plots/web/src/blocks_view.js';
import { textWidth } from '../../plots/web/src/text_width.js';
import { traceAnswer } from '../../plots/web/src/trace_answer.js';
import { traceSlices } from '../../plots/web/src/trace_data.js';

const slice = (name, ts, dur, more = {}) => ({ ph: 'X', name, ts, dur, pid: 1, tid: 1, ...more });

const answerOf = (events) => traceAnswer(traceSlices(events), 'mine.json')?.answer ?? null;

test('a trace: what takes the time, of the main thread', () => {
  const answer = answerOf([slice('forward', 0, 100), slice('head', 30, 60), slice('qkv', 0, 20),
    slice('forward', 100, 100), slice('head', 130, 60),
    slice('worker', 0, 150, { tid: 2 }), slice('gemm', 10, 900, { tid: 3, cat: 'kernel' })]);
  assert.equal(answer.headline, 'head takes 60.0 % of forward.');
  assert.deepEqual(answer.cards.map(({ value }) => value),
    ['7', '5', '200.0 µs', '40.00 µs', '2', '100.0 µs']);
  assert.deepEqual(answer.top.map(({ operation }) => operation), ['head', 'forward', 'qkv']);
  assert.equal(answer.top[0].words, '120.0 µs, 60.0 % of the time, 2 calls of 60.00 µs (median)');
  assert.match(answer.words[0], /^Of 3 lanes this is "thread 1"/);
});

/* PyTorch's profiler has a line of its own, as long as all steps, and numbers these. */
test('a trace of PyTorch: of the thread that the process began with, by its steps', () => {
  const main = { pid: 494, tid: 494 };
  const answer = answerOf([slice('PyTorch Profiler (0)', 0, 205, { pid: 'Spans', tid: 'PyTorch Profiler' }),
    slice('ProfilerStep#2', 0, 100, main), slice('aten::mm', 10, 80, main),
    slice('ProfilerStep#3', 100, 100, main), slice('aten::mm', 110, 80, main)]);
  assert.equal(answer.headline, 'aten::mm takes 80.0 % of ProfilerStep.');
  assert.match(answer.words[0], /^Of 2 lanes this is "thread 494", which the process began with/);
  assert.equal(answer.cards.find(({ label }) => label === 'iterations').value, '2');
});

/* As Kineto writes it from a thread that the process did not begin with. */
test('a trace of PyTorch: what tells of the recording is no operation', () => {
  const other = { pid: 494, tid: 7 };
  const answer = answerOf([
    slice('PyTorch Profiler (0)', 0, 205, { pid: 'Spans', tid: 'PyTorch Profiler', cat: 'Trace' }),
    slice('Stream Sync', 0, 200, { pid: 0, tid: 7, cat: 'cuda_sync' }),
    slice('ProfilerStep#2', 0, 100, other), slice('aten::mm', 10, 80, other)]);
  assert.equal(answer.headline, 'aten::mm takes 80.0 % of ProfilerStep.');
  assert.deepEqual(answer.words, []);
});

test('a trace of PyTorch up to 1.12: work of a GPU by its older names, without what has no time', () => {
  const onGpu = { pid: 0, tid: 7, cat: 'Kernel', args: { device: 0, stream: 7, correlation: 1 } };
  const trace = traceSlices([
    slice('cudaLaunchKernel', 1000, 2, { cat: 'Runtime', args: { correlation: 1 } }),
    slice('gemm', 1010, 5, onGpu), slice('lost', 0, 0, onGpu), slice('irq', 1000, 5, { cat: 'Kernel' })]);
  const named = (name) => Array.from({ length: trace.nr }, (_, i) => i)
    .find((i) => trace.texts[trace.name[i]] === name);
  const category = (name) => trace.texts[trace.category[named(name)]];
  assert.equal(trace.nr, 3);
  assert.deepEqual(['cudaLaunchKernel', 'gemm', 'irq'].map(category), ['cuda_runtime', 'kernel', 'Kernel']);
  assert.equal(trace.launch[named('gemm')], named('cudaLaunchKernel'));
});

test('a trace of little', () => {
  assert.equal(answerOf([slice('a', 0, 10)]).headline, 'a is one operation: nothing inside it was recorded.');
  assert.equal(answerOf([slice('a', 0, 10), slice('b', 0, 2)]).headline,
    '80.0 % of a is in none of its operations.');
  assert.equal(answerOf([slice('a', 0, 30), slice('b', 30, 10)]).headline, 'a takes 75.0 % of mine.json.');
  assert.equal(answerOf([slice('a', 0, 0)]), null, 'no time');
});

test('names in blocks: whole, cut so that they still tell, or none', () => {
  assert.equal(nameWithin('qkv', 40), 'qkv');
  assert.equal(nameWithin('qkv', 12), null);
  const long = 'void cutlass::device_kernel<gemm_universal>(params)';
  assert.equal(nameWithin(long, 50), null);
  for (const width of [70, 120, 200]) {
    const name = nameWithin(long, width);
    assert.ok(name.includes('…') && name.startsWith('void') && textWidth(name, 11) <= width - 6, name);
  }
});
