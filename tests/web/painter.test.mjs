/* SPDX-License-Identifier: MIT */
/*
 * Figures in Chromium, without the application: what Plotly is given, zoom, legend, keys, files,
 * the content security policy, contrast and labels.
 * Covers: S0-11, S0-20, S0-23, S1-13, S1-16, S1-17, S1-18, S1-27, S1-28.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { accessFindings, assertQuiet, bundlePage, download, graphOf, openPage, packageOf, pageFile,
  painted, shot, SOURCE } from './lib.mjs';

const folder = join(SOURCE, 'tests/fixtures/figures');
const figures = Object.fromEntries(readdirSync(folder).filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')))
  .map((spec) => [spec.id, { ...spec, view: undefined }])); // views: app_profile.test.mjs
const drawn = Object.values(figures).filter((spec) => !spec.reason);
const absent = { schema_version: 1, id: 'absent', title: 'Not there', alt: 'Not there',
  reason: 'no benchmark has a time on both sides' };
const hostile = '</script><img src=x onerror=alert(1)>"\'`|@user\u202eabc\n'.repeat(3);

let template = null;
const painter = () => {
  template = template || bundlePage('painter_page.js');
  return template;
};
const fileOf = (specs, name) => pageFile({ core: { figures: specs } },
  { template: painter(), name });

/* As JSON knows them: it has one zero. */
const numbersOf = (data) => JSON.parse(JSON.stringify(
  data.map(({ x, y, base = null, meta }) => ({ x, y, base, meta }))));

/* Values, axes and caption of each figure on the page. */
async function assertAsGiven(page) {
  for (const spec of drawn) {
    const given = await page.evaluate((figure) => window.painter.plotOf(figure).data, spec);
    const { data, layout } = await graphOf(page, spec.id);
    assert.deepEqual(numbersOf(data), numbersOf(given), spec.id);
    spec.panels.forEach((panel, i) => {
      const low = layout[`xaxis${i ? i + 1 : ''}`].range.map((end) =>
        (panel.x.scale === 'log' ? 10 ** end : end));
      assert.ok(Math.abs(Math.min(...low) - panel.x.low) <= 1e-9 * Math.abs(panel.x.low), spec.id);
    });
    const caption = await page.locator(`#figure-${spec.id} figcaption`).textContent();
    assert.ok(caption.includes(spec.alt.slice(0, 100)), spec.id);
  }
}

/* Boxes of a figure's upright texts on the screen. */
const textBoxes = (page, id, which) => page.locator(`#figure-${id} .figure-drawing`).evaluate(
  (graph, selector) => [...graph.querySelectorAll(`${selector} text`)]
    .filter((node) => node.textContent && Math.abs(node.getScreenCTM().b) < 0.01)
    .map((node) => node.getBoundingClientRect().toJSON()), which);

const overlap = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1
  && b.top < a.bottom - 1;

for (const width of [1280, 768, 400])
  test(`every figure is drawn as it was given, and no two of its texts touch, at ${width} pixels`, async (t) => {
    const { page, seen } = await openPage(t, fileOf(drawn, `w${width}.html`), { width });
    await painted(page);
    await assertAsGiven(page);
    for (const { id } of drawn)
      for (const which of ['.xtick', '.ytick', '.annotation']) {
        const boxes = await textBoxes(page, id, which);
        boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b) =>
          assert.ok(!overlap(a, b), `${id} ${which} at ${width}`)));
      }
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth
      <= document.documentElement.clientWidth), 'the page scrolls sideways');
    await shot(page, `painter-${width}`, { fullPage: true });
    assertQuiet(seen);
  });

test('the legend hides and shows a series, by mouse and by keys', async (t) => {
  const { page } = await openPage(t, fileOf([figures['latency-kernels']], 'legend.html'));
  await painted(page);
  const names = async () => (await graphOf(page, 'latency-kernels')).data.map(({ name }) => name);
  const all = await names();
  const entry = page.locator('.legend-entry').first();
  const label = await entry.textContent();
  assert.ok(all.includes(label));
  await entry.click();
  await page.waitForFunction((one) => !document.querySelector('.figure-drawing').data
    .some(({ name }) => name === one), label);
  assert.equal(await page.locator('.legend-entry').first().getAttribute('aria-pressed'), 'false');
  await page.keyboard.press('Enter'); // the entry keeps the focus
  await page.waitForFunction((one) => document.querySelector('.figure-drawing').data
    .some(({ name }) => name === one), label);
  assert.deepEqual(await names(), all);
});

