/* SPDX-License-Identifier: MIT */
/* The section "Where the time goes" of a report that was given a profile: its figures, and the views
 * that can be explored: flame graph, timeline, table of operations.
 * Covers: S3-03, S3-04, S3-08, S4-23, S4-24, S4-25, S4-29, S4-30. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { assertQuiet, openPage, PROGRAM, SOURCE, workFolder } from './lib.mjs';

const PROFILES = join(SOURCE, 'tests/fixtures/profile');
const BEFORE = join(PROFILES, 'forward'), AFTER = join(PROFILES, 'forward-slower');

/* Without a history: a profile needs no run. */
function report(name, ...profiles) {
  const file = join(workFolder(), name);
  execFileSync(PROGRAM, ['report', '--profile', profiles.join(','), '-o', file],
    { cwd: workFolder(), stdio: ['ignore', 'ignore', 'inherit'] });
  return file;
}

async function open(t, profiles, options) {
  const { page, seen } = await openPage(t, report('profile.html', ...profiles), options);
  await page.locator('#section-profile').waitFor();
  return { page, seen };
}

async function figure(page, id) {
  await page.locator(`#slot-${id}`).scrollIntoViewIfNeeded();
  const card = page.locator(`#figure-${id}`);
  await page.waitForFunction((name) => document.getElementById(name)?.dataset.painted === 'true',
    `figure-${id}`);
  return card;
}

const widthOf = async (locator) => Number(await locator.getAttribute('width'));

test('all figures of a profile are drawn, and a narrow page does not scroll sideways', async (t) => {
  for (const [width, theme] of [[1280, 'light'], [400, 'dark']]) {
    const { page, seen } = await open(t, [BEFORE], { width, theme });
    const ids = await page.locator('#section-profile .slot').evaluateAll((slots) =>
      slots.map((slot) => slot.id.replace('slot-', '')));
    assert.equal(ids.length, 12);
    for (const id of ids)
      assert.equal(await (await figure(page, id)).locator('.figure-banner:visible').count(), 0, id);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth),
      `${width} pixels`);
    assertQuiet(seen);
  }
});

test('a flame graph zooms by click and by key, and back', async (t) => {
  const { page, seen } = await open(t, [BEFORE]);
  const flame = (await figure(page, 'flame')).locator('svg.flame').first();
  const all = await widthOf(flame), layer = flame.locator('g', { hasText: 'layer 2' }).locator('rect');
  const before = await widthOf(layer);
  assert.ok(before < all / 4);
  await layer.click();
  assert.ok(await widthOf(layer) > all * 0.99);
  assert.match(await (await figure(page, 'flame')).locator('.slice').first().textContent(),
    /layer 2.* of all, self /);
  await flame.focus();
  await page.keyboard.press('Escape');
  assert.equal(await widthOf(layer), before);
  await page.keyboard.press('ArrowDown'); // what layer 2 calls first
  await page.keyboard.press('Enter');
  const chosen = flame.locator('g.chosen rect');
  assert.ok(await widthOf(chosen) > all * 0.99);
  assert.match(await flame.locator('g.chosen text').textContent(), /ln_1/);
  assertQuiet(seen);
});

test('a search says what share of the time matches', async (t) => {
  const { page } = await open(t, [BEFORE]);
  const card = await figure(page, 'flame');
  await card.getByLabel('Search frames').first().fill('head');
  assert.match(await card.locator('.buttons [role=status]').first().textContent(),
    /^1 frame match, 20\.\d % of the time$/);
  assert.ok(await card.locator('svg.flame').first().locator('g.dim').count() > 20);
  await card.getByLabel('Search frames').first().fill('l'); // frames within others count once
  assert.match(await card.locator('.buttons [role=status]').first().textContent(), / 100 % of the time$/);
});

test('two profiles: colours say what changed, in the legend and in words', async (t) => {
  const { page } = await open(t, [BEFORE, AFTER]);
  const card = await figure(page, 'flame');
  assert.match(await card.locator('.figure-legend-place').textContent(), /longer by 10 % or more/);
  await card.locator('svg.flame').first().locator('g', { hasText: /^fc$/ }).first().locator('rect').hover();
  assert.match(await card.locator('.slice').first().textContent(), /fc .*before .*\(\+2\d\.\d %\)/);
  const fills = await card.locator('svg.flame').first().locator('rect').evaluateAll((rects) =>
    new Set(rects.map((rect) => rect.getAttribute('fill'))).size);
  assert.ok(fills >= 3, 'grey, a little and much');
});

test('the timeline has a lane for each track, and goes from slice to slice by keys', async (t) => {
  const { page, seen } = await open(t, [BEFORE]);
  const card = await figure(page, 'timeline'), timeline = card.locator('svg.timeline');
  assert.deepEqual(await timeline.locator('.lane-name').evaluateAll((names) =>
    names.map((name) => name.firstChild.textContent)), ['main', 'stream 7', 'worker 1']);
  const boxes = () => timeline.locator('.slice-box').count();
  const before = await boxes();
  await timeline.focus();
  await page.keyboard.press('ArrowRight');
  assert.match(await card.locator('.slice').textContent(), /gpt\/nano\/prefill 3\.\d+ ms/);
  for (let i = 0; i < 6; i++)
    await page.keyboard.press('w');
  assert.ok(await boxes() < before / 2, 'zoomed in, fewer are seen');
  await page.keyboard.press('0');
  assert.equal(await boxes(), before);
  assertQuiet(seen);
});

test('the table of operations sorts, filters and is saved', async (t) => {
  const { page } = await open(t, [BEFORE]);
  const card = await figure(page, 'operations');
  const first = () => card.locator('tbody tr th').first().textContent();
  assert.equal(await first(), 'head');
  await card.getByRole('button', { name: 'calls' }).click();
  assert.equal(await first(), 'cudaLaunchKernel');
  await card.getByLabel('Filter operations').fill('LN_');
  assert.equal(await card.locator('tbody tr').count(), 2);
  const [download] = await Promise.all([page.waitForEvent('download'),
    card.getByRole('button', { name: 'Save as CSV' }).click()]);
  const [head, row] = readFileSync(await download.path(), 'utf8').split(/\r?\n/);
  assert.match(head, /^operation,calls,total \(ns\),self \(ns\),share \(share\)/);
  assert.match(row, /^ln_\d,18,\d+(\.\d+)?,/);
});

test('on paper the views are drawn as figures', async (t) => {
  const { page } = await open(t, [BEFORE]);
  const card = await figure(page, 'flame');
  await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  await card.locator('.figure-drawing .bars, .figure-drawing .barlayer').first().waitFor();
  assert.ok(await card.locator('.figure-view').isHidden());
  await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
  await card.locator('svg.flame').first().waitFor();
});
