/* SPDX-License-Identifier: MIT */
/*
 * Figures as Chromium draws them, against pictures kept in tests/fixtures/shots. Letters differ from
 * machine to machine, so every letter counts as 7 pixels and none is seen: what is compared is marks,
 * axes, ticks and their places. A difference is written to web/shots in the build folder.
 * HARNESS_UPDATE_GOLDEN=1 keeps the new pictures. Covers: S0-11, S1-16.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { BUILD, bundlePage, openPage, packageOf, pageFile, painted, SOURCE } from './lib.mjs';

const KEPT = join(SOURCE, 'tests/fixtures/shots'), SEEN = join(BUILD, 'web/shots');
/* [figure, width, theme]: each kind of mark, both themes, a narrow page. */
const SHOTS = [['roofline', 800, 'light'], ['comparison', 800, 'light'], ['latency-kernels', 800, 'dark'],
  ['distribution-violin', 800, 'light'], ['heatmap-models', 600, 'dark'], ['trend', 800, 'light'],
  ['distribution-box', 400, 'light'], ['quantiles-kernels', 400, 'dark']];
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

const UNSEEN = '.figure-drawing text { fill: transparent !important; stroke: none !important; }';

async function take(t, [id, width, theme]) {
  const spec = JSON.parse(readFileSync(join(SOURCE, `tests/fixtures/figures/${id}.json`), 'utf8'));
  const file = pageFile({ core: { figures: [spec] } }, { template: bundlePage('painter_page.js') });
  const { page } = await openPage(t, file, { width, theme, init: plainLetters });
  await page.addStyleTag({ content: UNSEEN });
  await painted(page);
  return page.locator('.figure-drawing').screenshot({ animations: 'disabled' });
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

for (const shot of SHOTS)
  test(`${shot.join(', ')}: the picture is the one that was kept`, async (t) => {
    const name = shot.join('-'), kept = join(KEPT, `${name}.png`);
    const seen = await take(t, shot);
    if (process.env.HARNESS_UPDATE_GOLDEN) {
      mkdirSync(KEPT, { recursive: true });
      writeFileSync(kept, seen);
      return;
    }
    assert.ok(existsSync(kept), `${kept} is missing: HARNESS_UPDATE_GOLDEN=1 writes it`);
    const { words, share, picture } = compared(readFileSync(kept), seen);
    if (share <= SHARE)
      return;
    mkdirSync(SEEN, { recursive: true });
    writeFileSync(join(SEEN, `${name}.png`), seen);
    if (picture)
      writeFileSync(join(SEEN, `${name}.difference.png`), picture);
    assert.fail(`${words}; look at ${SEEN}/${name}*.png. If that is intended: `
      + 'HARNESS_UPDATE_GOLDEN=1, and look at what changes');
  });
