/* SPDX-License-Identifier: MIT */
/* Traces of any size on the page: how slices lie in rows, what a drawing costs, and that a timeline is a
 * few elements whatever is in it. Sizes are counted, never timed.
 * Covers: S3-04, S3-08, S4-23. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { reportPage } from './fixture.mjs';
import { assertQuiet, openPage, shot, workFolder } from './lib.mjs';
import { rowBlocks, sliceAt, sliceBeside } from '../../plots/web/src/timeline_rows.js';
import { TraceColumns } from '../../plots/web/src/trace_columns.js';
import { traceSlices } from '../../plots/web/src/trace_data.js';

const slice = (name, ts, dur, tid = 1, more = {}) => ({ ph: 'X', name, pid: 1, tid, ts, dur, ...more });
const rowsOf = (events) => {
  const trace = traceSlices(events);
  return trace.lanes.map((lane) => [...trace.row.subarray(lane.first, lane.first + lane.nr)]);
};

test('slices lie below what holds them, and beside what they overlap', () => {
  const overlapping = Array.from({ length: 300 }, (_, i) => slice('kernel', i * 10, 10.5));
  for (const [what, events, rows] of [
    ['inside each other', [slice('c', 2, 1), slice('a', 0, 10), slice('b', 1, 5)], [[0, 1, 2]]],
    ['one after the other', [slice('a', 0, 1), slice('b', 1, 1)], [[0, 0]]],
    ['overlapping', [slice('a', 0, 10), slice('b', 5, 10), slice('c', 11, 2)], [[0, 1, 0]]],
    ['300 of a stream, each over the end of the one before', overlapping,
      [overlapping.map((_, i) => i % 2)]],
    ['two threads', [slice('a', 0, 10, 2), slice('b', 0, 10, 1)], [[0], [0]]],
    ['begun and ended', [{ ...slice('a', 0), ph: 'B' }, slice('b', 1, 1), { ...slice('a', 9), ph: 'E' }],
      [[0, 1]]],
  ])
    assert.deepEqual(rowsOf(events), rows, what);
});

test('rows beyond what can be looked at are left out, and not the time', () => {
  const trace = traceSlices(Array.from({ length: 1000 }, (_, i) => slice('deep', i, 2000 - 2 * i)));
  assert.equal(trace.lanes[0].depth, 200);
  assert.equal(trace.lanes[0].rows.length, 200);
  assert.equal(trace.depth[999], 999);
});

/* A row of so many slices side by side, with gaps as long. */
function longRow(nr) {
  const columns = new TraceColumns([{ key: '0' }], nr);
  for (let i = 0; i < nr; i++)
    columns.add(0, `op ${i % 7}`, '', i * 2, 1);
  return columns.finish();
}

/* What a drawing of a window touches, and what it draws. */
function costOf(trace, from, to, pixels) {
  const cost = { reads: 0, blocks: 0, shade: 0 };
  const counted = (column) => new Proxy(column, { get(target, key) {
    cost.reads++;
    return target[key];
  } });
  rowBlocks({ ...trace, start: counted(trace.start), duration: counted(trace.duration) },
    trace.lanes[0].rows[0], { from, to, perPixel: (to - from) / pixels, x: (us) => us },
    (_, left, width, shade) => {
      cost.blocks++;
      cost.shade = Math.max(cost.shade, width > 1 ? 0 : shade);
    });
  return cost;
}

test('a drawing costs what there are pixels, not slices', () => {
  const PIXELS = 1000, small = longRow(1e4), large = longRow(1e6);
  const whole = [small, large].map((trace) => costOf(trace, trace.from, trace.to, PIXELS));
  for (const { blocks, reads } of whole) {
    assert.ok(blocks >= PIXELS / 2 && blocks <= PIXELS + 1, `${blocks} blocks`);
    assert.ok(reads < 100 * PIXELS, `${reads} reads`);
  }
  assert.ok(whole[1].reads < 3 * whole[0].reads, JSON.stringify(whole));
  assert.ok(Math.abs(whole[1].shade - 0.75) < 0.01, 'as dark as half covered pixels are');
  const part = costOf(large, 1e6, 1e6 + 100, PIXELS);
  assert.equal(part.blocks, 50);
  assert.ok(part.reads < 2000, `${part.reads} reads`);
});

