/* SPDX-License-Identifier: MIT */
/*
 * Features: S4-16 to S4-25. Files of others on the page: each kind is shown, what is none gets a
 * sentence, and nothing leaves the page.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { coreOf, harness, records, recordsFile, reportPage, twoSides } from './fixture.mjs';
import { accessFindings, assertQuiet, download, graphOf, openPage, shot, SOURCE, workFolder } from './lib.mjs';

const sides = twoSides();
const report = reportPage('drop.html', [sides[0]]);

function jsonFile(name, value) {
  const file = join(workFolder(), name);
  writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value));
  return file;
}

async function drop(t, file, options) {
  const opened = await openPage(t, report, options);
  await opened.page.locator('#drop-file').setInputFiles(file);
  return opened;
}

function packedFile(name, text) {
  const file = join(workFolder(), name);
  writeFileSync(file, gzipSync(text));
  return file;
}

/* As a profiler in Python writes it: seconds, ms, MB. */
const PROFILE = { entries: [
  { operation: 'matmul', start_time: 100.0, end_time: 100.02, duration_ms: 20, device: 'gpu',
    backend: 'cupy', gpu_time_ms: 15, cpu_time_ms: 1, transfer_time_ms: 3, overhead_ms: 1,
    memory_allocated_mb: 64, memory_peak_mb: 80 },
  { operation: 'matmul', start_time: 100.03, end_time: 100.06, duration_ms: 30, device: 'gpu',
    backend: 'cupy', gpu_time_ms: 25, cpu_time_ms: 1, transfer_time_ms: 3, overhead_ms: 1,
    memory_allocated_mb: 96, memory_peak_mb: 128 },
  { operation: 'sort', start_time: 100.07, end_time: 100.08, duration_ms: 10, device: 'cpu',
    backend: 'cpu', cpu_time_ms: 10 },
], summary: {} };

test('a profile: cards, bars or pie, calls, parts, memory, bottlenecks, timeline, table', async (t) => {
  const { page, seen } = await drop(t, jsonFile('profile.json', PROFILE));
  const view = page.getByRole('region', { name: 'Opened: profile.json' });
  await view.getByText('60.00 ms').first().waitFor();
  assert.deepEqual(await view.locator('.card .value').allTextContents(), ['3', '2', '60.00 ms', '20.00 ms']);
  for (const id of ['profile-time', 'profile-calls', 'profile-parts', 'profile-memory']) {
    await page.locator(`#figure-${id}`).scrollIntoViewIfNeeded();
    await page.locator(`#figure-${id}[data-painted]`).waitFor();
  }
  const time = await graphOf(page, 'profile-time');
  assert.deepEqual(time.data.find((one) => one.type === 'bar').x, [50, 10]);
  const parts = (await graphOf(page, 'profile-parts')).data.filter((one) => one.type === 'bar');
  assert.deepEqual(parts.map((one) => [one.name, one.base, one.x]), [['GPU', [0], [40]],
    ['CPU', [40, 0], [2, 10]], ['transfer', [42], [6]], ['overhead', [48], [2]]]);
  const memory = (await graphOf(page, 'profile-memory')).data;
  assert.deepEqual(memory.map((one) => [one.name, one.y]), [['allocated', [64, 96]], ['peak', [80, 128]]]);
  await view.getByRole('button', { name: 'Show as a pie' }).click();
  assert.equal(await view.locator('.pie-slice').count(), 2);
  assert.match(await view.locator('.pie svg').getAttribute('aria-label'), /matmul 83\.3 %, sort 16\.7 %/);
  assert.match(await view.locator('.bottlenecks').textContent(), /matmul 50\.00 ms, 83\.3 % of the time, 2 calls/);
  assert.equal(await view.locator('.timeline-slices').getAttribute('data-blocks'), '3');
  await view.getByLabel('Filter operations').fill('sor');
  assert.equal(await view.locator('.results tbody tr').count(), 1);
  const { bytes } = await download(page, () => view.getByRole('button', { name: 'Save as CSV' }).click());
  assert.match(bytes.toString(), /operation,calls,total \(ns\)/);
  assert.deepEqual(await accessFindings(page, '.opened'), []);
  await shot(page, 'drop-profile', { fullPage: true });
  await view.getByRole('button', { name: 'Close' }).click();
  assert.equal(await view.count(), 0);
  assertQuiet(seen);
});

test('the profile made up for trying', async (t) => {
  const { page, seen } = await openPage(t, report);
  await page.getByRole('button', { name: 'Show a profile made up for trying' }).click();
  const view = page.getByRole('region', { name: 'Opened: demo profile' });
  await view.getByText('different ones').waitFor();
  assert.equal(await view.locator('.bottlenecks li').count(), 5);
  assertQuiet(seen);
});

