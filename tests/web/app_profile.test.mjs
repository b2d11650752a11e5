/* SPDX-License-Identifier: MIT */
/* The page of a profile: its answer, with a run and without, in a file and served; the section "Where
 * the time goes" with its figures, and the views that can be explored: flame graph, timeline, table of
 * operations.
 * Covers: S3-03, S3-04, S3-08, S4-17, S4-22, S4-23, S4-24, S4-25, S4-29, S4-30, S4-32, S4-33. */
import assert from 'node:assert/strict';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { coreOf, reportPage, twoSides } from './fixture.mjs';
import { accessFindings, assertQuiet, openPage, painted, shot, SOURCE, workFolder } from './lib.mjs';
import { serveWith } from './serving.mjs';

const PROFILES = join(SOURCE, 'tests/fixtures/profile');
const BEFORE = join(PROFILES, 'forward'), AFTER = join(PROFILES, 'forward-slower');
const TRAINING = join(SOURCE, 'tests/fixtures/timeline/gpu/torch_train.json.gz');

/* Without a history: a profile needs no run. */
const report = (name, ...profiles) => reportPage(name, ['--profile', profiles.join(',')]);

/* With what `harness profile` knows beside the trace. */
function withFacts() {
  const folder = join(workFolder(), 'with-facts');
  cpSync(BEFORE, folder, { recursive: true });
  writeFileSync(join(folder, 'profile.json'), JSON.stringify({ schema_version: 1, launches: 3,
    profile: 'gpt/nano/prefill/simd/fp32/batch=4,seq=64/cpu-2t/warm',
    roofs: { math: 'fp32', flops: 9e13, bandwidth: { DRAM: 1e10, L3: 1e12 } },
    summary: { cost: { on: 60, off: 1, clock: 20 } } }));
  return folder;
}

async function open(t, profiles, options) {
  const { page, seen } = await openPage(t, report('profile.html', ...profiles), options);
  await page.locator('#section-profile').waitFor();
  return { page, seen };
}

async function figure(page, id) {
  await page.locator(`#slot-${id}`).scrollIntoViewIfNeeded();
  const card = page.locator(`#figure-${id}`);
  await page.waitForFunction((name) => document.getElementById(name)?.dataset.painted === 'true',
    `figure-${id}`);
  return card;
}

const widthOf = async (locator) => Number(await locator.getAttribute('width'));

/* The texts of all that fits a selector. */
const textsOf = (place, selector) => place.locator(selector).allTextContents();

