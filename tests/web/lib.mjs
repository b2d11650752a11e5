/* SPDX-License-Identifier: MIT */
/*
 * Pages in Chromium for tests: opens one, and keeps what it asked for, said and was refused.
 *
 *     const { page, seen } = await openPage(t, await pageFile({ core, figures }));
 *     await page.getByRole('button', { name: 'PNG' }).click();
 *     assertQuiet(seen);
 *
 * run.sh sets HARNESS_BUILD, HARNESS_PROGRAM and HARNESS_BROWSER.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';

export const HERE = dirname(fileURLToPath(import.meta.url));
export const SOURCE = dirname(dirname(HERE));
export const BUILD = process.env.HARNESS_BUILD;
export const PROGRAM = process.env.HARNESS_PROGRAM;

const require = createRequire(join(BUILD, 'web/tests/package.json'));
/** A package of tests/web/package.json. */
export const packageOf = (name) => require(name);

const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync',
  '--font-render-hinting=none', '--force-color-profile=srgb'];

const PATIENCE = 90000; // ms; a machine may be busy

let browser = null;
let folder = null;
let further = [];

/** Further arguments of the browser, before it is started by the first page. */
export function browserArguments(...list) {
  further = list;
}

/** The folder of a package of tests/web/package.json. */
export const packageFolder = (name) => dirname(require.resolve(`${name}/package.json`));

/** A folder of this test file's own; gone at its end. */
export function workFolder() {
  if (!folder)
    folder = mkdtempSync(join(tmpdir(), 'harness-web-'));
  return folder;
}

after(async () => {
  await browser?.close();
  if (folder)
    rmSync(folder, { recursive: true, force: true });
});

async function theBrowser() {
  if (!browser)
    browser = await packageOf('playwright-core').chromium.launch({
      executablePath: process.env.HARNESS_BROWSER, args: [...ARGUMENTS, ...further], timeout: PATIENCE });
  return browser;
}

/** JSON as it stands inside <script>. */
export const scriptJson = (value) => JSON.stringify(value).replaceAll('<', '\\u003c')
  .replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');

const packed = (value) => gzipSync(JSON.stringify(value)).toString('base64');
const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/**
 * A page of the build filled as `harness report` does it.
 * @param {object} data  core, and where there are table, figures, samples
 * @param {object} [options]  template: another file than the build's; title; connect; name
 * @returns {string} the file
 */
export function pageFile({ core, ...blocks }, { template = join(BUILD, 'web/page.html'),
  title = 'Test', connect = "'none'", name = 'page.html' } = {}) {
  const data = [`<script type="application/json" id="harness-core">${scriptJson(core)}</script>`,
    ...Object.entries(blocks).map(([id, value]) =>
      `<script type="text/plain" id="harness-${id}">${packed(value)}</script>`)];
  const page = readFileSync(template, 'utf8').split('{{title}}').join(escaped(title))
    .split('{{connect}}').join(connect).split('{{data}}').join(data.join('\n'));
  const file = join(workFolder(), name);
  writeFileSync(file, page);
  return file;
}

/** A page of another application than src/main.js, for tests of parts. @returns {string} a template
 * for pageFile() */
export function bundlePage(entry) {
  const file = join(workFolder(), `${entry.replace(/\W/g, '_')}.template.html`);
  execFileSync('node', [join(SOURCE, 'plots/web/bundle.mjs'), join(BUILD, 'web/packages'), file,
    join(HERE, entry)], { stdio: ['ignore', 'ignore', 'inherit'] });
  return file;
}

/* What the page asked for, said, threw and was refused. Its own file does not count. */
function watch(page, own, seen) {
  page.on('request', (request) => {
    const url = request.url();
    if (url.split('#')[0] !== own && !/^(data|blob):/.test(url))
      seen.requests.push(url);
  });
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()))
      seen.console.push(message.text());
  });
  page.on('pageerror', (error) => seen.errors.push(String(error.stack || error)));
}

/* As a reader who opens every chapter and figure that is folded, also in what is built later. */
function unfold() {
  const open = () => document.querySelectorAll('.folded:not([open]), .is-folded > details:not([open])')
    .forEach((details) => { details.open = true; });
  new MutationObserver(open).observe(document, { childList: true, subtree: true });
}

/* As a reader whose browser is never idle: what nobody looks at is not drawn, which is most of a page's
 * work and no part of most tests. */
function neverIdle() {
  window.requestIdleCallback = () => 0;
}

const later = (ms, value) => new Promise((resolve) => setTimeout(resolve, ms, value));

/* Once in thousands of pages Chromium's shell makes no frames any more: scripts go on, and what waits
 * for being seen, or Playwright for a thing to stand still, waits for ever. Such a test has judged
 * nothing; run.sh looks for this line. */
async function tellStandstill(t, page) {
  const frame = page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => resolve(true))));
  const makesFrames = await Promise.race([frame, later(20000, false)]).catch(() => true);
  if (!makesFrames)
    t.diagnostic('the browser makes no frames any more');
}

