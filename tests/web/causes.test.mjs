/* SPDX-License-Identifier: MIT */
/*
 * Features: why it got slower. The page has a fold for each benchmark that did, in a report, before
 * `harness serve` and for a file of `compare --explain --json` that is dropped; words are the program's.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BROKEN, SLOWER, coreOf, harness, records, recordsFile, reportPage } from './fixture.mjs';
import { accessFindings, assertQuiet, openPage, shot, workFolder } from './lib.mjs';
import { serve } from './serving.mjs';

/* The head's clock is lower by as much as SLOWER takes longer, and its compiler is another. */
function sides() {
  const base = records({ seed: 1, hour: 1, label: 'before' });
  const head = records({ seed: 2, hour: 2, label: 'after', slower: 1.5,
    build: { compiler: 'GNU 13.1.0' } });
  for (const m of head.runs[0].measurements)
    if (m.key === SLOWER)
      m.telemetry.cpu_mhz = 2000;
  return [recordsFile('causes-base.json', base), recordsFile('causes-head.json', head)];
}

const files = sides(), report = reportPage('causes.html', files);
const alone = reportPage('causes-one.html', [files[0]]);
const database = join(workFolder(), 'causes.db');
harness('import', ...files, '--db', database);
const explained = JSON.parse(harness('compare', '--baseline', files[0], '--head', files[1], '--explain',
  '--json', '--db', database));

async function causes(page) {
  const fold = page.locator('#section-comparison .cause, .dropped .cause').first();
  await fold.waitFor();
  await fold.evaluate((one) => { one.open = true; });
  return fold.innerText();
}

test('the program explains the page as it explains a comparison', () => {
  const mine = coreOf(report).comparison.explanations;
  assert.equal(mine[0].key, SLOWER);
  assert.deepEqual(mine.map((one) => one.causes.map((cause) => cause.words)),
    explained.explanations.map((one) => one.causes.map((cause) => cause.words)));
});

test('a report has a fold for what got slower', async (t) => {
  const { page, seen } = await openPage(t, report);
  const text = await causes(page);
  assert.match(text, /^attention\/causal.*: a slower clock: -33\.3 %/);
  for (const { words, evidence } of coreOf(report).comparison.explanations[0].causes)
    assert.ok(text.includes(words) && text.includes(evidence), `${words}, ${evidence}: ${text}`);
  assert.deepEqual(await accessFindings(page, '.causes'), []);
  await shot(page.locator('.causes'), 'causes');
  assertQuiet(seen);
  await page.getByLabel('Filter', { exact: true }).fill('kernel = layernorm/plain');
  await page.locator('.causes').waitFor({ state: 'detached' });
});

test('nothing got slower: no fold', async (t) => {
  const { page } = await openPage(t, reportPage('causes-none.html', [files[0],
    recordsFile('causes-same.json', records({ seed: 3, hour: 3, label: 'same' }))]));
  await page.locator('.verdicts tbody tr').first().waitFor();
  assert.equal(await page.locator('.causes').count(), 0);
});

test('the live page has it, and the command for the rest', async (t) => {
  const { url } = await serve(database, '--port', '0', '--baseline', 'before');
  if (url === '') {
    t.skip('built without libmicrohttpd');
    return;
  }
  const { page } = await openPage(t, url);
  assert.match(await causes(page), /clock: -33\.3 %/);
  assert.ok((await page.locator('.causes code').first().innerText()).endsWith(` ${SLOWER} --explain`));
});

test('a dropped comparison brings its own', async (t) => {
  const file = join(workFolder(), 'explained.json');
  writeFileSync(file, JSON.stringify(explained));
  const { page } = await openPage(t, alone);
  await page.locator('#drop-file').setInputFiles(file);
  assert.match(await causes(page), /clock: -33\.3 %/);
});

/* One that is slower on both is told on both; of a third row of another benchmark nothing is. */
for (const [name, told, places, more] of [
  ['each has its own, and others are counted', [{ machine: 'epyc' }, { machine: 'xeon' }], ['epyc', 'xeon'], 1],
  ['another class is counted', [{ machine: 'xeon' }], ['xeon'], 2],
  ['one of any machine is of all', [{}], [undefined], 1],
]) {
  test(`a dropped comparison of two machine classes: ${name}`, async (t) => {
    const [why] = explained.explanations, red = explained.rows.find(({ key }) => key === SLOWER);
    const file = join(workFolder(), 'classes.json');
    writeFileSync(file, JSON.stringify({ ...explained,
      explanations: told.map((one) => ({ ...why, machine: undefined, ...one })),
      rows: [['epyc', SLOWER], ['xeon', SLOWER], ['epyc', BROKEN]]
        .map(([machine, key]) => ({ ...red, machine, key })) }));
    const { page } = await openPage(t, alone);
    await page.locator('#drop-file').setInputFiles(file);
    await page.locator('.dropped .causes').waitFor();
    const summaries = await page.locator('.dropped .cause summary').allInnerTexts();
    assert.deepEqual(summaries.map((text) => / on (\w+): a slower clock/.exec(text)?.[1]), places);
    assert.equal(await page.locator('.dropped .causes > p').innerText(), `${more} more got slower.`);
  });
}