test('a profile alone: the page opens with the answer', async (t) => {
  for (const [width, theme] of [[1280, 'light'], [400, 'dark']]) {
    const { page, seen } = await open(t, [withFacts()], { width, theme });
    const head = page.locator('header.page-head');
    assert.match(await head.locator('.headline').textContent(),
      /^head takes \d\d\.\d % of the GPU's time in gpt\/nano\/prefill and runs at \d+ % of the FMA roof; the GPU is idle/);
    assert.match(await head.locator('.answer').textContent(), /3 iterations of 3\.\d+ ms .*last of 3 launches/);
    assert.equal(await page.getByText('There is no finished run').count(), 0);
    assert.ok(await head.locator('.choices').isHidden());
    assert.deepEqual(await textsOf(page, 'nav li'), ['Where the time goes', 'How this was made', 'Open a file']);
    await painted(page);
    await shot(page, `profile-${width}-${theme}`, { fullPage: true });
    assert.deepEqual(await accessFindings(page, 'body'), []);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
    assertQuiet(seen);
  }
});

test('below it: cards, the five worst with their metrics, parts of the time, advice', async (t) => {
  const file = report('facts.html', withFacts()), { profile } = coreOf(file);
  const { page } = await openPage(t, file), section = page.locator('#section-profile');
  const labels = await textsOf(section, '.card .muted');
  for (const label of ['operations recorded', 'different operations', 'total time', 'iterations',
    'own time of a call, on average', 'of the time went into recording'])
    assert.ok(labels.includes(label), label);
  assert.deepEqual(await textsOf(section, '.card .value'), profile.cards.map((card) => card.value));
  const top = await textsOf(section, '.bottlenecks li');
  assert.equal(top.length, 5);
  assert.match(top[0], /^head .* of the time, 3 calls of .* \(mean\), .*FLOP\/s, .*B\/s, \d+ % of the FMA roof/);
  assert.match(await section.locator('.parts').textContent(), /GPU.*kernels, fills and copies/);
  const advice = await textsOf(section, '.advice li');
  assert.equal(advice.length, profile.advice.length);
  assert.ok(advice.some((text) => /launch-bound.*told from 0\.2 on \(rule launch-bound\)/s.test(text)
    || /FMA roof.*told from/s.test(text)), advice.join('; '));
});

test('with a run its verdict is the headline, and the answer heads the section', async (t) => {
  const file = reportPage('run-and-profile.html', [twoSides()[0], '--profile', BEFORE]);
  const { page, seen } = await openPage(t, file);
  assert.match(await page.locator('header .headline').textContent(), /22 benchmarks measured/);
  assert.match(await page.locator('#section-profile .headline').textContent(), /^head takes /);
  assert.ok(await page.locator('#section-results').isVisible());
  assertQuiet(seen);
});

test('of two profiles the answer is what changed most, and that one pair shows no noise', async (t) => {
  const { page } = await open(t, [BEFORE, AFTER]);
  const answer = page.locator('header .answer');
  assert.match(await answer.locator('.headline').textContent(),
    /^fc changed most: .* more an iteration \(\+2\d\.\d %\), \d+(\.\d)? % of all change\.$/);
  assert.match(await answer.textContent(), /One pair of profiles shows no noise/);
  assert.match(await page.locator('header .compared').textContent(), /Before.*forward.*After.*forward-slower/);
  assert.match((await textsOf(page, '#section-profile .bottlenecks li'))[0], /^fc .* before, .* after/);
});

test('served without any history: the same answer', async (t) => {
  const { url, stop } = await serveWith('--profile', BEFORE, '--port', '0');
  if (url === '')
    return t.skip('built without libmicrohttpd');
  const { page, seen } = await openPage(t, url);
  const refused = [];
  page.on('response', (response) => response.status() >= 400 && refused.push(response.url()));
  await page.reload();
  assert.match(await page.locator('header .headline').textContent(), /^head takes /);
  await figure(page, 'bottlenecks');
  assert.deepEqual(refused, [], 'nothing is asked that a profile alone cannot answer');
  assert.deepEqual([seen.errors, seen.violations], [[], []]);
  await stop();
});

test('names in a flame graph are whole or long enough to tell, the others stand in the tooltip', async (t) => {
  for (const width of [1280, 400]) {
    const { page } = await open(t, [BEFORE], { width });
    const flame = (await figure(page, 'flame')).locator('svg.flame').first();
    const frames = await flame.locator('g').evaluateAll((all) => all.map((g) => ({
      title: g.querySelector('title').textContent.split('\n')[0], name: g.querySelector('text')?.textContent,
      inside: !g.querySelector('text') || g.querySelector('text').getBBox().width
        <= Number(g.querySelector('rect').getAttribute('width')) })));
    assert.ok(frames.some(({ name }) => name) && frames.some(({ name }) => !name));
    for (const { title, name, inside } of frames) {
      assert.ok(inside, `${name} sticks out`);
      assert.ok(!name || name === title || (name.includes('…') && name.length >= 5), `${title}: ${name}`);
    }
  }
});

test('all figures of a profile are drawn, and a narrow page does not scroll sideways', async (t) => {
  for (const [width, theme] of [[1280, 'light'], [400, 'dark']]) {
    const { page, seen } = await open(t, [BEFORE], { width, theme });
    const ids = await page.locator('#section-profile .slot').evaluateAll((slots) =>
      slots.map((slot) => slot.id.replace('slot-', '')));
    assert.equal(ids.length, 10); // the table of operations stands with the answer
    for (const id of ids)
      assert.equal(await (await figure(page, id)).locator('.figure-banner:visible').count(), 0, id);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth),
      `${width} pixels`);
    assertQuiet(seen);
  }
});

test('a flame graph zooms by click and by key, and back', async (t) => {
  const { page, seen } = await open(t, [BEFORE]);
  const flame = (await figure(page, 'flame')).locator('svg.flame').first();
  const all = await widthOf(flame), layer = flame.locator('g', { hasText: 'layer 2' }).locator('rect');
  const before = await widthOf(layer);
  assert.ok(before < all / 4);
  await layer.click();
  assert.ok(await widthOf(layer) > all * 0.99);
  assert.match(await (await figure(page, 'flame')).locator('.slice').first().textContent(),
    /layer 2.* of all, self /);
  await flame.focus();
  await page.keyboard.press('Escape');
  assert.equal(await widthOf(layer), before);
  await page.keyboard.press('ArrowDown'); // what layer 2 calls first
  await page.keyboard.press('Enter');
  const chosen = flame.locator('g.chosen rect');
  assert.ok(await widthOf(chosen) > all * 0.99);
  assert.match(await flame.locator('g.chosen text').textContent(), /ln_1/);
  assertQuiet(seen);
});

