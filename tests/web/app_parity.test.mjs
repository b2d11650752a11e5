/* SPDX-License-Identifier: MIT */
/*
 * Features: S1-09, S1-12, S1-15, S1-20, S1-52. What the page draws of its embedded numbers is what
 * `harness plot --config` draws from the saved configuration: same marks, values, ranges, ticks and
 * words. The page's numbers have five digits.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { readTable, rowsOf } from '../../plots/web/src/data.js';
import { makeFigure } from '../../plots/web/src/make.js';
import { configText, presetOf, viewOf } from '../../plots/web/src/preset.js';
import { parseHash } from '../../plots/web/src/state.js';
import { coreOf, harness, reportPage, twoSides } from './fixture.mjs';
import { workFolder } from './lib.mjs';

const DIGITS = 2e-4;
const sides = twoSides();

function packed(file, id) {
  const html = readFileSync(file, 'utf8');
  const block = new RegExp(`<script type="text/plain" id="harness-${id}">([^<]*)</script>`).exec(html);
  return JSON.parse(gunzipSync(Buffer.from(block[1], 'base64')));
}

/* One side, and both. */
const pages = { single: reportPage('single.html', [sides[1], '--samples', 'all']),
  multi: reportPage('multi.html', [...sides, '--samples', 'all']) };

function dataOf(mode) {
  const file = pages[mode], core = coreOf(file), table = readTable(packed(file, 'table'));
  const samples = packed(file, 'samples');
  return { core, table, rows: rowsOf(core, table), runs: core.selected,
    samples: async (run, benchmark) => samples[`${run}:${benchmark}`] || null };
}

/* The program's figure of a saved configuration. */
function drawn(mode, name, text) {
  const config = join(workFolder(), `${name}.view.json`), folder = join(workFolder(), `${name}.plots`);
  writeFileSync(config, text);
  harness('plot', ...(mode === 'multi' ? sides : [sides[1]]), '--config', config, '-o', folder,
    '--format', 'svg');
  return JSON.parse(readFileSync(join(folder, 'view.json'), 'utf8'));
}

const near = (a, b) => a === b || (typeof a === 'number' && typeof b === 'number'
  && Math.abs(a - b) <= DIGITS * Math.max(Math.abs(a), Math.abs(b), 1e-12));

function assertColumn(mine, its, where) {
  assert.equal(mine.length, its.length, `${where}: how many`);
  mine.forEach((value, i) => assert.ok(near(value, its[i]),
    `${where}[${i}]: ${value} on the page, ${its[i]} in the picture`));
}

function assertAxis(mine, its, where) {
  assert.deepEqual([mine.label || undefined, mine.scale, Boolean(mine.reversed)],
    [its.label || undefined, its.scale, Boolean(its.reversed)], where);
  assert.deepEqual(mine.ticks.filter((tick) => tick.text).map((tick) => tick.text),
    its.ticks.filter((tick) => tick.text).map((tick) => tick.text), `${where}: ticks`);
}

/* Names beside points stand where there is room: that is the painter's matter. */
/* Names, and the lines that lead to them where points crowd, are placed by each painter. */
function seriesOf(panel) {
  return panel.layers.filter((layer) => layer.mark !== 'text' || layer.outside)
    .filter((layer) => layer.mark !== 'line' || layer.label)
    .filter((layer) => ['x', 'y', 'low'].some((column) => (layer[column] || [])
      .some((value) => value !== null)));
}

/* Five digits turn "3.987" into "3.986" now and then. */
function assertTexts(mine, its, where) {
  assert.equal(mine.length, its.length, where);
  const number = /-?\d+\.?\d*/g, rest = (text) => text.replace(number, '#');
  const numbers = (text) => (text.match(number) || []).map(Number);
  mine.forEach((text, i) => {
    assert.equal(rest(text), rest(its[i]), where);
    numbers(text).forEach((value, k) => assert.ok(Math.abs(value - numbers(its[i])[k])
      <= 1e-3 * Math.abs(value), `${where}: ${text}, ${its[i]}`));
  });
}

/* Half heights of each row of a band of violins, by place. */
function outlines(layer) {
  const rows = new Map();
  layer.x.forEach((x, i) => {
    if (x === null)
      return;
    const row = Math.round((layer.low[i] + layer.high[i]) / 2);
    rows.set(row, [...(rows.get(row) || []), [x, (layer.high[i] - layer.low[i]) / 2]]);
  });
  return rows;
}

function heightAt(points, x) {
  const i = Math.max(1, points.findIndex((point) => point[0] >= x));
  const [[x0, y0], [x1, y1]] = [points[i - 1], points[i]];
  return y0 + (y1 - y0) * (x - x0) / (x1 - x0);
}

/* Places follow quantiles and so differ a little; the shape must not. */
function assertShapes(mine, its, where) {
  const [a, b] = [outlines(mine), outlines(its)];
  assert.deepEqual([...a.keys()], [...b.keys()], where);
  for (const [row, points] of a) {
    const other = b.get(row), inside = points.filter(([x]) => x > other[0][0] && x < other.at(-1)[0]);
    assert.ok(inside.length > points.length / 2, where);
    inside.forEach(([x, height]) => assert.ok(Math.abs(heightAt(other, x) - height) < 0.02,
      `${where}, row ${row} at ${x}: ${height}, ${heightAt(other, x)}`));
  }
}

