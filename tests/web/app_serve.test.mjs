/* SPDX-License-Identifier: MIT */
/*
 * Features: S1-14, S1-21 to S1-24, S2-05. The same application before `harness serve`: it asks that
 * server and nobody else, filters are the server's, and both read a condition alike.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readings } from '../../plots/web/src/a11y.js';
import { filterRows, rowsOf } from '../../plots/web/src/data.js';
import { parseFilter } from '../../plots/web/src/filter.js';
import { harness, records, recordsFile } from './fixture.mjs';
import { openPage, openRow, shot, workFolder } from './lib.mjs';
import { history, serve } from './serving.mjs';

const { file } = history('history.db', 'first', 'second');
const { url } = await serve(file, '--port', '0');
const options = { skip: url === '' ? 'built without libmicrohttpd' : false };

async function ask(path) {
  const response = await fetch(new URL(path, url));
  return { status: response.status, json: await response.json() };
}

const query = (where) => `where=${encodeURIComponent(where)}`;

/* "run key" of the rows of a table, sorted. */
function namesOf(core, rows) {
  return rows.map((row) => `${core.runs[row.run].id} ${core.benchmarks[row.benchmark].key}`).sort();
}

const CONDITIONS = ['', 'variant = right', 'variant != right', 'not variant = right',
  'kernel = "null/*" and outcome = OK', 'outcome = WRONG,FAILED', 'label = second', 'label = "*"',
  'run = 1', 'id > 1', 'dirty = yes', 'not dirty = yes', 'key = "*right*"', 'key = null/copy',
  'started > 2020-01-01', 'started < 2020-01-01', 'device = fake*', 'cache = warm or cache = cold',
  'variant = [r-s]*', 'variant = "[!r]*"', 'batch >= 4', 'not batch >= 4 and seq = 16', 'batch != 1, 2', 'commit = zz', 'machine = "*"',
  'math = FP32', 'suite = ""'];

test('the page and the server take the same rows', options, async () => {
  const all = await ask('/api/core?run=1,2'), table = await ask('/api/table?run=1,2');
  const rows = rowsOf(all.json, table.json);
  for (const where of CONDITIONS) {
    const asked = `run=1,2&${query(where)}`;
    const core = await ask(`/api/core?${asked}`), some = await ask(`/api/table?${asked}`);
    assert.equal(core.status, 200, `${where}: ${core.json.error}`);
    assert.deepEqual(namesOf(all.json, filterRows(all.json, rows, where)),
      namesOf(core.json, filterRows(core.json, rowsOf(core.json, some.json), where)), where);
  }
});

test('the page and the server refuse the same mistakes, in the same words', options, async () => {
  const { mistakes } = JSON.parse(readFileSync(new URL('../fixtures/where.json', import.meta.url), 'utf8'));
  for (const { text } of mistakes) {
    const { status, json } = await ask(`/api/core?${query(text)}`);
    assert.equal(status, 400, text);
    assert.throws(() => parseFilter(text, ['batch', 'seq']), (error) => {
      assert.deepEqual([error.at, error.message], [json.at, json.error], text);
      return true;
    });
  }
});

test('a filter and another base leave the head alone, and back goes back', options, async (t) => {
  const database = join(workFolder(), 'pick.db');
  harness('import', ...['first', 'second', 'third'].map((label, i) => recordsFile(`pick-${label}.json`,
    records({ seed: i + 1, hour: i + 1, label, slower: 1 + i / 4 }))), '--db', database);
  const { url: compared } = await serve(database, '--port', '0', '--baseline', 'first');
  const { page } = await openPage(t, compared);
  /* Five launches of each side: no run is pooled with another. */
  const shows = async (base, change) => {
    await page.locator('h1', { hasText: new RegExp(`against ${base}`) }).waitFor();
    const row = page.locator('.verdicts tbody tr', { hasText: change }).first();
    await row.getByText('5/5', { exact: true }).waitFor();
  };
  await shows('label first', /\+(49|50|51)\.\d %/);
  await page.getByLabel('Filter', { exact: true }).fill('kernel = attention/causal');
  await page.locator('#section-results').getByText(/^\d of \d results/).waitFor();
  await shows('label first', /\+(49|50|51)\.\d %/);
  await page.getByLabel('Filter', { exact: true }).fill('');
  await page.locator('#section-results').getByText(/^\d\d of \d\d results/).waitFor();
  await page.getByLabel('Base', { exact: true }).fill('second');
  await page.keyboard.press('Enter');
  await shows('run 2', /\+(19|20|21)\.\d %/);
  await page.goBack();
  await shows('label first', /\+(49|50|51)\.\d %/);
});

