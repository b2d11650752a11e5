/* SPDX-License-Identifier: MIT */
/*
 * Features: U-07, S1-17. Names from elsewhere stay names: no script runs, no request leaves, nothing
 * turns the text round, and the page stays readable.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { records, recordsFile, reportPage } from './fixture.mjs';
import { assertQuiet, openPage, shot, workFolder } from './lib.mjs';

const EVIL = ['</script><script>window.hit=1</script>', '"><img src=x onerror="window.hit=1">',
  'left\u202eright\u2066x', 'two\nlines\u2028three', '`touch hit` $(touch hit) ; rm', '| a | b |',
  "it's {{data}} %s ${x}", '<b>bold</b>&amp;', '=cmd|calc!A1', 'javascript:window.hit=1'];
const LONG = 'x'.repeat(10000);

/* As far as the program takes such names: labels and builds hold some 90 bytes. */
function evilRun(seed, text) {
  const json = records({ seed, hour: seed, label: text.slice(0, 90), launches: 3,
    build: { branch: text.slice(0, 90), compiler: text.slice(0, 90), flags: text.slice(0, 200) } });
  json.runs[0].environment = { [text.slice(0, 60)]: text, governor: text };
  json.runs[0].measurements.filter((one) => one.key.includes('layernorm')).forEach((one) =>
    Object.assign(one, { outcome: 'FAILED', message: text, samples_ns: [] }));
  return recordsFile(`evil-${seed}.json`, json);
}

async function assertHarmless(page, seen) {
  assert.equal(await page.evaluate(() => window.hit), undefined, 'a script ran');
  assert.equal(await page.locator('#app img, #app iframe, #app b b, #app script').count(), 0);
  assertQuiet(seen);
}

const evil = reportPage('evil.html', [...EVIL.map((text, i) => evilRun(i + 1, text)),
  evilRun(EVIL.length + 1, LONG)]);

test('a report full of hostile names', async (t) => {
  const { page, seen } = await openPage(t, evil);
  await page.locator('figure[data-painted]').first().waitFor();
  await page.locator('summary', { hasText: 'Runs' }).first().click();
  for (const slot of await page.locator('.slot').all())
    await slot.scrollIntoViewIfNeeded();
  const runs = await page.locator('.runs').textContent();
  assert.ok(runs.includes('</script><script>'), 'the name is a text');
  assert.ok(runs.includes('⟨U+202E⟩') && !runs.includes('\u202e'), 'direction marks are made visible');
  const size = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(size <= 0, `the page is ${size} pixels too wide`);
  await page.locator('#section-results button.link').first().click();
  await page.getByRole('dialog').locator('table.facts').waitFor();
  await shot(page, 'app-hostile');
  await assertHarmless(page, seen);
});

test('a hostile address', async (t) => {
  const hashes = ['#where=%22%3E%3Cimg%20src%3Dx%20onerror%3Dwindow.hit%3D1%3E', '#x=constructor&y=__proto__',
    '#bench=__proto__&run=9e99', '#type=toString&runs=,,%00,-1,1e9', '#title=%3Cscript%3Ewindow.hit%3D1',
    '#theme=%22onload%3D&sort=-constructor&columns=__proto__,p50', '#pick.__proto__=1&metric=x&min=NaN'];
  for (const hash of hashes) {
    const { page, seen } = await openPage(t, evil, { hash });
    await page.locator('#section-explore').scrollIntoViewIfNeeded();
    await page.locator('#section-explore figure[data-painted], #section-explore figure.is-absent').waitFor();
    await assertHarmless(page, seen);
  }
});

test('hostile files', async (t) => {
  const { page, seen } = await openPage(t, evil);
  const text = EVIL.join(' ');
  const files = {
    'profile.json': [{ operation: text, duration_ms: 1, device: text, backend: text, gpu_ms: 1 },
      { operation: LONG, duration_ms: 1 }, { operation: '__proto__', duration_ms: 2 }],
    'trace.json': [{ ph: 'X', name: text, cat: text, ts: 0, dur: 5, pid: text, tid: text,
      args: { [text]: text, nested: { a: text } } }, { ph: 'M', name: 'thread_name', pid: text, tid: text,
      args: { name: text } }],
    'figure.json': { id: 'evil', title: text, subtitle: text, caption: text, alt: text, width: 1200,
      height: 300, legend: true, panels: [{ title: text, area: { x: 100, y: 50, width: 900, height: 200 },
        x: { label: text, scale: 'linear', low: 0, high: 2, ticks: [{ at: 1, text }] },
        y: { label: text, scale: 'category', low: -0.5, high: 0.5, ticks: [{ at: 0, text }] },
        layers: [{ mark: 'points', label: text, style: { colour: '#0072b2', shape: 'circle', size: 8,
          width: 1 }, x: [1], y: [0], text: [text] }] }] },
    'compare.json': { counts: { regressed: 1 }, base: text, head: text, metric: 'p50', notes: [text],
      rows: [{ key: text, metric: text, verdict: 'regressed', why: text, change: 0.5 }] },
  };
  for (const [name, json] of Object.entries(files)) {
    const file = join(workFolder(), name);
    writeFileSync(file, JSON.stringify(json));
    await page.locator('#drop-file').setInputFiles(file);
    const view = page.getByRole('region', { name: `Opened: ${name}` });
    await view.waitFor();
    for (const figure of await view.locator('figure:not(.is-absent)').all()) {
      await figure.scrollIntoViewIfNeeded();
      await page.waitForFunction((node) => node.dataset.painted, await figure.elementHandle());
    }
  }
  await page.locator('.timeline').first().focus();
  await page.keyboard.press('ArrowRight');
  await assertHarmless(page, seen);
});
