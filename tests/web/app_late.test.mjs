/* SPDX-License-Identifier: MIT */
/* Features: S1-22, S2-05. The live page while an answer is still on its way: no click is lost, nothing waits for ever. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPage, openRow } from './lib.mjs';
import { history, serve } from './serving.mjs';

const { url } = await serve(history('late.db', 'first', 'second').file, '--port', '0');
const options = { skip: url === '' ? 'built without libmicrohttpd' : false };

/* The answer to one question is held back until it is let go. */
async function holdBack(page, path) {
  let letGo;
  const held = new Promise((resolve) => { letGo = resolve; });
  await page.route((asked) => asked.pathname === path, async (route) => {
    await held;
    await route.continue().catch(() => {}); // the page may have given it up
  }, { times: 1 });
  return letGo;
}

/* Presses it until a row of results is what is pressed: a figure that comes moves what is below. Its key. */
async function pressRow(page, button) {
  for (;;) {
    await button.hover();
    await page.mouse.down();
    const key = await page.evaluate(() => document.querySelector('button.link:active')?.closest('tr')
      ?.dataset.benchmark);
    if (key)
      return key;
    await page.mouse.up();
  }
}

test('a button that is pressed when the answer comes gets its click', options, async (t) => {
  const { page, seen } = await openPage(t, url);
  const name = page.locator('#section-results button.link').first();
  await name.waitFor();
  const letGo = await holdBack(page, '/api/core');
  const asked = page.waitForRequest(/api\/core/), answered = page.waitForResponse(/api\/core/);
  await page.getByLabel('Filter', { exact: true }).fill('batch >= 4');
  await asked;
  const key = await pressRow(page, name);
  letGo();
  await (await answered).finished();
  await page.waitForTimeout(1000); // a page that does not wait has drawn anew by then
  await page.mouse.up();
  await page.getByRole('dialog').waitFor();
  const shown = page.getByRole('dialog');
  await page.waitForURL(/bench=/);
  assert.equal(new URLSearchParams(new URL(page.url()).hash.slice(1)).get('bench'), key);
  await page.waitForFunction(() => !document.querySelector('dialog [role="status"]'));
  assert.match(await shown.textContent(), new RegExp(key.replace(/[^\w]/g, '.')));
  await page.locator('#section-results').getByText(/^\d+ of \d+ results of 1 run/).waitFor();
  assert.deepEqual([seen.errors, seen.violations], [[], []]);
});

test('a benchmark that the address names is shown when its first question was given up', options, async (t) => {
  const core = await (await fetch(new URL('/api/core', url))).json();
  const { page, seen } = await openPage(t, url, {
    hash: `#where=batch+%3E%3D+1&bench=${encodeURIComponent(core.benchmarks[0].key)}`,
    before: (page) => holdBack(page, '/api/table'),
  });
  await page.getByRole('dialog').locator('table.facts').waitFor();
  assert.deepEqual([seen.errors, seen.violations], [[], []]);
});

/* Opens one that has samples. */
async function openMeasured(page) {
  const core = await (await fetch(new URL('/api/core', url))).json();
  const { key } = core.benchmarks.find((bench) => bench.variant === 'right');
  await openRow(page, page.locator(`#section-results tr[data-benchmark="${key}"] button.link`).first());
}

test('samples wait for no history, and stay where there is none', options, async (t) => {
  const { page, seen } = await openPage(t, url), dialog = page.getByRole('dialog');
  let refuse;
  const held = new Promise((resolve) => { refuse = resolve; });
  await page.route((asked) => asked.pathname === '/api/history', async (route) => {
    await held;
    await route.fulfill({ status: 503, json: { error: 'the server is busy; try again' } });
  }, { times: 1 });
  await openMeasured(page);
  await dialog.locator('figure.figure').nth(3).waitFor();
  await dialog.getByLabel('Moving median of', { exact: true }).selectOption('5');
  assert.equal(await dialog.locator('.slot.is-kept').count(), 1);
  refuse();
  await dialog.getByText('The history could not be read: the server is busy; try again').waitFor();
  assert.equal(await dialog.locator('figure.figure').count(), 4);
  assert.equal(await dialog.locator('table.facts').count(), 1);
  assert.equal(await dialog.locator('.slot.is-kept').count(), 0);
  await dialog.getByLabel('Over all runs', { exact: true }).selectOption('p95');
  await dialog.locator('#figure-history[data-painted]').waitFor();
  assert.equal(await dialog.getByText('could not be read').count(), 0);
  assert.equal(await dialog.locator('figure.figure').count(), 5);
  assert.deepEqual([seen.errors, seen.violations], [[], []]);
});

test('samples stay where they are when the history comes', options, async (t) => {
  const { page, seen } = await openPage(t, url), dialog = page.getByRole('dialog');
  const letGo = await holdBack(page, '/api/history');
  await openMeasured(page);
  await dialog.locator('#figure-drill-order[data-painted]').waitFor();
  const topOf = async () => (await dialog.locator('.two').boundingBox()).y, top = await topOf();
  letGo();
  await dialog.locator('#figure-history[data-painted]').waitFor();
  const moved = await topOf() - top; // the place is about as high as the figure, which is some 500 pixels
  assert.ok(moved >= 0 && moved < 80, `the samples moved by ${moved} pixels`);
  assert.deepEqual([seen.errors, seen.violations], [[], []]);
});

test('what is typed into the field of a run stays when an answer comes', options, async (t) => {
  let letGo;
  const { page, seen } = await openPage(t, url, { before: async (fresh) => {
    letGo = await holdBack(fresh, '/api/table');
  } });
  const base = page.locator('#pick-base');
  await base.pressSequentially('fir');
  letGo();
  await page.locator('#section-results').getByText(/^\d+ of \d+ results of 1 run/).waitFor();
  await page.waitForTimeout(200); // a page that does not look has emptied it by then
  assert.equal(await base.inputValue(), 'fir');
  await base.press('Enter');
  await page.waitForURL(/base=1/);
  await page.waitForFunction(() => document.getElementById('pick-base').value.startsWith('1 · first · '));
  assert.deepEqual([seen.errors, seen.violations], [[], []]);
});