/* The share that a line of steps has reached at x. */
function shareAt(layer, x) {
  return layer.y[layer.x.findLastIndex((at) => at <= x)] ?? 0;
}

/* Which steps are left out follows rounding; the line is within the promised distance. */
function assertSteps(mine, its, where) {
  its.x.slice(1, -1).forEach((x) => assert.ok(Math.abs(shareAt(mine, x * (1 + 1e-5)) - shareAt(its,
    x * (1 + 1e-5))) < 3, `${where} at ${x}`));
}

function assertLayer(mine, its, where) {
  assert.deepEqual([mine.mark, mine.label, Boolean(mine.across)],
    [its.mark, its.label, Boolean(its.across)], where);
  if (its.mark === 'band')
    assertShapes(mine, its, where);
  if (its.mark === 'steps')
    assertSteps(mine, its, where);
  for (const column of ['band', 'steps'].includes(its.mark) ? [] : ['x', 'y', 'low', 'high'])
    if (its[column] && !(its.outside && column === 'x'))
      assertColumn(mine[column].map((value) => value ?? null), its[column], `${where}.${column}`);
  if (its.text && its.mark !== 'points')
    assertTexts(mine.text, its.text, `${where}.text`);
  for (const key of ['shape', 'hollow', 'colour'])
    if (its.style[key] !== undefined && mine.style[key] !== undefined)
      assert.deepEqual(mine.style[key], its.style[key], `${where}.style.${key}`);
}

function assertFigure(mine, its) {
  assert.equal(mine.reason, undefined);
  assert.equal(its.reason, undefined);
  assert.deepEqual([mine.title, mine.subtitle, mine.alt], [its.title, its.subtitle, its.alt]);
  assert.equal(mine.panels.length, its.panels.length, 'panels');
  mine.panels.forEach((panel, i) => {
    const other = its.panels[i];
    assert.equal(panel.title || undefined, other.title || undefined);
    assertAxis(panel.x, other.x, `panel ${i} x`);
    assertAxis(panel.y, other.y, `panel ${i} y`);
    assert.ok(!panel.layers.some((layer) => layer.mark === 'bars'
      && panel[layer.across ? 'x' : 'y'].scale !== 'linear'), 'lengths on a logarithmic axis');
    const [a, b] = [seriesOf(panel), seriesOf(other)];
    assert.deepEqual(a.map((layer) => `${layer.mark} ${layer.label}`),
      b.map((layer) => `${layer.mark} ${layer.label}`), `panel ${i}: layers`);
    a.forEach((layer, k) => assertLayer(layer, b[k], `panel ${i}, ${layer.mark} ${layer.label}`));
  });
}

const VIEWS = [
  ['scatter', 'single', '#type=scatter&x=p50&y=gflops'],
  ['scatter-pareto', 'single', '#type=scatter&x=p50&y=gflops&pareto=1&xlog=1&ylog=0&group=variant'],
  ['scatter-expression', 'single', '#type=scatter&x=batch&y=p99+%2F+p50'],
  ['scatter-runs', 'multi', '#type=scatter&x=p50&y=gbs'],
  ['lines', 'single', '#type=lines&x=batch&y=p50'],
  ['lines-rate', 'single', '#type=lines&x=seq&y=gflops&ylog=0'],
  ['lines-runs', 'multi', '#type=lines&x=batch&y=p50'],
  ['bars', 'single', '#type=bars&y=p50'],
  ['bars-log', 'single', '#type=bars&y=p50&ylog=1'],
  ['bars-rate', 'single', '#type=bars&y=gflops&limit=10'],
  ['bars-runs', 'multi', '#type=bars&y=p50&limit=12'],
  ['box', 'single', '#type=box&y=p50'],
  ['box-runs', 'multi', '#type=box&y=gflops&limit=8'],
  ['violin', 'single', '#type=violin&y=p50&ylog=1'],
  ['ecdf', 'single', '#type=ecdf&y=p50'],
  ['heatmap', 'single', '#type=heatmap&x=seq&y=gflops'],
];

for (const [name, mode, hash] of VIEWS)
  test(`${name} on the page is the picture of its configuration`, async () => {
    const data = dataOf(mode), view = viewOf(data.core, parseHash(hash));
    const preset = presetOf(data.core, view, mode === 'multi');
    const mine = await makeFigure({ ...data, preset });
    const text = configText(data.core, preset, { command: 'harness plot', hash });
    assertFigure(mine, drawn(mode, name, text));
  });

test('the filter of a saved configuration leaves the same benchmarks', async () => {
  const data = dataOf('single'), view = viewOf(data.core, parseHash('#type=bars&y=p50'));
  const keys = data.core.benchmarks.map((bench) => bench.key).filter((key) => key.includes('/simd/'));
  const preset = presetOf(data.core, view, false, keys);
  const its = drawn('single', 'filtered', configText(data.core, preset, { command: 'x' }));
  const mine = await makeFigure({ ...data, preset });
  assertFigure(mine, its);
  assert.equal(mine.panels[0].y.ticks.length, keys.length - 1, 'one of them has no time');
});