test('what is under a pointer', () => {
  const trace = longRow(100), [row] = trace.lanes[0].rows;
  for (const [us, reach, found] of [[0.5, 0, 0], [2.5, 0, 1], [3.4, 0, -1], [3.4, 0.5, 1], [3.9, 0.5, 2],
    [-5, 1, -1], [1e4, 1, -1]])
    assert.equal(sliceAt(trace, row, us, reach), found, `${us} within ${reach}`);
});

test('keys go to the next lane that has slices, at about the same time', () => {
  const columns = new TraceColumns(['moments', 'main', 'off', 'stream', 'last'].map((key) => ({ key })));
  for (const lane of [1, 3]) /* 0 to 2 in lane 1, 3 to 5 in lane 3 */
    for (const start of [0, 10, 20])
      columns.add(lane, 'op', '', start + lane, 5);
  const trace = columns.finish();
  for (const [from, down, to] of [[1, 1, 4], [2, 1, 5], [4, -1, 1], [5, -1, 2], [3, -1, 0], [1, -1, 1],
    [4, 1, 4]])
    assert.equal(sliceBeside(trace, from, down), to, `${from} by ${down}`);
});

const MAIN = { ph: 'M', name: 'thread_name', pid: 1, tid: 1, args: { name: 'main' } };
const launching = (nr) => [MAIN, ...Array.from({ length: nr }, (_, i) => [
  slice('step', i * 20, 15), slice('launch', i * 20 + 1, 2, 1, { cat: 'cuda_runtime', args: { correlation: i + 1 } }),
  slice('gemm', i * 20 + 6, 5, 7, { cat: 'kernel', args: { correlation: i + 1, device: 0, stream: 7 } }),
]).flat()];

function traceFile(name, nr) {
  const file = join(workFolder(), name);
  writeFileSync(file, JSON.stringify({ traceEvents: launching(nr) }));
  return file;
}

test('a trace of 150,000 slices is as few elements as one of 150, and says what started what', async (t) => {
  const page = (await openPage(t, reportPage('any.html', ['--profile', traceFile('one.json', 5)]))).page;
  const counts = [];
  for (const [name, nr] of [['few.json', 50], ['many.json', 50000]]) {
    await page.locator('#drop-file').setInputFiles(traceFile(name, nr));
    const view = page.getByRole('region', { name: `Opened: ${name}` });
    await view.locator('.timeline-slices[data-blocks]').waitFor({ state: 'attached' });
    counts.push(await view.locator('.timeline-frame *').count());
    const blocks = Number(await view.locator('.timeline-slices').getAttribute('data-blocks'));
    assert.ok(blocks <= 3 * 1280, `${blocks} blocks`);
    await view.locator('.timeline').focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('f');
    for (let i = 0; i < 6; i++)
      await page.keyboard.press('s');
    assert.match(await view.locator('.slice').textContent(), /^launch 2\.000 µs/);
    assert.equal(await view.locator('.timeline .arrow').count(), 1);
    await shot(page, `trace-${nr}`);
  }
  assert.ok(Math.abs(counts[1] - counts[0]) <= 8, `${counts}: ticks of the axis alone`);
});

test('a report has the whole timeline, first the usual calls; what has no room is said', async (t) => {
  for (const [nr, said] of [[200, /^Click a slice[^.]*\.\s*$/],
    [120000, /the \d+ shortest calls, of \d.* or less, have no room here: harness serve/]]) {
    const file = reportPage(`whole-${nr}.html`, ['--profile', traceFile(`whole-${nr}.json`, nr)]);
    const { page, seen } = await openPage(t, file);
    await page.locator('#slot-timeline').scrollIntoViewIfNeeded();
    const card = page.locator('#figure-timeline'), slices = card.locator('.timeline-slices');
    await page.locator('#figure-timeline[data-painted]').waitFor();
    await page.locator('#figure-timeline .timeline-slices[data-blocks]').waitFor({ state: 'attached' });
    assert.equal(Number(await slices.getAttribute('data-blocks')), 6, 'two calls first');
    assert.match(await card.locator('.slice').textContent(), said);
    await card.getByRole('button', { name: 'All', exact: true }).click();
    assert.ok(Number(await slices.getAttribute('data-blocks')) >= Math.min(2 * nr, 400));
    await card.getByLabel('Search slices').fill('kernel');
    assert.match(await card.locator('.buttons [role=status]').textContent(), /^\d+ slices match$/);
    assertQuiet(seen);
  }
});
