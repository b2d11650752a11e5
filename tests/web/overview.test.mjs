/* SPDX-License-Identifier: MIT */
/* Features: one screen first. What a reader sees of a report before he scrolls, on a laptop and on a
 * phone; how long the page is; that nothing on it is wider than the screen. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { records, recordsFile, reportPage, twoSides } from './fixture.mjs';
import { assertQuiet, openPage, packageOf } from './lib.mjs';

const SCREENS = [[1280, 800], [390, 844]];
const LONGEST = 12; /* screens of 1280 by 800, of a report of two runs */

/* The texts that stand wholly inside the window, as it was opened. */
const textInView = (page) => page.evaluate(() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), texts = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(node);
    const boxes = [...range.getClientRects()];
    if (boxes.length > 0 && boxes.every((box) => box.width > 0 && box.top >= 0 && box.left >= 0
      && box.bottom <= window.innerHeight && box.right <= window.innerWidth + 1))
      texts.push(node.textContent);
  }
  return texts.join(' ').replaceAll(/\s+/g, ' ');
});

const pages = new Map();
function pageOf(kind) {
  if (!pages.has(kind))
    pages.set(kind, reportPage(`${kind}.html`, kind === 'two' ? twoSides()
      : [recordsFile('one.json', records({ seed: 3, label: 'one' }))]));
  return pages.get(kind);
}

for (const [width, height] of SCREENS) {
  test(`two runs: the answers stand in ${width} by ${height}`, async (t) => {
    const { page, seen } = await openPage(t, pageOf('two'), { width, height, folded: true });
    await page.locator('.overview-scores').waitFor();
    const text = await textInView(page);
    assert.match(text, /1 of 22 benchmarks got slower and 1 broke/);        // did it get slower?
    assert.match(text, /attention\/causal: 1[0-4]\.\d % slower/);           // what most,
    assert.match(text, /since 2026-11-01, commits 1111111\.\.2222222/);     // since when, by which?
    assert.match(text, /gemm\/linear .*0\.\d\d×/);                          // how good is it?
    assert.match(text, /noise 0\.\d % from launch to launch|The machine/i); // can one trust it?
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= width, `the page is ${wide} wide`);
    assertQuiet(seen);
  });
}

/* As wide as numbers and names get. */
const farApart = () => {
  const [base, head] = [1, 2].map((seed) => records({ seed, hour: seed, label: String(seed) }));
  for (const m of head.runs[0].measurements)
    m.samples_ns = m.samples_ns.map((ns) => Math.round(ns * (m.key.length % 2 ? 2.9 : 1858)));
  return reportPage('apart.html', [recordsFile('apart-1.json', base), recordsFile('apart-2.json', head)]);
};

test('the whole page, unfolded, is accessible on a phone, and no wider than it', async (t) => {
  const file = farApart();
  for (const theme of ['light', 'dark']) {
    const { page } = await openPage(t, file, { width: 390, height: 844, theme });
    await page.locator('figure[data-painted]').first().waitFor();
    await page.evaluate(packageOf('axe-core').source);
    const found = await page.evaluate(async () => (await window.axe.run()).violations
      .map((one) => `${one.id}: ${one.nodes[0].html.slice(0, 160)}`));
    assert.deepEqual(found, [], theme);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 390);
  }
  const { page } = await openPage(t, file, { width: 1280, height: 800, folded: true });
  const wide = await page.locator('.overview-scores').evaluate((one) => one.scrollWidth - one.clientWidth);
  assert.ok(wide <= 0, `scores are ${wide} pixels wider than their place`);
});

test('one run says that there is nothing to compare with, and how good it is', async (t) => {
  const { page } = await openPage(t, pageOf('one'), { width: 1280, height: 800, folded: true });
  await page.locator('.overview-scores').waitFor();
  const text = await textInView(page);
  assert.match(text, /Nothing to compare with yet: 22 benchmarks measured/);
  assert.match(text, /gemm\/linear/);
});

test(`two runs take at most ${LONGEST} screens, and the rail stays`, async (t) => {
  const { page } = await openPage(t, pageOf('two'), { width: 1280, height: 800, folded: true });
  for (let y = 0; y < LONGEST * 800; y += 700) {
    await page.evaluate((top) => window.scrollTo(0, top), y);
    await page.waitForTimeout(50);
  }
  const tall = await page.evaluate(() => document.documentElement.scrollHeight);
  assert.ok(tall <= LONGEST * 800, `the page is ${tall} tall`);
  const rail = await page.locator('nav.rail').boundingBox();
  assert.ok(rail.y >= 0 && rail.y < 100, `the rail is at ${rail.y}`);
  await page.locator('nav.rail').getByRole('button', { name: 'All results' }).click();
  await page.locator('#section-results table').waitFor({ state: 'visible' });
});

test('what is folded has its words in the page', async (t) => {
  const { page } = await openPage(t, pageOf('two'), { folded: true });
  const folded = page.locator('#section-kernels details.folded');
  assert.match(await folded.locator(':scope > summary').textContent(), /^\d+ more figures: /);
  assert.equal(await folded.evaluate((details) => details.open), false);
  assert.ok((await folded.textContent()).length > 500); // titles and alt sentences, not drawn yet
  await folded.locator(':scope > summary').click();
  await folded.locator('figure[data-painted]').first().waitFor();
});

test('a click on the worst change opens its benchmark', async (t) => {
  const { page } = await openPage(t, pageOf('two'), { folded: true });
  await page.locator('.change-title button').click();
  await page.locator('dialog[open]').waitFor();
  assert.match(await page.locator('dialog[open]').textContent(), /attention\/causal/);
});