test('the page shows, filters, explores and drills with the server', options, async (t) => {
  const { page, seen } = await openPage(t, url);
  await page.locator('figure[data-painted]').first().waitFor();
  await page.locator('#section-explore').scrollIntoViewIfNeeded();
  await page.getByLabel('Type').selectOption('bars');
  /* The filter stands at the top, the exploration far below. */
  const shows = (nr) => page.waitForFunction((count) => {
    document.getElementById('section-explore').scrollIntoView();
    const texts = document.querySelector('#figure-view .figure-drawing')?.layout?.yaxis.ticktext;
    return texts?.filter((text) => text.startsWith('batch=')).length === count;
  }, nr);
  await shows(6);
  await page.getByLabel('Filter', { exact: true }).fill('batch >= 4');
  await page.locator('#section-results').getByText(/^\d+ of \d+ results of 1 run/).waitFor();
  await shows(3);
  await page.waitForURL(/where=batch/);
  await page.getByLabel('Filter', { exact: true }).fill('variant >');
  await page.locator('#where-error').getByText('column 10: here a value is missing').waitFor();
  await page.getByLabel('Filter', { exact: true }).fill('');
  await openRow(page, page.locator('#section-results button.link').first());
  await page.getByRole('dialog').locator('table.facts').waitFor();
  await page.keyboard.press('Escape');
  await page.getByText(/^Runs: 1 of 2/).click();
  await page.getByLabel(/^first/).check();
  await page.getByText(/^Runs: 2 of 2/).waitFor();
  await page.locator('#section-results').getByText(/results of 2 runs/).waitFor();
  await shot(page, 'app-serve');
  assert.deepEqual(seen.requests.filter((one) => !one.startsWith(url)), [], 'nobody else is asked');
  assert.deepEqual([seen.errors, seen.violations], [[], []]);
});

test('any metric of a benchmark over all runs, on an axis of dates', options, async (t) => {
  const long = await serve(history('all.db', ...Array.from({ length: 14 }, (_, i) => `n${i}`)).file,
    '--port', '0');
  const core = await (await fetch(new URL('/api/core', long.url))).json();
  const { key } = core.benchmarks.find((bench) => bench.variant === 'right');
  const get = async (query) => (await fetch(new URL(`/api/history?${query}`, long.url))).json();
  const spec = await get(`key=${encodeURIComponent(key)}&metric=p99`);
  const points = spec.panels[0].layers.find((layer) => layer.mark === 'points');
  assert.equal(points.x.length, 14, 'more than can be looked at at once');
  assert.deepEqual([spec.benchmarks, spec.runs.length], [[key], 14]);
  assert.match(spec.panels[0].x.label, /date of the run/);
  assert.ok(core.runs.some((run) => run.started_ms >= spec.panels[0].x.since_ms));
  for (const { texts } of readings(spec))
    assert.match(texts[0], /date of the run, UTC \d{4}-\d\d-\d\d \d\d:\d\d/);
  assert.match((await get(`key=${encodeURIComponent(key)}&metric=p9`)).error, /unknown metric 'p9'; did you mean/);
  assert.match((await get('metric=p99')).error, /key=BENCHMARK and metric=ID are needed/);
  assert.match((await get('key=nothing&metric=p99')).reason, /no run of this history has/);
  const { page, seen } = await openPage(t, long.url);
  await openRow(page, page.locator(`#section-results tr[data-benchmark="${key}"] button.link`).first());
  await page.locator('#figure-history[data-painted]').waitFor();
  await page.getByLabel('Over all runs', { exact: true }).selectOption('p95');
  await page.locator('#figure-history').getByText('95th percentile', { exact: false }).first().waitFor();
  assert.deepEqual([seen.console, seen.errors, seen.violations], [[], [], []]);
});

