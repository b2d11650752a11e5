/* SPDX-License-Identifier: MIT */
/*
 * Features: S0-09, S0-18, S0-20, S0-23, S1-09 to S1-15, S1-20, S1-30, S1-31, S1-52, S2-02, S2-05. The
 * application in Chromium, on a report that the program wrote: every control changes what it says it
 * changes, and the address keeps it.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { BROKEN, coreOf, records, recordsFile, reportPage, SLOWER, twoSides } from './fixture.mjs';
import { accessFindings, assertQuiet, download, graphOf, openPage, shot, workFolder } from './lib.mjs';

const sides = twoSides();
const report = reportPage('report.html', [...sides, '--samples', 'all']);
const lonely = reportPage('lonely.html', [sides[1]]);
const core = coreOf(report);

/* Until the exploration shows what the address says. A figure that was drawn before is busy from the
 * change of the address on. */
async function explored(page) {
  await page.locator('#section-explore').scrollIntoViewIfNeeded();
  await page.locator('#section-explore figure[data-painted], #section-explore figure.is-absent').waitFor();
  await page.waitForFunction(() => !document.querySelector('.explore [aria-busy="true"]'));
}

/* Addresses that say the same, in whatever order. */
function sameChoice(...hashes) {
  const [one, other] = hashes.map((hash) => [...new URLSearchParams(hash.slice(1))].sort().join('&'));
  return one === other;
}

async function pointsOf(page) {
  const { data } = await graphOf(page, 'view');
  return data.filter((trace) => trace.mode === 'markers').reduce((sum, trace) => sum + trace.x.length, 0);
}

async function until(what, test, timeout = 60000) {
  const end = Date.now() + timeout;
  let last;
  while (Date.now() < end) {
    last = await test();
    if (last === true)
      return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail(`${what}: ${JSON.stringify(last)}`);
}

const openReport = (t, options) => openPage(t, report, options);

test('the answer stands at the top, and what wants attention comes first', async (t) => {
  const { page, seen } = await openReport(t);
  await page.locator('figure[data-painted]').first().waitFor();
  assert.equal(await page.locator('h1').textContent(), core.title);
  const answer = await page.locator('.answer').textContent();
  assert.match(answer, /1 of 22 benchmarks got slower and 1 broke against base\.json/);
  assert.match(answer, /1 broken, 1 slower, 20 the same of 22/);
  assert.match(answer, /chance alone would give 0\.0\d alarms at most/);
  const rows = page.locator('.verdicts tbody tr');
  assert.equal(await rows.count(), 2, 'those that are the same wait behind a button');
  assert.match(await rows.nth(0).textContent(), /✗ broken.*layernorm/);
  assert.match(await rows.nth(1).textContent(), /▲ slower.*attention\/causal.*\+1[12]\.\d %/);
  await page.getByRole('button', { name: 'Show all 22 rows' }).click();
  assert.equal(await rows.count(), 22);
  await shot(page, 'app-light');
  assertQuiet(seen);
});

test('two clicks lead from a verdict to all samples, and Escape leads back', async (t) => {
  const { page, seen } = await openReport(t);
  const row = page.locator('.verdicts tbody tr').nth(1);
  await row.getByRole('button').click();
  const dialog = page.getByRole('dialog');
  await dialog.locator('#figure-drill-order[data-painted]').waitFor();
  const { data } = await graphOf(page, 'drill-ecdf');
  assert.equal(data.filter((trace) => trace.line?.shape === 'hv').length, 2, 'a line a side');
  const { data: points } = await graphOf(page, 'drill-iterations');
  const drawn = points.filter((trace) => trace.mode === 'markers')
    .reduce((sum, trace) => sum + trace.x.length, 0);
  assert.equal(drawn, 2 * 5 * 150, 'every sample of both sides');
  const order = (await graphOf(page, 'drill-order')).data.filter((trace) => trace.mode === 'markers');
  assert.deepEqual(order.map((trace) => trace.x), [[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]]);
  const text = await dialog.textContent();
  for (const words of [SLOWER, 'slower', 'median latency', 'CLOCK_MONOTONIC_RAW', 'harness run ', 'could have seen',
    'ended byprecision', 'tolerance0.0001', 'work4.200 MFLOP'])
    assert.ok(text.includes(words), words);
  await page.waitForURL((url) => new URLSearchParams(url.hash.slice(1)).get('bench') === SLOWER);
  await shot(page, 'app-drill');
  assert.deepEqual(await accessFindings(page, 'dialog'), []);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  assert.equal(await page.evaluate(() => document.activeElement.closest('tr') !== null), true,
    'the focus is back in the row');
  await page.waitForURL((url) => !url.hash.includes('bench='));
  await page.goBack();
  assertQuiet(seen);
});

test('the focus stays inside the dialog, and Enter opens it', async (t) => {
  const { page } = await openReport(t);
  await page.locator('.verdicts tbody tr').nth(1).getByRole('button').focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').locator('table.facts').waitFor();
  for (let i = 0; i < 60; i++)
    await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement === document.body
    || document.activeElement.closest('dialog') !== null), true);
});

