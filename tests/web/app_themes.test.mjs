/* SPDX-License-Identifier: MIT */
/* Features: S1-27, S1-28. Light, dark and paper: which holds when, and that a sheet has room. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reportPage, twoSides } from './fixture.mjs';
import { openPage, painted } from './lib.mjs';

const report = reportPage('themes.html', twoSides());

/* Ground and text as they are drawn, and what the browser's own controls go by. */
const colours = (page) => page.evaluate(() => {
  const { backgroundColor, color, colorScheme } = getComputedStyle(document.documentElement);
  return [backgroundColor, color, colorScheme];
});
const LIGHT = ['rgb(244, 245, 247)', 'rgb(31, 35, 40)', 'light'];
const DARK = ['rgb(18, 20, 23)', 'rgb(232, 234, 237)', 'dark'];
const PAPER = ['rgb(255, 255, 255)', 'rgb(0, 0, 0)', 'light'];

for (const [system, other] of [['light', 'dark'], ['dark', 'light']])
  test(`the system is ${system}: it is followed until something else is chosen`, async (t) => {
    const { page } = await openPage(t, report, { theme: system, folded: true });
    const of = { light: LIGHT, dark: DARK };
    assert.deepEqual(await colours(page), of[system]);
    for (const chosen of [other, system, '']) {
      await page.getByLabel('Theme').selectOption(chosen);
      assert.deepEqual(await colours(page), of[chosen || system], `chosen: ${chosen}`);
      if (chosen !== 'dark' || system !== 'dark') // all figures are drawn for paper: once, all being dark
        continue;
      await page.emulateMedia({ media: 'print' });
      assert.deepEqual(await colours(page), PAPER);
      await page.emulateMedia({ media: 'screen' });
    }
    await page.emulateMedia({ colorScheme: other });
    assert.deepEqual(await colours(page), of[other], 'the system changes');
  });

test('a sheet is wide enough, and figures are made for it', async (t) => {
  const { page } = await openPage(t, report, { width: 700, height: 990 });
  await painted(page, 'comparison');
  await page.emulateMedia({ media: 'print' });
  await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  await page.waitForFunction(() => document.querySelector('#figure-comparison .figure-drawing')
    .layout.width === 920);
  const { sheet, wide } = await page.evaluate(() => ({ sheet: document.documentElement.clientWidth,
    wide: [...document.querySelectorAll('table, .figure, .figure-drawing')].filter((one) =>
      one.getBoundingClientRect().right > document.documentElement.clientWidth)
      .map((one) => one.className) }));
  assert.equal(sheet, 700);
  assert.deepEqual(wide, []);
});
