/* SPDX-License-Identifier: MIT */
/*
 * The pages before those who judge pages: html-validate, for the file as it is written and as a
 * browser has it in the end; axe, for the live page (the report's is in app.test.mjs). Covers: S1-14.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { recordsFile, reportPage, records, twoSides } from './fixture.mjs';
import { accessFindings, openPage, packageOf, SOURCE } from './lib.mjs';
import { history, serve } from './serving.mjs';

const { FileSystemConfigLoader, HtmlValidate } = packageOf('html-validate');

const html = new HtmlValidate(new FileSystemConfigLoader({ extends: ['html-validate:standard'], root: true }));

/* Of scripts and data the tags: megabytes in them are nothing to it. */
const bare = (text) => text.replace(/(<script\b[^>]*>)[^]*?(<\/script>)/g, '$1$2');

async function complaints(text) {
  const { results } = await html.validateString(bare(text));
  return results.flatMap(({ messages }) => messages)
    .map((one) => `${one.line}:${one.column} ${one.ruleId}: ${one.message}`);
}

const sides = twoSides();
const PAGES = {
  'two sides': reportPage('report.html', [...sides, '--samples', 'all']),
  'one run': reportPage('lonely.html', [sides[1]]),
  'nothing that can be shown': reportPage('empty.html', [recordsFile('none.json',
    { ...records(), runs: [{ ...records().runs[0], measurements: [] }] })]),
  'a profile': reportPage('profile.html', ['--profile', join(SOURCE, 'tests/fixtures/profile/forward')]),
};

/* As a browser has it, without waiting for figures below: what they are drawn of is Plotly's. */
async function built(t, place, settings) {
  const { page } = await openPage(t, place, settings);
  await page.locator('main').waitFor();
  return page;
}

test('html-validate takes the report as it is written', async () => {
  for (const [what, file] of Object.entries(PAGES))
    assert.deepEqual(await complaints(readFileSync(file, 'utf8')), [], what);
});

for (const what of ['two sides', 'a profile'])
  test(`html-validate takes the report as a browser has it: ${what}`, async (t) =>
    assert.deepEqual(await complaints(await (await built(t, PAGES[what])).content()), []));

const { file } = history('history.db', 'first', 'second', 'third');
const { url } = await serve(file, '--port', '0', '--baseline', 'first');
const options = { skip: url === '' ? 'built without libmicrohttpd' : false };

test('html-validate takes the live page, and axe finds nothing serious in it', options, async (t) => {
  assert.deepEqual(await complaints(await (await fetch(url)).text()), []);
  const page = await built(t, url);
  assert.deepEqual(await complaints(await page.content()), []);
  assert.deepEqual(await accessFindings(page), []);
});

test('they can refuse', async (t) => {
  assert.notDeepEqual(await complaints('<!doctype html><p id="a"><div id="a"></p>'), []);
  const page = await built(t, PAGES['a profile']);
  await page.evaluate(() => document.body.append(document.createElement('button')));
  assert.match((await accessFindings(page)).join('\n'), /button-name/);
});