const rangeOf = async (page, id) => (await graphOf(page, id)).layout.xaxis.range;

test('dragging zooms, a double click and a button go back', async (t) => {
  const { page, seen } = await openPage(t, fileOf([figures.roofline], 'zoom.html'));
  await painted(page);
  const whole = await rangeOf(page, 'roofline');
  const box = await page.locator('.figure-drawing .nsewdrag').first().boundingBox();
  const at = (x, y) => [box.x + box.width * x, box.y + box.height * y];
  const zoom = async () => {
    await page.mouse.move(...at(0.3, 0.3));
    await page.mouse.down();
    await page.mouse.move(...at(0.6, 0.7), { steps: 5 });
    await page.mouse.up();
    await page.waitForFunction((low) => document.querySelector('.figure-drawing').layout.xaxis
      .range[0] > low, whole[0]);
  };
  const isWhole = () => page.waitForFunction((low) => document.querySelector('.figure-drawing')
    .layout.xaxis.range[0] === low, whole[0]);
  await zoom();
  const { layout } = await graphOf(page, 'roofline');
  const [low, high] = layout.xaxis.range.map((end) => 10 ** end);
  assert.ok(layout.xaxis.tickvals.length >= 2 && layout.xaxis.tickvals.every((tick) =>
    tick >= low * 0.999 && tick <= high * 1.001));
  await page.mouse.dblclick(...at(0.5, 0.5));
  await isWhole();
  await zoom();
  await page.getByRole('button', { name: 'Reset' }).click();
  await isWhole();
  await page.getByRole('button', { name: 'Zoom in' }).click();
  await page.waitForFunction((from) => document.querySelector('.figure-drawing').layout.xaxis
    .range[0] > from, whole[0]);
  await page.getByRole('button', { name: 'Pan' }).click();
  await page.waitForFunction(() => document.querySelector('.figure-drawing').layout.dragmode
    === 'pan');
  assertQuiet(seen);
});

/* At each point of a figure the words keep off its upright texts. */
async function hoverHidesNoText(page, id) {
  const points = page.locator(`#figure-${id} .points path`);
  await points.first().scrollIntoViewIfNeeded();
  const texts = await textBoxes(page, id, '.annotation');
  for (const point of await points.all()) {
    const { x, y, width, height } = await point.boundingBox();
    await page.mouse.move(x + width / 2, y + height / 2);
    const words = page.locator(`#figure-${id} .hovertext text.nums`);
    await words.waitFor();
    const box = await words.evaluate((node) => node.getBoundingClientRect().toJSON());
    const hidden = texts.filter((one) => overlap(one, box));
    assert.deepEqual(hidden, [], `${await words.textContent()} hides text`);
  }
}

test('hovering tells name, value and unit', async (t) => {
  const { page } = await openPage(t, fileOf([figures['latency-kernels'], figures.roofline], 'hover.html'));
  await painted(page);
  const first = page.locator('.figure-drawing .points path').first();
  await first.scrollIntoViewIfNeeded();
  const dot = await first.boundingBox();
  await page.mouse.move(dot.x + dot.width * 0.5, dot.y + dot.height / 2);
  const text = page.locator('.figure-drawing .hovertext');
  await text.waitFor();
  assert.match(await text.textContent(), /attention\/causal\/simd.*[\d.]+ µs/);
  await hoverHidesNoText(page, 'roofline');
});

