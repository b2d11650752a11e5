/* SPDX-License-Identifier: MIT */
/*
 * Figures as Chromium draws them, against pictures kept in tests/web/shots. Letters differ from
 * machine to machine, so every letter counts as 7 pixels and none is seen: what is compared is marks,
 * axes, ticks and their places. A difference is written to web/shots in the build folder.
 * HARNESS_UPDATE_GOLDEN=1 keeps the new pictures. Covers: S0-11, S1-16.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { BUILD, bundlePage, openPage, packageOf, pageFile, painted, SOURCE } from './lib.mjs';

const KEPT = join(SOURCE, 'tests/web/shots'), SEEN = join(BUILD, 'web/shots');
/* Pages by width and theme, with the figures on them: each type of figure and each kind of mark, both
 * themes, narrow pages. */
const SHOTS = {
  '800-light': ['roofline', 'comparison', 'distribution-violin', 'trend', 'iterations', 'roofline-change'],
  '800-dark': ['latency-kernels', 'bottlenecks', 'sizes-gemm'],
  '600-light': ['architecture', 'comparison-bars', 'comparison-sides', 'comparison-table',
    'distribution-ecdf-kernels', 'duration-launches', 'flame', 'heatmap-sizes', 'layer-rates',
    'memory-timeline', 'operations', 'percentiles-models', 'profile-memory', 'scaling-batch',
    'speedup', 'stack-depth', 'time-split', 'timeline'],
  '600-dark': ['heatmap-models', 'efficiency', 'intensity', 'layer-times', 'memory', 'pareto'],
  '400-light': ['distribution-box', 'telemetry'],
  '400-dark': ['quantiles-kernels'],
};
const all = Object.entries(SHOTS).flatMap(([how, ids]) => ids.map((id) => ({ id, how })));
/* Edges are smoothed a little differently by each version of the browser. */
const TOLERANCE = { threshold: 0.15, includeAA: false }, SHARE = 0.002;

/* Before the page's scripts: places that follow from the width of texts are the same everywhere. */
function plainLetters() {
  const measured = CanvasRenderingContext2D.prototype.measureText;
  CanvasRenderingContext2D.prototype.measureText = function measureText(text) {
    const metrics = measured.call(this, text);
    Object.defineProperty(metrics, 'width', { value: [...text].length * 7 });
    return metrics;
  };
}

/* Nor what stands above and below a drawing: where its words take another line, the drawings below it
 * would lie half a pixel elsewhere. */
const UNSEEN = '.figure-drawing text { fill: transparent !important; stroke: none !important; }'
  + '.figure figcaption, .figure-note { display: none; }';

const folder = join(SOURCE, 'tests/fixtures/figures');
/* Views are drawn as on paper: what a reader explores is app_profile.test.mjs's. */
const specOf = (id) => ({ ...JSON.parse(readFileSync(join(folder, `${id}.json`), 'utf8')), view: undefined });

async function pageOf(t, how) {
  const [width, theme] = how.split('-'), figures = SHOTS[how].map(specOf);
  const file = pageFile({ core: { figures } },
    { template: bundlePage('painter_page.js'), name: `${how}.html` });
  const { page } = await openPage(t, file, { width: Number(width), theme, init: plainLetters });
  await page.addStyleTag({ content: UNSEEN });
  await painted(page);
  return page;
}

/* The pixels that differ, and a picture of them. */
function compared(before, after) {
  const { PNG } = packageOf('pngjs');
  const { default: pixelmatch } = packageOf('pixelmatch');
  const [a, b] = [PNG.sync.read(before), PNG.sync.read(after)];
  if (a.width !== b.width || a.height !== b.height)
    return { words: `it is ${b.width}x${b.height}, and was ${a.width}x${a.height}`, share: 1 };
  const difference = new PNG({ width: a.width, height: a.height });
  const pixels = pixelmatch(a.data, b.data, difference.data, a.width, a.height, TOLERANCE);
  return { words: `${pixels} pixels differ`, share: pixels / (a.width * a.height),
    picture: PNG.sync.write(difference) };
}

/* The difference in words; "" where there is none. */
function judged(name, seen) {
  const kept = join(KEPT, `${name}.png`);
  if (process.env.HARNESS_UPDATE_GOLDEN) {
    mkdirSync(KEPT, { recursive: true });
    writeFileSync(kept, seen);
    return '';
  }
  if (!existsSync(kept))
    return `${kept} is missing: HARNESS_UPDATE_GOLDEN=1 writes it`;
  const { words, share, picture } = compared(readFileSync(kept), seen);
  if (share <= SHARE)
    return '';
  mkdirSync(SEEN, { recursive: true });
  writeFileSync(join(SEEN, `${name}.png`), seen);
  if (picture)
    writeFileSync(join(SEEN, `${name}.difference.png`), picture);
  return `${words}; look at ${SEEN}/${name}*.png. If that is intended: HARNESS_UPDATE_GOLDEN=1, and `
    + 'look at what changes';
}

for (const [how, ids] of Object.entries(SHOTS))
  test(`${how}: the pictures are those that were kept`, async (t) => {
    const page = await pageOf(t, how), found = [];
    for (const id of ids) {
      const drawing = page.locator(`#figure-${id} .figure-drawing`);
      const words = judged(`${id}-${how}`, await drawing.screenshot({ animations: 'disabled' }));
      if (words)
        found.push(`${id}: ${words}`);
    }
    assert.deepEqual(found, []);
  });

/* "bars across, hollow", "log axis", "colour scale" */
function kindsOf({ panels, scale }) {
  const kinds = panels.flatMap(({ layers, x, y }) => [`${x.scale} axis`, `${y.scale} axis`,
    ...layers.map(({ mark, across, style }) =>
      `${mark}${across ? ' across' : ''}${style.hollow ? ', hollow' : ''}`)]);
  return scale ? [...kinds, 'colour scale'] : kinds;
}

/* The type of the preset that a figure is from: "latency-kernels" is one of latency. */
function typeOf(id, presets) {
  const named = presets.filter(({ name }) => id === name || id.startsWith(`${name}-`));
  return named.sort((a, b) => b.name.length - a.name.length)[0]?.type;
}

test('each type of figure, mark and axis has its picture', () => {
  const read = (place) => readdirSync(place).filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(join(place, name), 'utf8')));
  const presets = read(join(SOURCE, 'plots/presets')), figures = read(folder).filter((spec) => !spec.reason);
  const pictured = figures.filter(({ id }) => all.some((shot) => shot.id === id));
  const kinds = new Set(pictured.flatMap(kindsOf));
  assert.deepEqual(figures.flatMap(kindsOf).filter((kind) => !kinds.has(kind)), []);
  const types = new Set(pictured.map(({ id }) => typeOf(id, presets)));
  /* The page has an overview of its own; figures of several runs beside each other are lines and bars. */
  assert.deepEqual(presets.map(({ type }) => type)
    .filter((type) => !types.has(type) && !['overview', 'runs'].includes(type)), []);
});