const TRACE = { traceEvents: [
  { ph: 'M', name: 'thread_name', pid: 1, tid: 1, args: { name: 'main thread' } },
  { ph: 'M', name: 'thread_name', pid: 1, tid: 2, args: { name: 'stream 7' } },
  { ph: 'X', name: 'forward', pid: 1, tid: 1, ts: 0, dur: 1000, args: { layer: 3 } },
  ...Array.from({ length: 400 }, (_, i) => ({ ph: 'X', name: `kernel ${i % 5}`, pid: 1, tid: 2,
    ts: i * 2.4, dur: 2 })),
  { ph: 'X', name: 'softmax', pid: 1, tid: 1, ts: 100, dur: 200 },
] };

test('a trace: zoom, move, search, read by keys', async (t) => {
  const { page, seen } = await drop(t, jsonFile('trace.json', TRACE));
  const view = page.getByRole('region', { name: 'Opened: trace.json' });
  const drawn = async (what) => Number(await view.locator('.timeline-slices').getAttribute(`data-${what}`));
  await view.locator('.timeline').waitFor();
  assert.match(await view.locator('.lane-name').nth(1).textContent(), /^stream 7/);
  const before = await drawn('blocks');
  assert.equal(before, 402);
  await view.locator('.timeline').focus();
  for (let i = 0; i < 4; i++)
    await page.keyboard.press('w');
  assert.ok(await drawn('blocks') < before / 4);
  await page.keyboard.press('d');
  await page.keyboard.press('0');
  assert.equal(await drawn('blocks'), before);
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await view.getByText(/softmax.*200\.0 µs, from 100\.0 µs on/).waitFor();
  await page.keyboard.press('ArrowDown');
  await view.getByText(/kernel \d.*stream 7/).waitFor();
  await view.getByLabel('Search slices').fill('kernel 3');
  await view.getByText('80 slices match').waitFor();
  assert.equal(await drawn('dim'), 322);
  await shot(page, 'drop-trace');
  assertQuiet(seen);
});

test('a trace has an answer of its own', async (t) => {
  const { page, seen } = await drop(t, join(SOURCE, 'tests/fixtures/profile/forward/trace.json'));
  const view = page.getByRole('region', { name: 'Opened: trace.json' });
  await view.locator('.headline').waitFor();
  assert.match(await view.locator('.headline').textContent(), /^head takes 20\.\d % of gpt\/nano\/prefill\.$/);
  assert.match(await view.locator('.answer').textContent(), /Of 3 lanes this is "main"/);
  assert.match((await view.locator('.bottlenecks li').allTextContents()).join('; '),
    /^head .* of the time, 3 calls of .* \(median\); .*proj_2/);
  assert.equal(await view.locator('.card').count(), 6);
  assert.equal(await view.locator('.timeline').count(), 1);
  assert.deepEqual(await accessFindings(page, '.opened'), []);
  assertQuiet(seen);
});

test('a trace as PyTorch writes it: packed, and with a NaN', async (t) => {
  const text = JSON.stringify(TRACE).replace('"layer":3', '"layer":3,"loss":NaN');
  assert.ok(text.includes('NaN'));
  const { page, seen } = await drop(t, packedFile('host.pt.trace.json.gz', text));
  const view = page.getByRole('region', { name: 'Opened: host.pt.trace.json.gz' });
  await view.locator('.timeline').waitFor();
  assert.equal(await view.locator('.timeline-slices').getAttribute('data-blocks'), '402');
  assertQuiet(seen);
});

test('records: figures and numbers', async (t) => {
  const { page, seen } = await drop(t, recordsFile('mine.json', records({ launches: 2, label: 'mine' })));
  const view = page.getByRole('region', { name: 'Opened: mine.json' });
  await view.getByText('1 run, 22 benchmarks').waitFor();
  await page.locator('#figure-dropped-bars').scrollIntoViewIfNeeded();
  await page.locator('#figure-dropped-bars[data-painted]').waitFor();
  assert.equal(await view.locator('.results tbody tr').count(), 22);
  assertQuiet(seen);
});

test('a comparison: verdicts', async (t) => {
  const { comparison } = coreOf(reportPage('both.html', sides));
  const { page, seen } = await drop(t, jsonFile('compare.json', comparison));
  const view = page.getByRole('region', { name: 'Opened: compare.json' });
  await view.getByText('1 broken, 1 slower, 20 the same of 22.').waitFor();
  assert.equal(await view.locator('.verdicts tbody tr').count(), 2);
  assertQuiet(seen);
});

test('a comparison of what is no time: what regressed is worse, not slower', async (t) => {
  const { comparison } = coreOf(reportPage('own.html', sides)), metric = 'own/rows';
  const { page } = await drop(t, jsonFile('own.json', { ...comparison, metric, metrics: [metric],
    rows: comparison.rows.map((row) => ({ ...row, metric })) }));
  const view = page.getByRole('region', { name: 'Opened: own.json' });
  await view.getByText('1 broken, 1 worse, 20 the same of 22.').waitFor();
  assert.match(await view.locator('.verdicts tbody tr').nth(1).textContent(), /^▲ worse/);
});

