/* SPDX-License-Identifier: MIT */
/*
 * Who works by keys alone stays where they are: a control that is drawn anew keeps the focus, and one
 * that is gone hands it to the next that makes sense, never to the top of the page.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coreOf, recordsFile, records, reportPage, twoSides } from './fixture.mjs';
import { openPage, pageFile } from './lib.mjs';

const sides = twoSides(), report = reportPage('report.html', sides);
const several = reportPage('several.html', [...sides, recordsFile('third.json', records({ seed: 3, hour: 3 }))]);

/* What has the focus, in words. */
const focused = (page) => page.evaluate(() => {
  const { tagName, type, labels, textContent, className } = document.activeElement;
  return tagName === 'INPUT' ? `${type} ${labels[0]?.textContent}` : `${tagName} ${textContent || className}`;
});

/* As the focus moves there after something was pressed. */
async function focusIs(page, expected, what) {
  await page.waitForFunction((pattern) => {
    const { textContent, labels } = document.activeElement;
    return document.activeElement !== document.body
      && new RegExp(pattern).test(labels?.[0]?.textContent ?? textContent);
  }, expected.source, { timeout: 20000 }).catch(() => {});
  assert.match(await focused(page), expected, what);
}

test('Space on one run after another', async (t) => {
  const { page } = await openPage(t, several);
  await page.locator('.picker summary', { hasText: 'Runs: ' }).focus();
  await page.keyboard.press('Enter');
  const boxes = page.locator('.runs input'), names = await page.locator('.runs label').allTextContents();
  assert.equal(names.length, 3);
  await boxes.nth(0).focus();
  for (const [i, name] of names.slice(0, 2).entries()) { /* without any run all are shown */
    const was = await boxes.nth(i).isChecked();
    await page.keyboard.press('Space');
    await page.waitForFunction(([at, before]) =>
      document.querySelectorAll('.runs input')[at].checked !== before, [i, was]);
    assert.equal(await focused(page), `checkbox ${name}`);
    await page.keyboard.press('Tab');
  }
});

test('the filters keep their place, too', async (t) => {
  const { page } = await openPage(t, report);
  await page.locator('.picker summary', { hasText: 'Filters' }).focus();
  await page.keyboard.press('Enter');
  await page.locator('.facets input').nth(1).focus();
  const name = await focused(page);
  await page.keyboard.press('Space');
  await page.locator('.picker summary', { hasText: 'Filters: 1 set' }).waitFor();
  assert.equal(await focused(page), name);
});

/* The report's benchmarks again and again, under other names. */
function longReport() {
  const core = coreOf(report), times = Math.ceil(250 / core.benchmarks.length);
  const benchmarks = Array.from({ length: times }, (_, n) => core.benchmarks.map((bench) =>
    ({ ...bench, key: `${bench.key}/${n}`, label: `${bench.label} ${n}` }))).flat();
  const column = (value) => benchmarks.map(value);
  return pageFile({ core: { ...core, benchmarks, figures: [], comparison: null, base: null },
    table: { run: column(() => core.head), benchmark: column((_, i) => i), launches: column(() => 5),
      outcome: column(() => 'OK'), n: column(() => 100), columns: { p50: column(() => 1000) } } },
  { name: 'long.html' });
}

test('pages of a table are turned by one key pressed again, to the last and back', async (t) => {
  const { page } = await openPage(t, longReport());
  const foot = page.locator('#section-results .pages');
  await foot.getByRole('button', { name: 'later' }).focus();
  await page.keyboard.press('Enter');
  await foot.getByText('101 to 200').waitFor();
  await focusIs(page, /later/, 'it is there again');
  await page.keyboard.press('Enter');
  await foot.getByText('201 to ').waitFor();
  await focusIs(page, /earlier/, 'there is no later one');
  await page.keyboard.press('Enter');
  await foot.getByText('101 to 200').waitFor();
  await focusIs(page, /earlier/);
});

test('"Show all rows" goes, and leads to the first row that came', async (t) => {
  const { page } = await openPage(t, report);
  const more = page.getByRole('button', { name: /^Show all \d+ rows/ }), rows = page.locator('.verdicts tbody tr');
  const shown = await rows.count();
  await more.focus();
  await page.keyboard.press('Enter');
  await more.waitFor({ state: 'detached' });
  const name = await rows.nth(shown).getByRole('button').textContent();
  assert.equal(await focused(page), `BUTTON ${name}`);
  await page.keyboard.press('Shift+Tab');
  assert.equal(await focused(page), `BUTTON ${await rows.nth(shown - 1).getByRole('button').textContent()}`);
});
