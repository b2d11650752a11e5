/* SPDX-License-Identifier: MIT */
/*
 * Features: S1-09, S1-12, S1-15, S1-20, S1-52. What a file draws of its numbers are those that `harness
 * plot --config` draws from the saved configuration: each benchmark stands at the same value, on axes of
 * the same quantity. Which benchmarks stand there, and in which words, each says by itself. The page's
 * numbers have five digits.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { readTable, rowsOf } from '../../plots/web/src/data.js';
import { exploreFigure } from '../../plots/web/src/explore_figure.js';
import { itemsOf, markOf } from '../../plots/web/src/marks.js';
import { configText, presetOf, viewOf } from '../../plots/web/src/preset.js';
import { parseHash } from '../../plots/web/src/state.js';
import { coreOf, harness, reportPage, twoSides } from './fixture.mjs';
import { workFolder } from './lib.mjs';

const DIGITS = 2e-4;
const sides = twoSides();

/* One side, and both. */
const pages = { single: reportPage('single.html', [sides[1]]), multi: reportPage('multi.html', sides) };

function packed(file, id) {
  const html = readFileSync(file, 'utf8');
  const block = new RegExp(`<script type="text/plain" id="harness-${id}">([^<]*)</script>`).exec(html);
  return JSON.parse(gunzipSync(Buffer.from(block[1], 'base64')));
}

function dataOf(mode) {
  const core = coreOf(pages[mode]), table = readTable(packed(pages[mode], 'table'));
  return { core, table, rows: rowsOf(core, table), runs: core.selected };
}

/* The program's figure of a saved configuration. */
function drawn(mode, name, text) {
  const config = join(workFolder(), `${name}.view.json`), folder = join(workFolder(), `${name}.plots`);
  writeFileSync(config, text);
  harness('plot', ...(mode === 'multi' ? sides : [sides[1]]), '--config', config, '-o', folder,
    '--format', 'svg');
  return JSON.parse(readFileSync(join(folder, 'view.json'), 'utf8'));
}

/* { "key uuid mark": [[x, y], ...] of marks with a value, in base units; of a row its value alone. */
function valuesOf(spec, marks) {
  const values = new Map();
  for (const panel of spec.panels)
    for (const layer of panel.layers.filter(({ mark, style }) => marks.includes(mark)
      && style.shape !== 'cross')) /* p99 beside the value */
      for (const i of itemsOf(layer)) {
        const mark = markOf(spec, panel, layer, i), name = mark && `${mark.key} ${mark.uuid} ${layer.mark}`;
        const at = (side, axis) => (axis.scale === 'category' ? 0 : layer[side][i] * (axis.factor ?? 1));
        if (mark && layer.x?.[i] !== null && layer.y?.[i] !== null)
          values.set(name, [at('x', panel.x), layer.y ? at('y', panel.y) : 0]);
      }
  return values;
}

const near = (a, b) => Math.abs(a - b) <= DIGITS * Math.max(Math.abs(a), Math.abs(b), 1e-12);

const VIEWS = [
  ['scatter', 'single', '#type=scatter&x=p50&y=gflops', 20],
  ['scatter-log', 'single', '#type=scatter&x=p50&y=gflops&xlog=1&ylog=0&group=variant', 20],
  ['scatter-runs', 'multi', '#type=scatter&x=p50&y=gbs', 40],
  ['lines', 'single', '#type=lines&x=batch&y=p50', 14],
  ['lines-rate', 'single', '#type=lines&x=seq&y=gflops&ylog=0', 2],
  ['bars', 'single', '#type=bars&y=p50', 20],
  ['bars-rate', 'single', '#type=bars&y=gflops', 20],
  ['bars-runs', 'multi', '#type=bars&y=p50', 20],
];

for (const [name, mode, hash, least] of VIEWS)
  test(`${name} of a file has the values of the picture of its configuration`, async () => {
    const data = dataOf(mode), view = viewOf(data.core, parseHash(hash));
    const preset = presetOf(data.core, view, mode === 'multi');
    const mine = exploreFigure({ ...data, preset });
    const its = drawn(mode, name, configText(data.core, preset, { command: 'harness plot', hash }));
    const marks = ['points', 'bars'], [a, b] = [mine, its].map((spec) => valuesOf(spec, marks));
    const both = [...a.keys()].filter((key) => b.has(key));
    assert.ok(both.length >= least, `${both.length} in both, ${a.size} and ${b.size}`);
    for (const key of both)
      a.get(key).forEach((value, side) => assert.ok(near(value, b.get(key)[side]), `${key}: ${value}, ${b.get(key)}`));
    for (const side of ['x', 'y'])
      assert.deepEqual([mine.panels[0][side].scale, mine.panels[0][side].label || ''],
        [its.panels[0][side].scale, its.panels[0][side].label || '']);
    assert.ok(!mine.panels[0].layers.some((layer) => layer.mark === 'bars'
      && mine.panels[0][layer.across ? 'x' : 'y'].scale !== 'linear'), 'lengths on a logarithmic axis');
  });

test('the filter of a saved configuration leaves the same benchmarks', async () => {
  const data = dataOf('single'), view = viewOf(data.core, parseHash('#type=bars&y=p50'));
  const takes = ({ benchmark }) => data.core.benchmarks[benchmark].key.includes('/simd/');
  const keys = data.core.benchmarks.map(({ key }) => key).filter((key) => key.includes('/simd/'));
  const preset = presetOf(data.core, view, false, keys);
  const its = drawn('single', 'filtered', configText(data.core, preset, { command: 'x' }));
  const mine = exploreFigure({ ...data, rows: data.rows.filter(takes), preset });
  assert.deepEqual([...mine.benchmarks].sort(), [...its.benchmarks].sort());
  assert.equal(mine.panels[0].y.ticks.length, keys.length - 1, 'one of them has no time');
});