test('a comparison of two machine classes: each row says its own', async (t) => {
  const { comparison } = coreOf(reportPage('classes.html', sides));
  const red = comparison.rows.filter(({ verdict }) => verdict === 'regressed');
  const { page } = await drop(t, jsonFile('classes.json', { ...comparison,
    rows: ['epyc', 'xeon'].flatMap((machine) => red.map((row) => ({ ...row, machine }))) }));
  const view = page.getByRole('region', { name: 'Opened: classes.json' });
  await view.getByRole('button', { name: 'Machine' }).waitFor();
  const texts = await view.locator('.verdicts tbody tr').allTextContents();
  assert.deepEqual(texts.map((text) => /epyc|xeon/.exec(text)?.[0]), ['epyc', 'xeon']);
});

test('a figure is drawn', async (t) => {
  const folder = join(workFolder(), 'plots');
  harness('plot', sides[0], '--only', 'latency-kernels', '--format', 'svg', '-o', folder);
  const { page, seen } = await drop(t, join(folder, 'latency-kernels.json'));
  const view = page.getByRole('region', { name: 'Opened: latency-kernels.json' });
  await view.locator('figure').scrollIntoViewIfNeeded();
  await view.locator('figure[data-painted]').waitFor();
  assertQuiet(seen);
});

/* What `harness profile` writes of the trace that lies beside it, and the library's summary in it. */
const IMPORTED = join(workFolder(), 'imported');
harness('profile', '--import', join(SOURCE, 'tests/fixtures/profile/forward/trace.json'), '-o', IMPORTED);
const TABLES = JSON.parse(readFileSync(join(IMPORTED, 'profile.json'), 'utf8'));

test('profile.json: answer, parts, bars or pie, calls, the whole table', async (t) => {
  const { page, seen } = await drop(t, jsonFile('tables.json', TABLES));
  const view = page.getByRole('region', { name: 'Opened: tables.json' });
  await view.locator('.headline').waitFor();
  assert.match(await view.locator('.headline').textContent(), /% of gpt\/nano\/prefill/);
  assert.equal(await view.locator('.parts li').count() > 0, true);
  for (const id of ['profile-time', 'profile-calls', 'profile-parts']) {
    await page.locator(`#figure-${id}`).scrollIntoViewIfNeeded();
    await page.locator(`#figure-${id}[data-painted]`).waitFor();
  }
  await view.getByRole('button', { name: 'Show as a pie' }).click();
  assert.equal(await view.locator('.pie-slice').count() > 1, true);
  const heads = await view.locator('.operations thead th').allTextContents();
  for (const head of ['operation', 'calls', 'self', 'mean', 'sd', 'min', 'max', 'GPU', 'transfer', 'overhead'])
    assert.ok(heads.some((one) => one.trim() === head), `${head} in ${heads}`);
  const csv = await download(page, () => view.getByRole('button', { name: 'Save as CSV' }).last().click());
  assert.equal(String(csv.bytes).trim().split('\n').length, TABLES.summary.rows.length + 1);
  assertQuiet(seen);
});

test('a summary of the scopes library alone is one, too', async (t) => {
  const { page, seen } = await drop(t, jsonFile('summary.json', TABLES.summary));
  const view = page.getByRole('region', { name: 'Opened: summary.json' });
  await view.locator('.operations tbody tr').first().waitFor();
  assert.match(await view.locator('.headline').textContent(), / takes /);
  assertQuiet(seen);
});

test('what is none gets a sentence, and the rest is shown', async (t) => {
  const { page, seen } = await openPage(t, report);
  await page.locator('#drop-file').setInputFiles([jsonFile('bad.json', '{"a": 1}'),
    jsonFile('half.json', '{"entries": ['), jsonFile('good.json', PROFILE)]);
  await page.getByRole('region', { name: 'Opened: good.json' }).waitFor();
  const said = await page.locator('.drop .error').textContent();
  assert.match(said, /bad\.json: This JSON is none that the page can show\. Its members are "a"\./);
  assert.match(said, /half\.json: This is no JSON/);
  assertQuiet(seen);
});

test('files can be dropped anywhere on the page', async (t) => {
  const { page, seen } = await openPage(t, report);
  const transfer = await page.evaluateHandle((text) => {
    const data = new DataTransfer();
    data.items.add(new File([text], 'thrown.json', { type: 'application/json' }));
    return data;
  }, JSON.stringify(PROFILE));
  await page.dispatchEvent('h1', 'dragenter', { dataTransfer: transfer });
  assert.equal(await page.evaluate(() => document.documentElement.classList.contains('dragging')), true);
  await page.dispatchEvent('h1', 'drop', { dataTransfer: transfer });
  await page.getByRole('region', { name: 'Opened: thrown.json' }).waitFor();
  assertQuiet(seen);
});

test('a profile without parts or memory says what is missing', async (t) => {
  const { page } = await drop(t, jsonFile('bare.json', [{ operation: 'one', duration_ms: 3 }]));
  await page.getByText('No entry says how much memory was allocated.').waitFor();
  await page.getByText('No entry says how its time is parted').waitFor();
});
