/* SPDX-License-Identifier: MIT */
/*
 * Our files in speedscope, as its readers open them: its own web application, served here, loads a
 * trace and folded stacks that this build wrote, and shows their operations and times.
 * Covers: S4-29; the promise of docs/profiling.md that these files open there.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, test } from 'node:test';
import { browserArguments, openPage, packageFolder, PROGRAM, SOURCE, workFolder } from './lib.mjs';

/* It draws by WebGL; without a GPU Chromium has one in software. */
browserArguments('--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader');

/* Stacks of a profile made up, which has a GPU; the trace of a forward of this machine: speedscope adds
 * start and duration as doubles, so slices that touch to the ns, as made up ones do, may overlap there. */
const FOLDER = join(workFolder(), 'profile'), REAL = join(workFolder(), 'forward');
const profile = (...args) => execFileSync(PROGRAM, ['profile', ...args], { cwd: workFolder(),
  stdio: ['ignore', 'ignore', 'ignore'] });
profile('--import', join(SOURCE, 'tests/fixtures/profile/forward/trace.json'), '-o', FOLDER);
profile('gpt/nano/prefill', '--batch', '2', '--seq', '16', '--launches', '1', '--iterations', '4',
  '--no-store', '-o', REAL);
const { bottlenecks } = JSON.parse(readFileSync(join(REAL, 'profile.json'), 'utf8'));

const TYPES = { html: 'text/html', js: 'text/javascript', css: 'text/css', json: 'application/json' };
const OURS = { 'trace.json': REAL, 'stacks.folded': FOLDER, 'stacks-gpu.folded': FOLDER };
const release = join(packageFolder('speedscope'), 'dist/release');

/* Names alone, so nothing outside of the two folders is read. */
function answer(request, response) {
  const name = basename(new URL(request.url, 'http://here/').pathname) || 'index.html';
  try {
    const body = readFileSync(join(OURS[name] || release, name));
    response.writeHead(200, { 'Content-Type': TYPES[name.split('.').pop()] || 'application/octet-stream' });
    response.end(body);
  } catch {
    response.writeHead(404).end();
  }
}

const server = createServer(answer);
await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
after(() => server.close());
const origin = `http://127.0.0.1:${server.address().port}`;

/* Flame charts are drawn as pixels: what is written on them is noted. */
function noteTexts() {
  window.drawnTexts = new Set();
  const draw = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function fillText(text, ...rest) {
    window.drawnTexts.add(String(text));
    return draw.call(this, text, ...rest);
  };
}

async function open(t, file, view) {
  const alerts = [];
  const { page, seen } = await openPage(t, `${origin}/index.html`, { init: noteTexts,
    hash: `#profileURL=${encodeURIComponent(`${origin}/${file}`)}&title=${file}&view=${view}`,
    before: (one) => one.on('dialog', (dialog) => {
      alerts.push(dialog.message());
      return dialog.dismiss();
    }) });
  if (!await page.evaluate(() => document.createElement('canvas').getContext('webgl')))
    return null;
  return { page, seen, alerts };
}

/* Complaints of the graphics about themselves are none about our file. Nor is it that a slice ends
 * with arguments that it did not begin with: it ends what it shall. */
const FINE = [/WebGL|GPU|GL Driver/i,
  /^ts=[\d.]+: Tried to end "(.*) \{.*\}" when "\1" was on the top of the stack\. Ending \1 instead\.$/];
function assertFine({ seen, alerts }) {
  assert.deepEqual(alerts, []);
  assert.deepEqual(seen.errors, []);
  assert.deepEqual(seen.console.filter((text) => !FINE.some((one) => one.test(text))), []);
  assert.deepEqual(seen.requests.filter((url) => !url.startsWith(`${origin}/`)), []);
}

/* Rows of the table: what an operation took, with all in it and by itself, and its name. */
async function rowOf(page, name) {
  const row = page.locator('tr').filter({ has: page.getByText(name) }).first();
  await row.waitFor();
  return (await row.textContent()).replace(/\s+/g, ' ');
}

const NO_WEBGL = 'skipped: this Chromium has no WebGL, which speedscope draws with';

test('folded stacks: the operations with their shares', async (t) => {
  const opened = await open(t, 'stacks.folded', 'sandwich');
  if (!opened)
    return t.skip(NO_WEBGL);
  const { page } = opened;
  for (const name of ['layer_0', 'qkv', 'proj_2', 'embed'])
    await rowOf(page, new RegExp(`^${name}$`));
  assert.match(await rowOf(page, /^head$/), /\(20(\.\d+)?%\)/);
  assertFine(opened);
});

test('a trace: the main thread, in the order of time, with names in the frames', async (t) => {
  const opened = await open(t, 'trace.json', 'time-ordered');
  if (!opened)
    return t.skip(NO_WEBGL);
  const { page } = opened;
  /* What is too narrow has no name, what is cut is so in the middle. Which call is wide enough is known
   * from its time: on a busy machine any may have waited. */
  const longest = bottlenecks.by_self.filter(({ operation }) => !operation.startsWith('gpt/'))
    .reduce((most, one) => (one.max_ns > most.max_ns ? one : most));
  await page.waitForFunction((names) => names.every((name) =>
    [...window.drawnTexts].some((text) => text.startsWith(name))), ['gpt/', longest.operation.slice(0, 4)]);
  assertFine(opened);
});

/* "19.5ms (88%)" twice, of all and of itself: the second is our share of the sums (the table's own
 * shares are those of the median iteration). ">99%" is half a percent more,
 * "<1%" as much less. */
const HALF = { '>': 0.5, '<': -0.5, '': 0 };
test('a trace: each operation has the share that the sums of our own table give it', async (t) => {
  const opened = await open(t, 'trace.json', 'sandwich');
  if (!opened)
    return t.skip(NO_WEBGL);
  const [{ total_ns: all }] = bottlenecks.by_total;
  for (const { operation, self_ns: self } of bottlenecks.by_self.slice(0, 4)) {
    const share = self / all;
    const row = await rowOf(opened.page, new RegExp(`^${operation}$`));
    const percents = [...row.matchAll(/\(([<>]?)(\d+(?:\.\d+)?)%\)/g)]
      .map(([, sign, number]) => Number(number) + HALF[sign]);
    assert.ok(Math.abs(percents[1] - 100 * share) <= 0.51, `${operation}: ${row} and ${share}`);
  }
  assertFine(opened);
});

/* Arguments differ from call to call, and speedscope takes those of a beginning for a part of the name. */
test('a trace: one operation is one frame', async (t) => {
  const opened = await open(t, 'trace.json', 'sandwich');
  if (!opened)
    return t.skip(NO_WEBGL);
  await rowOf(opened.page, /^head$/);
  const rows = (await opened.page.locator('tr').allTextContents()).map((row) => row.replace(/^.*%\)/, ''));
  assert.deepEqual(rows.filter((row) => row.includes('{')), []);
  assert.equal(new Set(rows).size, rows.length, rows.join('\n'));
  assert.match(readFileSync(join(REAL, 'trace.json'), 'utf8'), /"ph":"E".*"name":"head".*"args":\{"/);
  assertFine(opened);
});

test('the kernels of a GPU', async (t) => {
  const opened = await open(t, 'stacks-gpu.folded', 'sandwich');
  if (!opened)
    return t.skip(NO_WEBGL);
  await rowOf(opened.page, /^gemm_kernel$/);
  assertFine(opened);
});