test('a search says what share of the time matches', async (t) => {
  const { page } = await open(t, [BEFORE]);
  const card = await figure(page, 'flame');
  await card.getByLabel('Search frames').first().fill('head');
  assert.match(await card.locator('.buttons [role=status]').first().textContent(),
    /^1 frame match, 20\.\d % of the time$/);
  assert.ok(await card.locator('svg.flame').first().locator('g.dim').count() > 20);
  await card.getByLabel('Search frames').first().fill('l'); // frames within others count once
  assert.match(await card.locator('.buttons [role=status]').first().textContent(), / 100 % of the time$/);
});

test('two profiles: colours say what changed, in the legend and in words', async (t) => {
  const { page } = await open(t, [BEFORE, AFTER]);
  const card = await figure(page, 'flame');
  assert.match(await card.locator('.figure-legend-place').textContent(), /longer by 10 % or more/);
  await card.locator('svg.flame').first().locator('g:has(> text:text-is("fc"))').first().locator('rect')
    .hover();
  assert.match(await card.locator('.slice').first().textContent(), /fc .*before .*\(\+2\d\.\d %\)/);
  const fills = await card.locator('svg.flame').first().locator('rect').evaluateAll((rects) =>
    new Set(rects.map((rect) => rect.getAttribute('fill'))).size);
  assert.ok(fills >= 3, 'grey, a little and much');
});

test('the timeline has a lane for each track, and goes from slice to slice by keys', async (t) => {
  const { page, seen } = await open(t, [BEFORE]);
  const card = await figure(page, 'timeline'), timeline = card.locator('svg.timeline');
  assert.deepEqual(await timeline.locator('.lane-name').evaluateAll((names) =>
    names.map((name) => name.firstChild.textContent)), ['main', 'stream 7', 'worker 1']);
  const boxes = async () => Number(await card.locator('.timeline-slices').getAttribute('data-blocks'));
  const before = await boxes();
  await timeline.focus();
  await page.keyboard.press('ArrowRight');
  assert.match(await card.locator('.slice').textContent(), /gpt\/nano\/prefill 3\.\d+ ms/);
  for (let i = 0; i < 6; i++)
    await page.keyboard.press('w');
  assert.ok(await boxes() < before / 2, 'zoomed in, fewer are seen');
  await page.keyboard.press('0');
  assert.ok(await boxes() >= before, 'all calls, not the usual one alone');
  assertQuiet(seen);
});

test('the table of operations sorts, filters and is saved', async (t) => {
  const { page } = await open(t, [BEFORE]);
  const card = page.locator('#section-profile .operations');
  const first = () => card.locator('tbody tr th').first().textContent();
  assert.equal(await first(), 'head');
  await card.getByRole('button', { name: 'calls' }).click();
  assert.equal(await first(), 'cudaLaunchKernel');
  await card.getByLabel('Filter operations').fill('LN_');
  assert.equal(await card.locator('tbody tr').count(), 2);
  const [download] = await Promise.all([page.waitForEvent('download'),
    card.getByRole('button', { name: 'Save as CSV' }).click()]);
  const [head, row] = readFileSync(await download.path(), 'utf8').split(/\r?\n/);
  assert.match(head, /^operation,side,calls,total \(ns\),self \(ns\),share,/);
  for (const column of ['sd (ns)', 'min (ns)', 'max (ns)', 'GPU (ns)'])
    assert.ok(head.split(',').includes(column), `${column} in ${head}`);
  assert.match(row, /^ln_\d,host,18,\d+(\.\d+)?,/);
});

/* As PyTorch wrote it on a GPU: names of hundreds of characters. */
test('names of kernels are short in the table and whole in its tooltip, its filter and its file', async (t) => {
  const { page, seen } = await open(t, [TRAINING]);
  const card = page.locator('#section-profile .operations');
  await card.getByLabel('Filter operations').fill('at::native::reduce_kernel<128');
  const name = card.locator('tbody tr th bdi').first();
  assert.match(await name.textContent(), /^reduce_kernel<128, 4, .{1,45}$/u);
  assert.match(await name.getAttribute('title'), /^void at::native::reduce_kernel<.{100,}$/u);
  const [download] = await Promise.all([page.waitForEvent('download'),
    card.getByRole('button', { name: 'Save as CSV' }).click()]);
  assert.match(readFileSync(await download.path(), 'utf8'), /"void at::native::reduce_kernel</u);
  const timeline = await figure(page, 'timeline');
  await timeline.getByLabel('Search slices').fill('at::native::reduce_kernel<128');
  assert.match(await timeline.textContent(), /[1-9]\d* slices match/u);
  assertQuiet(seen);
});

test('on paper the views are drawn as figures', async (t) => {
  const { page } = await open(t, [BEFORE]);
  const card = await figure(page, 'flame');
  await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  await card.locator('.figure-drawing .bars, .figure-drawing .barlayer').first().waitFor();
  assert.ok(await card.locator('.figure-view').isHidden());
  await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
  await card.locator('svg.flame').first().waitFor();
});
