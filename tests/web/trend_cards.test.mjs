/* SPDX-License-Identifier: MIT */
/*
 * The cards of a history in Chromium, on a report that the program wrote in a repository whose
 * remote is a forge: what got worse first, with commits as links and the command that the program
 * printed; the trend figure names the same. Features: U-06, S1-09, S2-05.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { coreOf, records, recordsFile, reportPage } from './fixture.mjs';
import { accessFindings, assertQuiet, openPage, workFolder } from './lib.mjs';

const RUNS = 24, STEP = 14;
const WORSE = 'gemm/linear/simd/fp32/batch=4,seq=64,n=64,k=64/cpu-2t/warm';
const BETTER = 'gemm/linear/simd/fp32/batch=16,seq=64,n=64,k=64/cpu-2t/warm';
const DRIFT = 'gemm/linear/openblas/fp32/batch=4,seq=64,n=64,k=64/cpu-2t/warm';
const KEYS = [WORSE, BETTER, DRIFT];

/* Commits in the folder where reports are written, and the address of a forge. */
function commits() {
  const git = (input, ...args) => execFileSync('git', args, { cwd: workFolder(), input, encoding: 'utf8' });
  const commit = (i) => `commit refs/heads/main\ncommitter A <a@example.org> ${1700000000 + i} +0000\n`
    + `data 1\n${i % 10}\nM 100644 inline f\ndata 2\n${10 + i}\n\n`;
  git('', 'init', '-q', '-b', 'main');
  git('', 'remote', 'add', 'origin', 'https://user:secret@forge.example/owner/name.git');
  git(Array.from({ length: RUNS }, (_, i) => commit(i)).join(''), 'fast-import', '--quiet');
  return git('', 'rev-list', '--reverse', 'main').trim().split('\n');
}

/* Slower by 13 %, faster by 10 %, and slower bit by bit, with 0.3 % of noise between runs. */
function factor(key, i) {
  const noise = Math.exp(0.003 * Math.sin(i * i * 7.3 + KEYS.indexOf(key)));
  return noise * (key === DRIFT ? 1 + 0.2 * i / RUNS : i < STEP ? 1 : key === WORSE ? 1.13 : 0.9);
}

function nights(hashes) {
  return hashes.map((commit, i) => {
    const json = records({ seed: i + 1, hour: 24 * i, commit, launches: 2,
      build: { compiler: i < STEP ? 'GNU 12.2.0' : 'GNU 13.1.0' } });
    json.runs[0].measurements = json.runs[0].measurements.filter((m) => KEYS.includes(m.key));
    for (const m of json.runs[0].measurements)
      m.samples_ns = m.samples_ns.map((ns) => Math.round(ns * factor(m.key, i)));
    return recordsFile(`night-${i}.json`, json);
  });
}

const hashes = commits();
const report = reportPage('nights.html', [...nights(hashes), '--samples', 'none']);
const { trends } = coreOf(report);

test('the cards of the page are those of the program, in its order', async (t) => {
  const { page, seen } = await openPage(t, report);
  const stories = page.locator('.story');
  await stories.first().waitFor();
  assert.equal(await stories.count(), trends.cards.length);
  assert.deepEqual(trends.cards.map((card) => [card.kind, card.rank, card.key]), [
    ['drift', 'regression', DRIFT], ['step', 'surroundings', WORSE], ['step', 'improvement', BETTER]]);
  for (const [i, card] of trends.cards.entries()) {
    const text = await stories.nth(i).innerText();
    for (const words of [card.title, card.state, card.when, card.evidence, card.line.before_text])
      assert.ok(text.includes(words), `${words} is not in ${text}`);
  }
  assert.match(await stories.nth(1).innerText(), /Changed with it: compiler GNU 12\.2\.0 → GNU 13\.1\.0/);
  assertQuiet(seen);
});

test('commits are links to the forge, without the name and password of the remote', async (t) => {
  const { page } = await openPage(t, report);
  const links = page.locator('.story').nth(1).locator('a');
  await links.first().waitFor();
  assert.deepEqual(await links.evaluateAll((list) => list.map((one) => [one.href, one.textContent])),
    [hashes[STEP - 1], hashes[STEP]].map((hash) =>
      [`https://forge.example/owner/name/commit/${hash}`, hash.slice(0, 7)]));
  const command = await page.locator('.story').nth(1).locator('code').innerText();
  assert.equal(command, `harness compare --build --baseline ${hashes[STEP - 1].slice(0, 12)} `
    + `--head ${hashes[STEP].slice(0, 12)} ${WORSE}`);
  assert.equal(await page.locator('.story').nth(2).locator('code').count(), 0, 'nobody looks for the good');
});

test('the figure names the drift first, and cards fit a phone and are accessible', async (t) => {
  for (const options of [{ width: 390, height: 844 }, { theme: 'dark' }]) {
    const { page } = await openPage(t, report, options);
    await page.locator('.story').first().waitFor();
    const wide = await page.evaluate(() => [...document.querySelectorAll('.story')]
      .filter((one) => one.scrollWidth > one.clientWidth).length);
    assert.equal(wide, 0);
    assert.deepEqual(await accessFindings(page, '.stories'), []);
  }
  const { page } = await openPage(t, report);
  await page.locator('#slot-trend').scrollIntoViewIfNeeded();
  await page.locator('#slot-trend figure[data-painted]').waitFor();
  assert.match(await page.locator('#slot-trend').innerText(), /2 slower \(worst drift, \+\d+\.\d %\), 1 faster/);
});

test('a hover over the trend says which run of which day, and no place in the order', async (t) => {
  const { page } = await openPage(t, report);
  await page.locator('#slot-trend').scrollIntoViewIfNeeded();
  await page.locator('#slot-trend figure[data-painted]').waitFor();
  const texts = await page.locator('#slot-trend .figure-drawing').evaluate((graph) =>
    graph.data.filter((trace) => trace.name === 'p50' || trace.hovertext?.some((one) => one.includes('p50')))
      .flatMap((trace) => trace.hovertext));
  assert.ok(texts.length >= RUNS, String(texts.length));
  for (const text of texts)
    assert.match(text, /^<b>[^<]+<\/b><br>.* · 2026-11-\d\d<br>p50<br>latency [\d.]+ .s$/);
});