test('arrow keys read the values', async (t) => {
  const { page } = await openPage(t, fileOf([figures['latency-kernels']], 'keys.html'));
  await painted(page);
  await page.locator('.figure-plot').focus();
  const reading = page.locator('.figure-reading');
  await page.keyboard.press('ArrowRight');
  const first = await reading.textContent();
  assert.match(first, /attention\/causal\/simd.*[\d.]+ µs/);
  await page.keyboard.press('ArrowRight');
  assert.notEqual(await reading.textContent(), first);
  assert.equal(await page.locator('.figure-drawing .hovertext').count(), 1);
  for (const series of [/, simd, median latency/, /naive/]) {
    await page.keyboard.press('ArrowDown');
    assert.match(await reading.textContent(), series);
  }
  await page.keyboard.press('Enter');
  const [chosen] = await page.evaluate(() => window.painter.chosen);
  assert.ok((await reading.textContent()).startsWith(chosen.key), JSON.stringify(chosen));
  await page.keyboard.press('+');
  await page.waitForFunction(() => document.querySelector('.figure-drawing').layout.xaxis.range[0]
    > 4);
});

test('files: PNG and SVG of the whole figure, CSV of its numbers, configuration', async (t) => {
  const spec = figures.roofline;
  const { page, seen } = await openPage(t, fileOf([spec], 'files.html'));
  await painted(page);
  const save = (name) => download(page, () => page.getByRole('button', { name }).click());
  const png = await save('Save as PNG');
  assert.equal(png.name, 'roofline.png');
  const { PNG } = packageOf('pngjs');
  const picture = PNG.sync.read(png.bytes);
  assert.deepEqual([picture.width, picture.height], [2 * spec.width, 2 * spec.height]);
  assert.ok(coloursOf(picture) > 20, 'the picture is empty');
  const svg = await save('Save as SVG');
  const text = svg.bytes.toString('utf8');
  assert.ok(text.includes(`<title>${spec.title}</title>`) && text.includes('<desc>Roofline of'));
  assert.ok(text.includes('arithmetic intensity (FLOP/byte, log scale)'));
  const csv = (await save('Save the numbers as CSV')).bytes.toString('utf8').trim().split('\r\n');
  assert.ok(csv[0].includes('arithmetic intensity') && csv.length > 30, csv[0]);
  await page.getByRole('button', { name: 'Save the configuration' }).click();
  assert.deepEqual(await page.evaluate(() => window.painter.saved), ['roofline']);
  assertQuiet(seen);
});

function coloursOf({ data }) {
  const found = new Set();
  for (let i = 0; i < data.length; i += 4)
    found.add(data.readUInt32LE(i));
  return found.size;
}

test('the same figure gives the same picture', async (t) => {
  const { PNG } = packageOf('pngjs');
  const { default: pixelmatch } = packageOf('pixelmatch');
  const take = async (name) => {
    const { page } = await openPage(t, fileOf([figures['latency-kernels']], name));
    await painted(page);
    return PNG.sync.read(await page.locator('.figure').screenshot());
  };
  const [a, b] = [await take('same1.html'), await take('same2.html')];
  assert.deepEqual([a.width, a.height], [b.width, b.height]);
  const different = pixelmatch(a.data, b.data, null, a.width, a.height, { threshold: 0.1 });
  assert.ok(different <= a.width * a.height * 0.001, `${different} pixels differ`);
});

test('the theme is followed at once, and paper is white', async (t) => {
  const { page, seen } = await openPage(t, fileOf([figures.roofline, absent], 'dark.html'),
    { theme: 'dark' });
  await painted(page, 'roofline');
  const textColour = async () => (await graphOf(page, 'roofline')).layout.font.color;
  assert.equal(await textColour(), '#e8eaed');
  await shot(page, 'painter-dark', { fullPage: true });
  await page.evaluate(() => { document.documentElement.dataset.theme = 'light'; });
  await page.waitForFunction(() => document.querySelector('.figure-drawing').layout.font.color
    === '#222222');
  await page.evaluate(() => { document.documentElement.dataset.theme = 'dark'; });
  await page.waitForFunction(() => document.querySelector('.figure-drawing').layout.font.color
    === '#e8eaed');
  await page.evaluate(() => window.painter.drawOnPaper(document, true));
  await page.waitForFunction(() => document.querySelector('.figure-drawing').layout.font.color
    === '#222222');
  await page.emulateMedia({ media: 'print' });
  await shot(page, 'painter-print', { fullPage: true });
  assert.equal(await page.evaluate(() => getComputedStyle(document.body.parentElement)
    .backgroundColor), 'rgb(255, 255, 255)');
  assert.equal(await page.locator('.figure-tools').first().isVisible(), false);
  assertQuiet(seen);
});

