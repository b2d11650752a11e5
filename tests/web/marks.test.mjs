/* SPDX-License-Identifier: MIT */
/*
 * What the marks of figures stand for: over all figures of a page there is none without names in hover
 * texts, and none that filters do not reach. A click lights a benchmark in every figure and table.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { coreOf, records, recordsFile, reportPage, SLOWER } from './fixture.mjs';
import { accessFindings, assertQuiet, download, graphOf, openPage, painted, shot } from './lib.mjs';
import { hasMarks, lengthOf, markOf, narrowed, placesOf, withNames, withoutGroups } from '../../plots/web/src/marks.js';
import { plotOf } from '../../plots/web/src/paint.js';

const MERGED = 6;
const files = Array.from({ length: MERGED }, (_, i) => recordsFile(`run${i}.json`, records({ seed: i + 1,
  hour: i + 1, label: `run ${i}`, slower: i === MERGED - 1 ? 1.12 : 1, broken: i === MERGED - 1 })));
const report = reportPage('marks.html', [files[MERGED - 2], files[MERGED - 1]]);
const long = reportPage('long.html', files);

const blockOf = (file, id) => JSON.parse(gunzipSync(Buffer.from(new RegExp(
  `id="harness-${id}">([^<]*)<`).exec(readFileSync(file, 'utf8'))[1], 'base64')));

function figuresOf(file) {
  const core = coreOf(file), labels = new Map(core.benchmarks.map((bench) => [bench.key, bench.label]));
  const runs = new Map(core.runs.map((run) => [run.uuid, run.name]));
  return Object.values(blockOf(file, 'figures')).filter((spec) => !spec.reason)
    .map((spec) => withNames(spec, (key) => labels.get(key), (uuid) => runs.get(uuid)));
}

const marksOf = (spec) => spec.panels.flatMap((panel) => panel.layers.flatMap((layer) =>
  Array.from({ length: lengthOf(layer) }, (_, i) => markOf(spec, panel, layer, i)).filter(Boolean)));
const keysOf = (spec) => [...new Set(marksOf(spec).map((mark) => mark.key))];

/* Facts about models have no benchmark to stand for, and the overview sums many up. */
const WITHOUT = ['architecture', 'overview'];

for (const [what, file] of [['two runs', report], ['six runs', long]]) {
  const specs = figuresOf(file);

  test(`every figure knows its benchmarks, ${what}`, () => {
    assert.ok(specs.length > 20, String(specs.length));
    assert.deepEqual(specs.filter((spec) => !hasMarks(spec)).map((spec) => spec.id)
      .filter((id) => !WITHOUT.includes(id)), []);
  });

  test(`0 figures without names in hover, ${what}`, () => {
    for (const spec of specs.filter(hasMarks)) {
      let named = 0;
      for (const { hoverinfo, hovertext, customdata, meta } of plotOf(spec).data) {
        const panel = spec.panels[meta.panel], layer = panel?.layers[meta.layer];
        if (hoverinfo === 'skip' || !layer)
          continue;
        customdata.forEach((item, at) => {
          if (item === null)
            return;
          const [first] = hovertext[at].split('<br>'), { benchmark } = placesOf(panel, layer, item);
          const is = layer.mark === 'cells' && benchmark === null ? /^<b>/ /* not measured */
            : benchmark === null ? new RegExp(`^<b>(?!${'[\\d.]+ '})`) : null;
          if (is)
            assert.match(first, is, `${spec.id}: ${hovertext[at]}`);
          else
            assert.ok(spec.names.benchmarks[benchmark]
              && first.includes(spec.names.benchmarks[benchmark].slice(0, 12)), `${spec.id}: ${hovertext[at]}`);
          named += benchmark !== null;
        });
      }
      assert.ok(named > 0, spec.id);
    }
  });

  test(`0 figures that filters do not reach, ${what}`, () => {
    for (const spec of specs.filter(hasMarks)) {
      const [key] = keysOf(spec);
      const without = narrowed(spec, (one) => one !== key);
      const left = without.reason ? [] : keysOf(without);
      assert.deepEqual(left.sort(), keysOf(spec).filter((one) => one !== key).sort(), spec.id);
      const only = narrowed(spec, (one) => one === key);
      assert.deepEqual(keysOf(only), [key], spec.id);
      assert.equal(narrowed(spec, () => true), spec, 'what is whole stays as it is');
      assert.match(narrowed(spec, () => false).reason, /leaves none/, spec.id);
      for (const one of [without, only].filter((some) => !some.reason)) {
        const { layout } = plotOf(one);
        for (const axis of Object.keys(layout).filter((name) => /^[xy]axis/.test(name)))
          assert.ok(layout[axis].range.every(Number.isFinite)
            && layout[axis].range[0] !== layout[axis].range[1], `${one.id} ${axis}`);
      }
    }
  });
}

test('a group that is switched off takes its rows along, what all rows have does not', () => {
  for (const id of ['distribution-violin', 'distribution-box']) {
    const spec = figuresOf(report).find((one) => one.id === id), off = (...labels) => withoutGroups(spec, new Set(labels));
    const rowsOf = ({ panels: [panel] }) => panel.y.ticks.map(({ text }) => text);
    const left = off('run 4');
    assert.deepEqual(rowsOf(left), rowsOf(spec).filter((text) => !text.endsWith('run 4')), id);
    assert.ok(rowsOf(left).length > 0 && !left.panels[0].layers.some(({ label }) => label === 'run 4'), id);
    const [panel] = left.panels, uuid = left.runs[panel.rows.run[0]];
    for (const layer of panel.layers.filter(({ label }) => label === 'run 5'))
      for (let i = 0; i < lengthOf(layer); i++)
        assert.equal(markOf(left, panel, layer, i)?.uuid ?? uuid, uuid, `${id}: in its row`);
    assert.equal(off('p5 to p95', 'median', 'a sample', 'p99'), spec, id);
    assert.equal(off('run 4', 'run 5'), spec, 'somebody must be left');
  }
});

test('a figure that is filtered says how much it shows, to every reader and in saved pictures', async (t) => {
  const { page } = await openPage(t, report, { hash: '#where=variant%20%3D%20naive' });
  await page.locator('#slot-latency-kernels').scrollIntoViewIfNeeded();
  await painted(page, 'latency-kernels');
  const figure = page.locator('#figure-latency-kernels'), says = /6 of \d+ benchmarks fit the filter/;
  const whole = figuresOf(report).find(({ id }) => id === 'latency-kernels');
  assert.match(whole.title, /^Latency of the kernels: .*takes longest/);
  assert.match(await figure.locator('.figure-title').textContent(), /^Latency of the kernels: 6 of \d+ benchmarks fit the filter$/);
  assert.match(await figure.locator('.figure-alt').textContent(), says);
  const label = await figure.getByRole('img').first().getAttribute('aria-label');
  assert.match(label, says);
  const svg = (await download(page, () => figure.getByRole('button', { name: /^Save as SVG/ }).click())).bytes.toString();
  assert.match(svg, says);
  for (const text of [label, svg])
    assert.doesNotMatch(text, /takes longest|to \d[\d.]* .s \(/);
  await shot(page, 'marks-part');
});