test('what the server cannot draw does not lead its chapter', options, async (t) => {
  const { page } = await openPage(t, url, { folded: true });
  const kernels = page.locator('#section-kernels');
  await kernels.locator('.figures > div > .slot figure[data-painted]').waitFor();
  assert.match(await kernels.locator('.folded > summary').innerText(), /, Roofline$/);
});

test('a server without --watch is not asked for news', options, async (t) => {
  const { page, seen } = await openPage(t, url);
  await page.locator('figure[data-painted]').first().waitFor();
  assert.deepEqual(seen.requests.filter((one) => one.includes('events')), []);
  assert.deepEqual([seen.console, seen.errors, seen.violations], [[], [], []]);
});

test('a long list of runs comes in parts, there and back', options, async (t) => {
  const long = await serve(history('long.db', 'one', 'two', 'three', 'four').file, '--port', '0');
  const { page, seen } = await openPage(t, `${long.url}?limit=2`);
  const shows = async (...labels) => {
    await page.locator('.runs label', { hasText: labels[0] }).waitFor();
    assert.deepEqual(await page.locator('.runs label bdi').allTextContents(), labels);
    await page.locator('.compared', { hasText: labels[0] }).waitFor(); // the newest of them
    await page.locator('#section-results').getByText(/results of 1 run/).waitFor();
    await page.locator('figure[data-painted]').first().waitFor();
  };
  const count = (name) => page.getByRole('button', { name }).count();
  await page.getByText(/^Runs: 1 of 2/).click();
  await shows('four', 'three');
  assert.equal(await count('Newest runs'), 0);
  await page.getByLabel(/^three/).check();
  await page.getByText(/^Runs: 2 of 2/).waitFor();
  await page.getByRole('button', { name: 'Earlier runs' }).click();
  await shows('two', 'one');
  assert.equal(await count('Earlier runs'), 0);
  await page.getByRole('button', { name: 'Newest runs' }).click();
  await shows('four', 'three');
  assert.deepEqual([seen.console, seen.errors, seen.violations], [[], [], []]);
});

test('more runs than a server looks at at once are not asked for', options, async (t) => {
  const labels = Array.from({ length: 13 }, (_, i) => `number-${i}`);
  const many = await serve(history('many.db', ...labels).file, '--port', '0');
  const { page, seen } = await openPage(t, many.url);
  await page.getByText(/^Runs: 1 of 13/).click();
  await page.getByRole('button', { name: 'Newest 12' }).click();
  await page.getByText(/^Runs: 12 of 13/).waitFor();
  await page.locator('#section-results').getByText(/results of 12 runs/).waitFor();
  assert.equal(await page.getByLabel(/^number-0 /).isDisabled(), true);
  assert.deepEqual([seen.console, seen.errors, seen.violations], [[], [], []]);
});

test('base and head are found by their words, and the address keeps them', options, async (t) => {
  const three = await serve(history('three.db', 'alpha', 'beta', 'gamma').file, '--port', '0');
  const { page, seen } = await openPage(t, three.url);
  const base = page.locator('#pick-base'), head = page.locator('#pick-head');
  await page.getByText('Nothing is compared').waitFor();
  assert.match(await head.inputValue(), /^3 · gamma · \d{4}-\d\d-\d\d \d\d:\d\d/);
  await base.fill('alpha');
  await base.press('Enter');
  await page.locator('.verdicts').first().waitFor();
  await page.waitForURL(/base=1/);
  await head.fill('2');
  await head.press('Enter');
  await page.locator('.compared', { hasText: 'beta' }).waitFor();
  const again = await openPage(t, page.url());
  await again.page.locator('.compared', { hasText: 'beta' }).waitFor();
  assert.match(await again.page.locator('.compared').textContent(), /Base.*alpha.*Head.*beta/s);
  await base.fill('nobody has this');
  await base.press('Enter');
  assert.equal(await base.evaluate((field) => field.validity.valid), false);
  assert.deepEqual([seen.console, seen.errors, seen.violations], [[], [], []]);
});
