/* SPDX-License-Identifier: MIT */
/*
 * Features: S1-24, S2-05. A page of `harness serve --watch` that stays open: new runs, also those
 * that come while it loads, a server that ends, is killed, and comes back.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accessFindings, openPage, shot } from './lib.mjs';
import { history, serve } from './serving.mjs';

const { file, measure } = history('news.db', 'first', 'second');
let server = await serve(file, '--watch', '--port', '0');
const { url } = server;
const options = { skip: url === '' ? 'built without libmicrohttpd' : false };

const notice = (page, text) => page.locator('.notices [role="status"]').getByText(text)
  .waitFor({ timeout: 30000 });
const noNotice = (page) => page.waitForFunction(() =>
  [...document.querySelectorAll('.notices > p')].every((one) => one.textContent === ''));

async function restart() {
  server = await serve(file, '--watch', '--port', new URL(url).port);
}

test('a new run is announced, and shown when asked for', options, async (t) => {
  const { page, seen } = await openPage(t, url);
  await page.locator('figure[data-painted]').first().waitFor();
  /* A filter names the runs that it is asked about; that must not hold back the new one. */
  await page.getByLabel('Filter', { exact: true }).fill('batch >= 1');
  await page.locator('#section-results').getByText(/results of 1 run/).waitFor();
  measure('third');
  await notice(page, 'Run 3 is new.');
  await shot(page, 'news-run');
  assert.deepEqual(await accessFindings(page, '.notices'), []);
  await page.getByRole('button', { name: 'Show it' }).click();
  await page.getByText(/^Runs: 1 of 3/).waitFor();
  await page.locator('.compared', { hasText: 'third' }).waitFor();
  await noNotice(page);
  assert.deepEqual([seen.errors, seen.violations], [[], []]);
});

test('a run that comes between the page and its joining is announced', options, async (t) => {
  let join;
  const joining = new Promise((resolve) => { join = resolve; });
  const { page } = await openPage(t, url, { before: (fresh) => fresh.route('**/api/events',
    async (route) => {
      await joining;
      await route.continue();
    }) });
  await page.locator('figure[data-painted]').first().waitFor();
  measure('fourth');
  join();
  await notice(page, 'Run 4 is new.');
  await page.getByRole('button', { name: 'Not now' }).click();
  await noNotice(page);
});

test('what is there already is no news', options, async (t) => {
  let told; // opened is the page when it has been drawn, and it asks before that
  const { page } = await openPage(t, `${url}?where=run%3D1`, { before: (fresh) => {
    told = fresh.waitForResponse((response) => response.url().endsWith('/api/events'));
  } });
  await page.locator('figure[data-painted]').first().waitFor();
  await told;
  await page.waitForTimeout(1000);
  await noNotice(page);
});

/* In the page, before its own scripts: its streams are known, and whether it is seen is ours to say. */
function watchStreams() {
  window.streams = [];
  window.unseen = false;
  window.EventSource = class extends window.EventSource {
    constructor(...of) {
      super(...of);
      window.streams.push(this);
    }
  };
  Object.defineProperty(document, 'hidden', { get: () => window.unseen });
}
const turn = (page, unseen) => page.evaluate((to) => {
  window.unseen = to;
  document.dispatchEvent(new Event('visibilitychange'));
}, unseen);
const streams = (page) => page.evaluate(() => window.streams.map((one) => one.readyState));

test('a page that nobody sees holds no stream, and is told when it is seen again', options, async (t) => {
  const { page, seen } = await openPage(t, url, { init: watchStreams });
  await page.locator('figure[data-painted]').first().waitFor();
  await page.waitForFunction(() => window.streams[0].readyState === EventSource.OPEN);
  await turn(page, true);
  assert.deepEqual(await streams(page), [2]); // closed
  measure('fifth');
  await page.waitForTimeout(1500);
  await noNotice(page);
  await turn(page, false);
  await notice(page, 'Run 5 is new.');
  assert.deepEqual(await streams(page), [2, 1]);
  assert.deepEqual([seen.errors, seen.violations], [[], []]);
});

test('a server that ends says so, and its return is noticed', options, async (t) => {
  const { page, seen } = await openPage(t, url);
  await page.locator('figure[data-painted]').first().waitFor();
  await server.stop('SIGINT');
  await notice(page, /harness serve has ended/);
  await shot(page, 'news-ended');
  await restart();
  await noNotice(page);
  assert.deepEqual([seen.errors, seen.violations], [[], []]);
});

test('a server that is killed is missed; what waited for it is fetched then', options, async (t) => {
  const { page, seen } = await openPage(t, url, { height: 300 });
  await page.locator('figure[data-painted]').first().waitFor();
  await server.stop('SIGKILL');
  await notice(page, /connection to harness serve is lost/);
  const last = page.locator('.slot').last();
  await last.scrollIntoViewIfNeeded();
  await last.getByText(/the server does not answer/).waitFor();
  assert.ok(await page.locator('.notices').evaluate((strip) =>
    strip.getBoundingClientRect().top >= 0), 'the strip is in sight');
  await restart();
  await noNotice(page);
  await last.locator('figure[data-painted]').waitFor();
  assert.deepEqual([seen.errors, seen.violations], [[], []]);
});