/**
 * @param {object} t  of node:test; the page is closed when it ends
 * @param {string} place  a file, or a URL
 * @param {object} [options]  width, height, theme ("light", "dark"), hash, init: a function to run
 *   in the page before its scripts, before: a function of the page to call before it is opened,
 *   folded: as readers get it, not with every chapter open; idle: what is out of sight is drawn, too;
 *   any of Playwright's context options
 * @returns {Promise<{page: object, seen: {requests, console, errors, violations: string[]}}>}
 */
export async function openPage(t, place, { width = 1280, height = 900, theme = 'light', hash = '',
  init, before, folded = false, idle = false, ...rest } = {}) {
  const context = await (await theBrowser()).newContext({ viewport: { width, height },
    colorScheme: theme, deviceScaleFactor: 1, acceptDownloads: true, ...rest });
  const page = await context.newPage();
  t.after(async () => {
    if (!t.passed)
      await tellStandstill(t, page);
    await context.close();
  });
  page.setDefaultTimeout(PATIENCE);
  const own = /^https?:/.test(place) ? place : pathToFileURL(place).href;
  const seen = { requests: [], console: [], errors: [], violations: [] };
  watch(page, own, seen);
  await page.exposeFunction('harnessViolation', (text) => seen.violations.push(text));
  await page.addInitScript(() => document.addEventListener('securitypolicyviolation', (event) =>
    window.harnessViolation([event.violatedDirective, 'refused', event.blockedURI, event.sample]
      .join(' '))));
  if (!folded)
    await page.addInitScript(unfold);
  if (!idle)
    await page.addInitScript(neverIdle);
  if (init)
    await page.addInitScript(init);
  await before?.(page);
  await page.goto(own + hash);
  return { page, seen };
}

/** Nothing was asked for, nothing refused, nothing thrown, nothing complained about. */
export function assertQuiet(seen) {
  assert.deepEqual(seen, { requests: [], console: [], errors: [], violations: [] });
}

/* Through the whole page, as a reader scrolls: what is near the screen is made and drawn. */
async function scrollThrough(page) {
  for (let top = 0; ; top += 700) {
    const bottom = await page.evaluate((to) => {
      window.scrollTo(0, to);
      return document.documentElement.scrollHeight;
    }, top);
    await page.waitForTimeout(50);
    if (top > bottom)
      return;
  }
}

/**
 * Opens the benchmark of a row of results by its link. A figure that comes meanwhile moves what is below
 * it, also from under a click, so that this may meet nothing, or another row; and rows come and go.
 */
export async function openRow(page, link) {
  const key = () => link.evaluate((node) => node.closest('tr').dataset.benchmark);
  const shown = () => new URLSearchParams(new URL(page.url()).hash.slice(1)).get('bench');
  while (shown() !== await key()) {
    if (shown())
      await page.keyboard.press('Escape');
    await link.click();
    await page.waitForURL(/bench=/, { timeout: 2000 }).catch(() => {});
  }
}

/** Waits until a figure, or every figure on the page, is drawn. */
export async function painted(page, id) {
  if (id) {
    await page.locator(`#figure-${id}`).evaluate((node) => node.scrollIntoView());
    await page.locator(`#figure-${id}[data-painted]`).waitFor();
    return;
  }
  await scrollThrough(page);
  for (const figure of await page.locator('figure.figure:not(.is-absent)').all()) {
    await figure.evaluate((node) => node.scrollIntoView());
    const node = await figure.elementHandle();
    await page.waitForFunction((one) => one.dataset.painted, node);
  }
}

/** What Plotly was given: { data, layout } of a figure. */
export async function graphOf(page, id) {
  const drawn = await page.waitForFunction((place) => {
    const { data, layout } = document.querySelector(place) || {};
    return data && layout ? JSON.stringify({ data, layout }) : null;
  }, `#figure-${id} .figure-drawing`);
  return JSON.parse(await drawn.jsonValue());
}

/** Clicks what starts a download. @returns {Promise<{name: string, bytes: Buffer}>} */
export async function download(page, click) {
  const [file] = await Promise.all([page.waitForEvent('download'), click()]);
  return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
}

/** Serious findings of axe, one a line. Frames, as it asks for, there are none. */
export async function accessFindings(page, selector = 'body') {
  await page.evaluate(packageOf('axe-core').source);
  const { violations } = await page.evaluate((where) => window.axe.run(where), selector);
  return violations.filter((one) => ['serious', 'critical'].includes(one.impact))
    .flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.html.slice(0, 160)} `
      + `${node.failureSummary.replaceAll('\n', ' ')}`));
}

/** A picture for a person to look at: HARNESS_SHOTS names the folder; without it none is taken. */
export async function shot(page, name, options = {}) {
  if (!process.env.HARNESS_SHOTS)
    return;
  mkdirSync(process.env.HARNESS_SHOTS, { recursive: true });
  await page.screenshot({ path: join(process.env.HARNESS_SHOTS, `${name}.png`), ...options });
}