test('no serious finding of axe, light and dark, with tables open', async (t) => {
  const some = ['roofline', 'latency-kernels', 'comparison', 'heatmap-models'];
  const specs = [...some.map((id) => figures[id]), absent];
  for (const theme of ['light', 'dark']) {
    const { page } = await openPage(t, fileOf(specs, `axe-${theme}.html`), { theme });
    await painted(page);
    await page.evaluate(() => document.querySelectorAll('details').forEach((node) => {
      node.open = true;
    }));
    await page.locator('.figure-table table').first().waitFor();
    assert.deepEqual(await accessFindings(page), []);
  }
});

test('a figure that cannot be drawn says why', async (t) => {
  const { page, seen } = await openPage(t, fileOf([absent], 'absent.html'));
  assert.match(await page.locator('#figure-absent').textContent(),
    /Not drawn: no benchmark has a time on both sides/);
  assert.equal(await page.locator('.figure-plot').isVisible(), false);
  assert.equal(await page.locator('.figure-drawing .main-svg').count(), 0);
  await page.setViewportSize({ width: 600, height: 900 });
  await page.waitForTimeout(200);
  assertQuiet(seen);
});

test('a card shows another figure, or none, and is let go', async (t) => {
  const { page, seen } = await openPage(t, fileOf([figures.roofline], 'update.html'));
  await painted(page);
  const show = (spec) => page.evaluate((other) =>
    window.painter.updateFigure(window.painter.cards[0], other), spec);
  await show(figures['latency-kernels']);
  const { data } = await graphOf(page, 'latency-kernels');
  assert.ok(data.some(({ name }) => name.includes('naive')));
  assert.equal(await page.locator('.figure-title').textContent(),
    figures['latency-kernels'].title);
  await show(absent);
  assert.equal(await page.locator('.figure-plot').isVisible(), false);
  await show(figures.roofline);
  assert.equal(await page.locator('.figure-plot').isVisible(), true);
  await page.evaluate(() => window.painter.forgetFigure(window.painter.cards[0]));
  assert.equal(await page.locator('.main-svg').count(), 0);
  assertQuiet(seen);
});

test('names that try to be more than names', async (t) => {
  const spec = structuredClone(figures['latency-kernels']);
  spec.title = spec.alt = spec.caption = spec.subtitle = hostile;
  spec.panels[0].title = hostile;
  spec.panels[0].layers.forEach((layer) => { layer.label = layer.label && hostile + layer.label; });
  spec.panels[0].y.ticks.forEach((tick, i) => {
    tick.text = `${hostile}${'x'.repeat(10000)}${i}`;
  });
  const { page, seen } = await openPage(t, fileOf([spec], 'hostile.html'));
  page.on('dialog', () => assert.fail('a script ran'));
  await painted(page);
  await page.locator('.figure-plot').focus();
  await page.keyboard.press('ArrowRight');
  await page.locator('summary', { hasText: 'Data table' }).click();
  assert.equal(await page.locator('img').count(), 0);
  assert.match(await page.locator('.figure-reading').textContent(), /<img src=x/);
  await shot(page, 'painter-hostile', { fullPage: true });
  assertQuiet(seen);
});

test('without DecompressionStream the card says which browsers have it', async (t) => {
  const { page, seen } = await openPage(t, fileOf([figures.roofline], 'old.html'), {
    init: () => { delete window.DecompressionStream; } });
  const banner = page.locator('.figure-banner');
  await banner.waitFor();
  assert.match(await banner.textContent(),
    /Not drawn: .*older than Chrome 80, Firefox 113 or Safari 16.4/);
  await page.locator('summary', { hasText: 'Data table' }).click();
  await page.locator('.figure-table tbody tr').first().waitFor();
  assert.ok(await page.locator('.figure-table tbody tr').count() > 30);
  assertQuiet(seen);
});
