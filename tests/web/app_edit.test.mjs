/* SPDX-License-Identifier: MIT */
/*
 * The live page of `harness serve --edit`: a reader accepts a step on its card and annotates a run,
 * and the history has it; a page of another site can do neither. Features: S1-14, U-06.
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { harness, records, recordsFile } from './fixture.mjs';
import { accessFindings, openPage, workFolder } from './lib.mjs';
import { serve } from './serving.mjs';

const RUNS = 24, STEP = 14, NAMES = ['batch=4', 'batch=16'];
const KEYS = NAMES.map((name) => `gemm/linear/simd/fp32/${name},seq=64,n=64,k=64/cpu-2t/warm`);
const HOSTILE = '<img src=x onerror="document.title=1"> & "why" \u202eabc';

/* Two benchmarks that got slower on the same night. */
function nights() {
  return Array.from({ length: RUNS }, (_, i) => {
    const json = records({ seed: i + 1, hour: 24 * i, commit: String(i + 10).repeat(20), launches: 5 });
    json.runs[0].measurements = json.runs[0].measurements.filter((m) => KEYS.includes(m.key));
    for (const m of json.runs[0].measurements)
      m.samples_ns = m.samples_ns.map((ns) => Math.round(ns * (i < STEP ? 1 : 1.13)
        * Math.exp(0.003 * Math.sin(i * i * 7.3 + KEYS.indexOf(m.key)))));
    return recordsFile(`edit-${i}.json`, json);
  });
}

const file = join(workFolder(), 'edit.db');
harness('import', ...nights(), '--db', file);
const { url } = await serve(file, '--edit', '--port', '0');
const options = { skip: url === '' ? 'built without libmicrohttpd' : false };

test('a step is accepted on its card, with a text that stays a text', options, async (t) => {
  const { page, seen } = await openPage(t, url);
  const story = page.locator('.story', { hasText: 'batch=4' });
  await story.getByRole('button', { name: 'Accept …' }).click();
  const text = story.getByLabel('Why is this change meant to be?');
  assert.ok(await text.evaluate((input) => input === document.activeElement));
  assert.deepEqual(await accessFindings(page, '.stories'), []);
  await text.fill(HOSTILE);
  await text.press('Enter');
  await page.locator('.story.settled').getByText('accepted by').waitFor();
  const settled = await page.locator('.story.settled').innerText();
  assert.ok(settled.includes('<img src=x onerror="document.title=1"> & "why"'), settled);
  assert.equal(await page.locator('.story img').count(), 0);
  assert.equal(await page.locator('.story.settled').getByRole('button', { name: 'Accept …' }).count(), 0);
  assert.match(harness('baseline', 'accepted', '--db', file), /batch=4/);
  assert.deepEqual([seen.console, seen.errors, seen.violations], [[], [], []]);
});

test('what is accepted is so in the comparison, too', options, async (t) => {
  const { url: compared } = await serve(file, '--port', '0', '--baseline', 'run:1');
  const { page } = await openPage(t, compared);
  const row = (name) => page.locator('.verdicts tbody tr', { hasText: name });
  await row('batch=4').getByText('slower (accepted)').waitFor();
  await row('batch=16').waitFor();
  assert.doesNotMatch(await row('batch=16').innerText(), /accepted/);
  assert.match(await page.locator('.answer').innerText(), /1 accepted/);
  assert.doesNotMatch(await page.locator('.overview-change').innerText(), /batch=4\b/);
});

test('an annotation of the run stands on the card', options, async (t) => {
  const { page } = await openPage(t, url);
  const story = page.locator('.story', { hasText: 'batch=16' });
  await story.getByRole('button', { name: 'Annotate …' }).click();
  await story.getByRole('button', { name: 'Cancel' }).click();
  assert.equal(await story.locator('form').count(), 0);
  await story.getByRole('button', { name: 'Annotate …' }).click();
  await story.getByLabel('What happened with the run that has it?').fill('new BIOS');
  await story.getByRole('button', { name: 'Save it' }).click();
  await page.locator('.story', { hasText: 'annotated: new BIOS' }).first().waitFor();
  assert.match(harness('history', 'list', '--json', '--db', file), /new BIOS/);
});

test('a card of yesterday says what is wrong, and keeps the text', options, async (t) => {
  const { page } = await openPage(t, url);
  await page.route('**/api/accept', (route) => route.fulfill({ status: 409,
    contentType: 'application/json', body: '{"error":"it is accepted already"}' }));
  const story = page.locator('.story', { hasText: 'batch=16' });
  await story.getByRole('button', { name: 'Accept …' }).click();
  await story.getByLabel('Why is this change meant to be?').fill('twice');
  await story.getByRole('button', { name: 'Accept it' }).click();
  await story.getByRole('alert').getByText('it is accepted already').waitFor();
  assert.equal(await story.getByLabel('Why is this change meant to be?').inputValue(), 'twice');
});

/* Another port is another origin, and the cookie goes along: only the checks stand against it. */
test('a page of another site cannot write', options, async (t) => {
  const evil = createServer((_, answer) => {
    answer.setHeader('Content-Type', 'text/html');
    answer.end('<title>other</title>');
  });
  await new Promise((resolve) => { evil.listen(0, '127.0.0.1', resolve); });
  after(() => evil.close());
  const { page } = await openPage(t, url);
  await page.goto(`http://127.0.0.1:${evil.address().port}/`);
  const target = new URL('/api/accept', url).href;
  const outcomes = await page.evaluate(async (address) => {
    const tries = [{ mode: 'no-cors', headers: { 'Content-Type': 'text/plain' } },
      { mode: 'cors', headers: { 'Content-Type': 'application/json', 'X-Harness-Key': 'guess' } }];
    return Promise.all(tries.map((one) => fetch(address, { method: 'POST', credentials: 'include',
      body: '{}', ...one }).then((answer) => answer.type, () => 'refused')));
  }, target);
  assert.deepEqual(outcomes, ['refused', 'refused']);
  assert.equal(harness('baseline', 'accepted', '--json', '--db', file).match(/"key"/g).length, 1);
});