test('a drilled benchmark is in the address', async (t) => {
  const { page } = await openReport(t, { hash: `#bench=${encodeURIComponent(SLOWER)}` });
  await page.getByRole('dialog').getByText(SLOWER, { exact: true }).waitFor();
  await page.getByRole('dialog').getByRole('combobox').selectOption('63');
  await until('the window changes', async () => (await graphOf(page, 'drill-iterations')).data
    .some((trace) => trace.name.includes('moving median of 63')));
});

test('a condition filters verdicts, figures, results and exploration', async (t) => {
  const { page, seen } = await openReport(t, { hash: '#type=scatter&x=p50&y=gbs' });
  await explored(page);
  const all = await pointsOf(page);
  await page.getByLabel('Filter', { exact: true }).fill('variant = simd and batch >= 4');
  await until('fewer points', async () => (await pointsOf(page)) < all);
  assert.equal(await pointsOf(page), core.benchmarks.filter((bench) => bench.variant === 'simd'
    && bench.dims.batch >= 4).length * 2 - 1, 'both sides but the broken one');
  assert.match(await page.locator('#section-results [role=status]').first().textContent(),
    /^14 of 44 results/);
  await page.waitForURL(/where=variant/);
  const bars = page.locator('#slot-latency-kernels');
  await bars.scrollIntoViewIfNeeded();
  await until('the figure of the program follows', async () =>
    (await graphOf(page, 'latency-kernels')).layout.yaxis.ticktext.length === 5);
  await page.getByLabel('Filter', { exact: true }).fill('nano prefill');
  await until('words find keys', async () =>
    (await page.locator('#section-results [role=status]').first().textContent()).startsWith('4 of 44'));
  await page.getByLabel('Filter', { exact: true }).fill('batch >=');
  await until('the mistake and its column', async () =>
    (await page.locator('#where-error').textContent()).includes('column 9: here a value is missing'));
  assertQuiet(seen);
});

test('a filter reaches figures that the program alone can draw', async (t) => {
  const all = await openReport(t), rowsOf = async (page) => {
    await page.locator('#slot-comparison').scrollIntoViewIfNeeded();
    return (await graphOf(page, 'comparison')).layout.yaxis.tickvals.length;
  };
  const { page } = await openReport(t, { hash: '#where=variant%20%3D%20simd' });
  assert.ok(await rowsOf(page) < await rowsOf(all.page));
  const { layout } = await graphOf(page, 'comparison');
  assert.equal(layout.yaxis.tickvals.length, core.benchmarks.filter(({ key, variant }) => variant === 'simd'
    && key !== BROKEN).length);
  await page.locator('#slot-distribution-box').scrollIntoViewIfNeeded();
  assert.equal((await graphOf(page, 'distribution-box')).layout.yaxis.tickvals.length, 19,
    'also those that had no room among all');
  const svg = (await download(page, () => page.locator('#slot-comparison')
    .getByRole('button', { name: /^Save as SVG/ }).click())).bytes.toString();
  for (const words of ['Change against the base', '90 % interval', 'false discovery rate', 'rgb(255, 255, 255)'])
    assert.ok(svg.includes(words), `the picture has title, legend, caption and ground: ${words}`);
});

test('a click lights a benchmark in figures and tables, and the next one opens it', async (t) => {
  const { page, seen } = await openReport(t, { hash: '#columns=p50' });
  await page.locator('#slot-comparison').scrollIntoViewIfNeeded();
  await page.locator('#figure-comparison[data-painted]').waitFor();
  await page.locator('.verdicts tbody tr').nth(1).locator('td').first().click();
  await page.waitForURL((url) => new URLSearchParams(url.hash.slice(1)).get('lit') === SLOWER);
  assert.equal(await page.locator('.verdicts tr.is-lit').count(), 1);
  assert.equal(await page.locator('.results tr.is-lit').count(), 2, 'of both runs');
  const drawn = await page.locator('figure[data-painted]').count();
  assert.ok(drawn > 0 && await page.locator('figure.has-lit .figure-lit > *').count() > 0);
  assert.deepEqual(await accessFindings(page), []);
  await shot(page, 'app-lit');
  await page.locator('.verdicts tr.is-lit td').first().click();
  await page.getByRole('dialog').getByText(SLOWER, { exact: true }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Only this' }).click();
  await page.waitForURL(/where=key/);
  assert.match(await page.locator('#section-results [role=status]').first().textContent(), /^2 of 44/);
  await page.getByRole('button', { name: 'Unlight' }).click();
  assert.equal(await page.locator('.is-lit, .has-lit').count(), 0);
  await page.goBack();
  await page.locator('.verdicts tr.is-lit').waitFor();
  await page.goBack();
  await page.waitForURL((url) => url.hash.includes('lit=') && !url.hash.includes('where='));
  assertQuiet(seen);
});

test('checkboxes and ranges filter, and one button undoes them', async (t) => {
  const { page, seen } = await openReport(t);
  await page.getByText('Filters', { exact: true }).click();
  const results = page.locator('#section-results [role=status]').first();
  await page.getByRole('group', { name: 'variant' }).getByLabel('openblas').check();
  await until('12 are left', async () => (await results.textContent()).startsWith('12 of 44'));
  await page.getByRole('group', { name: 'batch' }).getByLabel('16').check();
  await until('4 are left', async () => (await results.textContent()).startsWith('4 of 44'));
  await page.waitForURL(/pick.variant=openblas/);
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await until('all are back', async () => (await results.textContent()).startsWith('44 of 44'));
  await page.getByLabel('Metric').selectOption('p50');
  await page.getByLabel(/^from/).fill('1');
  await page.getByLabel(/^from/).press('Tab');
  await until('a range of a metric', async () => {
    const [left] = (await results.textContent()).split(' ');
    return Number(left) > 0 && Number(left) < 44;
  });
  assertQuiet(seen);
});

test('runs are switched by checkboxes', async (t) => {
  const { page } = await openReport(t, { hash: '#type=scatter&x=p50&y=gbs' });
  await explored(page);
  const both = await pointsOf(page);
  await page.getByText('Runs: 2 of 2').click();
  await page.getByLabel(/^before/).uncheck();
  await until('half of the points', async () => (await pointsOf(page)) === 21 || [both, await pointsOf(page)]);
  await page.getByText('Runs: 1 of 2').waitFor();
  await page.waitForURL(/runs=1/);
  assert.match(await page.locator('.explore .code').textContent(), /harness plot .*--config view.json/);
});

const TRACES = { scatter: (data) => data.some((one) => one.mode === 'markers'),
  lines: (data) => data.some((one) => one.mode === 'lines' && one.name.includes('simd')),
  bars: (data, layout) => data.some((one) => // bars begin at zero, which no logarithmic axis has
    [layout.xaxis, layout.yaxis].some((axis) => axis.type === 'log') ? one.mode === 'markers' : one.type === 'bar'),
  box: (data) => data.some((one) => one.type === 'bar' && one.base.some((base) => base > 0)) };

test('the exploration of a file draws what it can of its numbers, and says who draws the rest', async (t) => {
  const { page, seen } = await openPage(t, lonely);
  await explored(page);
  for (const [type, test] of Object.entries(TRACES)) {
    await page.getByLabel('Type').selectOption(type);
    await page.waitForURL(new RegExp(`type=${type}`));
    await explored(page);
    const { data, layout } = await graphOf(page, 'view');
    assert.ok(test(data, layout), type);
    await shot(page.locator('.explore'), `app-explore-${type}`);
  }
  assert.deepEqual(await page.getByLabel('Type').locator('option').evaluateAll((all) => all.map(({ value }) => value)),
    Object.keys(TRACES));
  await page.evaluate(() => { window.location.hash = '#type=violin&y=p50'; });
  await page.locator('.explore figure.is-absent').getByText('a file draws points, lines, bars and boxes').waitFor();
  assertQuiet(seen);
});

test('any metric or parameter can stand on an axis', async (t) => {
  const { page } = await openReport(t);
  await explored(page);
  await page.getByLabel('X', { exact: true }).selectOption('batch');
  await until('x is the parameter', async () => (await graphOf(page, 'view')).layout.xaxis.title.text === 'batch');
  await page.getByLabel('Y', { exact: true }).selectOption('p99');
  await until('y is the metric', async () =>
    (await graphOf(page, 'view')).layout.yaxis.title.text.startsWith('99th percentile'));
  await page.evaluate(() => { window.location.hash = '#x=batch&y=p99%20%2F%20p50'; });
  await page.locator('.explore figure.is-absent').getByText('a file has no "p99 / p50"').waitFor();
});

test('logarithmic axes are switched, or say why they cannot be', async (t) => {
  const { page } = await openReport(t, { hash: '#type=scatter&x=p50&y=n' }); // what failed has no sample
  await explored(page);
  const [x, y] = [page.getByLabel('logarithmic x'), page.getByLabel(/logarithmic y/)];
  assert.equal(await y.isDisabled(), true);
  await page.getByText('some values are 0 or less').waitFor();
  const before = (await graphOf(page, 'view')).layout.xaxis.type;
  assert.equal(await x.isChecked(), before === 'log');
  await x.click();
  await until('the axis changes', async () => (await graphOf(page, 'view')).layout.xaxis.type
    === (before === 'log' ? 'linear' : 'log'));
});

test('a configuration is saved, and loaded again', async (t) => {
  const { page, seen } = await openReport(t, { hash: '#type=scatter&x=p50&y=gbs&pareto=1&xlog=1&'
    + 'where=variant%20%3D%20simd&title=Mine&group=kernel' });
  await explored(page);
  const wanted = await graphOf(page, 'view');
  const { name, bytes } = await download(page, () =>
    page.getByRole('button', { name: 'Save configuration', exact: true }).click());
  const json = JSON.parse(bytes);
  assert.deepEqual([name, json.type, json.title, json.x_scale, json.highlight_pareto],
    ['view.json', 'scatter', 'Mine', 'log', true]);
  assert.ok(json.filter.every((key) => key.includes('/simd/')) && json._why[1].includes('harness plot'));
  const hash = new URL(page.url()).hash, filter = page.getByLabel('Filter', { exact: true });
  await page.getByRole('button', { name: 'Start over' }).click();
  await filter.fill('');
  await page.waitForURL((url) => url.hash === '');
  await explored(page);
  assert.notEqual((await graphOf(page, 'view')).data.length, wanted.data.length);
  const file = join(workFolder(), 'saved.json');
  writeFileSync(file, bytes);
  await page.getByLabel('Configuration file').setInputFiles(file);
  await page.waitForURL((url) => sameChoice(url.hash, hash));
  await explored(page);
  assert.deepEqual((await graphOf(page, 'view')).data, wanted.data);
  assert.equal(await filter.inputValue(), 'variant = simd');
  writeFileSync(file, '{"a": 1}');
  await page.getByLabel('Configuration file').setInputFiles(file);
  await page.getByText('This is no configuration').waitFor();
  assertQuiet(seen);
});

/* Text in the field, and at once, before its time has come, something else. */
function typedAnd(page, text, what) {
  return page.evaluate(([typed, then, wait]) => {
    const field = document.getElementById('where');
    field.focus();
    field.value = typed;
    field.dispatchEvent(new Event('input', { bubbles: true }));
    if (then.startsWith('#'))
      window.location.hash = then;
    else
      [...document.querySelectorAll('button')].find((one) => one.textContent === then).click();
    const now = window.location.hash;
    return new Promise((resolve) => {
      setTimeout(() => resolve({ now, later: window.location.hash, field: field.value }), wait);
    });
  }, [text, what, 500]);
}

test('what is typed into the filter comes before what is done next, never after it', async (t) => {
  const { page, seen } = await openReport(t);
  await explored(page);
  const { bytes } = await download(page, async () =>
    assert.deepEqual(await typedAnd(page, 'simd', 'Save configuration'),
      { now: '#where=simd', later: '#where=simd', field: 'simd' }));
  assert.equal(JSON.parse(bytes)._view, '#where=simd');
  assert.deepEqual(await typedAnd(page, 'attention', 'Clear filters'), { now: '', later: '', field: '' });
  assert.deepEqual(await typedAnd(page, 'gemm', '#where=simd'),
    { now: '#where=simd', later: '#where=simd', field: 'simd' });
  assert.deepEqual(await typedAnd(page, 'gemm', 'Start over'),
    { now: '#where=gemm', later: '#where=gemm', field: 'gemm' });
  assertQuiet(seen);
});

test('the address shows the same again', async (t) => {
  const first = await openReport(t);
  await explored(first.page);
  await first.page.getByLabel('Type').selectOption('lines');
  await first.page.getByLabel('Y', { exact: true }).selectOption('gflops');
  await first.page.getByLabel('Theme').selectOption('dark');
  await first.page.getByLabel('Filter', { exact: true }).fill('kernel = "gemm/*"');
  await until('the address', async () => first.page.url().includes('where=kernel'));
  await explored(first.page);
  const wanted = (await graphOf(first.page, 'view')).data;
  assert.ok(wanted.length > 3, 'lines');
  const hash = new URL(first.page.url()).hash;
  const { page } = await openReport(t, { hash });
  await explored(page);
  assert.deepEqual((await graphOf(page, 'view')).data, wanted);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
  assert.equal(await page.getByLabel('Filter', { exact: true }).inputValue(), 'kernel = "gemm/*"');
});

test('results are sorted, their columns chosen, and saved', async (t) => {
  const { page, seen } = await openReport(t);
  const section = page.locator('#section-results');
  const head = section.getByRole('button', { name: 'p50', exact: true });
  await head.click();
  await section.locator('th[aria-sort="descending"]').waitFor();
  const values = async () => (await section.locator('tbody tr').evaluateAll((rows) =>
    rows.map((row) => row.children[1].textContent)));
  assert.match((await values())[0], /gpt\/nano\/prefill simd batch=4/, 'the largest first');
  await head.click();
  await section.locator('th[aria-sort="ascending"]').waitFor();
  assert.match((await values())[0], /openblas batch=1 seq=64/);
  await page.waitForURL(/sort=p50/);
  await section.getByText('Columns').click();
  await section.getByLabel(/^error:/).check();
  await section.getByRole('columnheader', { name: /error/ }).waitFor();
  const { bytes } = await download(page, () => section.getByRole('button', { name: 'Save as CSV' }).click());
  const lines = bytes.toString().trim().split('\r\n');
  assert.match(lines[0], /^run,benchmark,kernel,variant,math,device,cache,fill,.*p50 \(ns\)/);
  assert.equal(lines.length, 45);
  assert.ok(lines.some((line) => line.includes(`"${BROKEN}"`) && line.includes('WRONG')));
  await section.locator('tbody tr').first().locator('td').nth(1).click();
  await section.locator('tbody tr.is-lit').first().locator('td').nth(1).click();
  await page.getByRole('dialog').waitFor();
  assertQuiet(seen);
});

test('long tables have pages', async (t) => {
  const many = records({ launches: 1 });
  const some = many.runs[0].measurements.slice(0, 4);
  many.runs[0].measurements = Array.from({ length: 240 }, (_, i) => ({ ...some[i % 4],
    key: some[i % 4].key.replace(/batch=\d+/, `batch=${i}`) }));
  const { page } = await openPage(t, reportPage('many.html', [recordsFile('many.json', many)]));
  const section = page.locator('#section-results');
  await section.getByText('1 to 100 of 240').waitFor();
  await section.getByRole('button', { name: /later/ }).click();
  await section.getByText('101 to 200 of 240').waitFor();
  assert.equal(await section.locator('tbody tr').count(), 100);
});

test('what differs, the machine and how it was made are told', async (t) => {
  const other = recordsFile('other.json', records({ seed: 3, hour: 3, label: 'other',
    build: { compiler: 'Clang 16' } }));
  const { page } = await openPage(t, reportPage('other.html', [sides[0], other]));
  const environment = await page.locator('#section-environment').textContent();
  for (const words of ['compiler', 'GNU 12.2.0', 'Clang 16', 'Test CPU', '32.00 KiB'])
    assert.ok(environment.includes(words), words);
  const how = await page.locator('#section-how').textContent();
  for (const words of ['Figures that are not drawn', 'harness report', 'makes no requests'])
    assert.ok(how.includes(words), words);
});

test('one run has no verdicts, and the page says so', async (t) => {
  const { page, seen } = await openPage(t, lonely);
  await page.getByText('1 of 22 benchmarks has wrong results.').waitFor();
  await page.getByText('There is one run, and nothing to compare it with.').waitFor();
  assertQuiet(seen);
});

for (const theme of ['light', 'dark'])
  test(`nothing keeps readers out, ${theme}`, async (t) => {
    const { page } = await openReport(t, { theme });
    await explored(page);
    await page.getByText('Filters', { exact: true }).click();
    await page.getByText('Runs: 2 of 2').click();
    assert.deepEqual(await accessFindings(page), []);
    await shot(page, `app-${theme}-open`);
  });

test('figures are drawn one a frame, the first one first', async (t) => {
  const { page } = await openReport(t, { init: () => {
    const frames = [];
    let frame = 0;
    const count = () => { frame++; requestAnimationFrame(count); };
    requestAnimationFrame(count);
    const seen = new Set(); // the first time that each is painted
    new MutationObserver((changes) => changes.forEach(({ target }) => {
      if (!target.dataset.painted || seen.has(target)) return;
      seen.add(target);
      frames.push({ frame, top: target.getBoundingClientRect().top });
    }))
      .observe(document, { subtree: true, attributes: true, attributeFilter: ['data-painted'] });
    window.frames_ = frames;
  } });
  await until('two figures', () => page.evaluate(() => window.frames_.length > 1), 20000);
  const frames = await page.evaluate(() => window.frames_);
  assert.ok(frames[0].frame < frames[1].frame && frames[0].top < frames[1].top, JSON.stringify(frames));
});

test('a narrow screen needs no scrolling sideways', async (t) => {
  const { page } = await openReport(t, { width: 400, height: 800 });
  assert.match(await page.locator('.verdicts .when-narrow').nth(1).innerText(), /^\+1[12]\.\d %$/,
    'the change stands beside the verdict, where its column is out of sight');
  await explored(page);
  const width = () => page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(await width() <= 400, `${await width()} pixels`);
  await shot(page, 'app-narrow', { fullPage: true });
  await page.locator('.verdicts button.link').first().click();
  await page.getByRole('dialog').locator('table.facts').waitFor();
  assert.ok(await width() <= 400, `${await width()} pixels with the dialog`);
});

test('paper has no controls', async (t) => {
  const { page } = await openReport(t);
  await page.evaluate(() => { window.print = () => { window.printed = true; }; });
  await page.getByRole('button', { name: 'Print' }).click();
  await page.waitForFunction(() => window.printed, null, { timeout: 30000 });
  assert.equal(await page.locator('#app .slot .waiting').count(), 0, 'every figure is drawn');
  await page.emulateMedia({ media: 'print' });
  assert.ok(await page.locator('.figure-numbers').count() > 0);
  assert.equal(await page.locator('.figure-numbers[open]').count(), 0, 'tables of data stay off paper');
  for (const control of ['.choices', '.page-tools', '.controls', '.figure-tools', 'nav', '#section-open'])
    assert.equal(await page.locator(control).first().isVisible(), false, control);
  const pdf = await page.pdf({ format: 'A4' });
  assert.ok(pdf.length > 50000);
  if (process.env.HARNESS_SHOTS)
    writeFileSync(join(process.env.HARNESS_SHOTS, 'app.pdf'), pdf);
});

/* A browser that prints waits for nothing. */
test('whoever prints gets every figure, drawn, at once and without scrolling', async (t) => {
  const { page, seen } = await openReport(t);
  const missing = await page.evaluate(() => {
    window.dispatchEvent(new Event('beforeprint'));
    return [...document.querySelectorAll('.slot')].filter((slot) => !slot.querySelector('.is-absent')
      && !slot.querySelector('.main-svg, table')).map((slot) => slot.id);
  });
  assert.deepEqual(missing, []);
  await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
  assert.equal(await page.locator('.figure-more details[open]').count(), 0, 'folded again');
  assertQuiet(seen);
});

test('the page counts as loaded when what is seen of it is drawn', async (t) => {
  const { page } = await openReport(t, { height: 2400, init: () => window.addEventListener('load', () => {
    window.atHand_ = Boolean(window.Plotly); /* a program's print waits for nothing else */
    window.seen_ = [...document.querySelectorAll('.slot')].filter((slot) => {
      const { top, bottom } = slot.getBoundingClientRect();
      return bottom > 0 && top < window.innerHeight;
    }).map((slot) => Boolean(slot.querySelector('.main-svg, .is-absent')));
  }) });
  await page.waitForFunction(() => window.seen_);
  const drawn = await page.evaluate(() => window.seen_);
  assert.ok(drawn.length > 0 && drawn.every(Boolean), JSON.stringify(drawn));
  assert.ok(await page.evaluate(() => window.atHand_));
  assert.equal(await page.locator('iframe').count(), 0);
});

test('sections are reached by the list at the top', async (t) => {
  const { page } = await openReport(t);
  await page.getByRole('navigation').getByRole('button', { name: 'Explore' }).click();
  assert.equal(await page.evaluate(() => document.activeElement.id), 'explore-title');
});

test('a page without data says so', async (t) => {
  const file = join(workFolder(), 'empty.html');
  writeFileSync(file, readFileSync(report, 'utf8').replace(/<script type="application\/json"[^]*?<\/script>/, ''));
  const { page } = await openPage(t, file);
  await page.getByText('This page cannot be shown: it holds no data.').waitFor();
});
