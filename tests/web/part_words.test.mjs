/* SPDX-License-Identifier: MIT */
/*
 * A figure of which a filter, a choice of runs or the legend leaves marks out says so, and nothing of what
 * was concluded or counted of the whole; on all figures that the program is tested with.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { hasMarks, narrowed, withoutGroups } from '../../plots/web/src/marks.js';
import { partWords } from '../../plots/web/src/part_words.js';

const FIGURES = new URL('../fixtures/figures/', import.meta.url);
const read = (name) => JSON.parse(readFileSync(new URL(name, FIGURES), 'utf8'));
const specs = readdirSync(FIGURES).filter((name) => name.endsWith('.json')).map(read).filter(hasMarks);
const filter = { why: 'filter' };

test('of a part nothing is said that was found in the whole', () => {
  assert.ok(specs.length > 20);
  for (const spec of specs) {
    const [key] = spec.benchmarks, some = narrowed(spec, (one) => one === key, filter);
    const own = spec.title.split(': ')[0], conclusion = spec.title.slice(own.length + 2);
    const said = [some.title, some.subtitle, some.alt, some.caption].join('\n');
    assert.match(some.title, new RegExp(`^.*: 1 of ${spec.benchmarks.length} benchmarks fits the filter$`), spec.id);
    assert.ok(some.title.startsWith(own) && some.alt.startsWith(own), spec.id);
    assert.ok(!conclusion || !said.includes(conclusion), `${spec.id}: ${said}`);
    assert.ok(!said.includes(spec.alt), spec.id);
    assert.doesNotMatch(said, /Showing |not shown|\d+ (slower|broken|undecided|worse|samples beyond)/, spec.id);
  }
});

test('what stays is said as before', () => {
  const spec = read('latency-kernels.json'), layers = spec.benchmarks.filter((key) => key.startsWith('layernorm'));
  const some = narrowed(spec, (key) => layers.includes(key), filter);
  assert.equal(some.title, `Latency of the kernels: ${layers.length} of 24 benchmarks fit the filter`);
  assert.equal(some.subtitle, spec.subtitle);
  assert.equal(some.caption, 'Dots and numbers: median latency. Whiskers: p5 to p95 of the samples. '
    + 'The axis is logarithmic.', 'they may span less');
  assert.equal(narrowed(read('comparison.json'), (key, uuid) => uuid === null && key.includes('batch=1,'), filter)
    .subtitle, 'base main  ·  head feedbeef  ·  Made-up CPU, 4 cores');
  assert.equal(narrowed(spec, () => true, filter), spec, 'the whole speaks of the whole');
});

test('a title with a colon of its own, runs, and the legend', () => {
  const spec = { title: 'Samples: density, widest gemm', caption: '', alt: 'All.' };
  const words = (before, after, about) => partWords(spec, before, after, { title: 'Samples: density', ...about }).title;
  assert.equal(words({ benchmarks: 3, runs: 2 }, { benchmarks: 3, runs: 1 }),
    'Samples: density, 1 of 2 runs as chosen');
  assert.equal(words({ benchmarks: 3, runs: 2 }, { benchmarks: 2, runs: 1 }, filter),
    'Samples: density, 2 of 3 benchmarks, 1 of 2 runs as chosen');
  assert.equal(words({ benchmarks: 3, runs: 2 }, { benchmarks: 3, runs: 2 }), 'Samples: density, a part of it as chosen');
  assert.equal(words({ benchmarks: 3, runs: 0 }, { benchmarks: 2, runs: 0 }, { why: 'legend' }),
    'Samples: density, 2 of 3 benchmarks switched on');
  const box = read('distribution-box.json'), labels = box.panels[0].layers.filter(({ label, mark }) => label && mark === 'boxes')
    .map(({ label }) => label);
  const left = withoutGroups(box, new Set(labels.slice(0, 1)), 'Distribution of the samples: boxes');
  assert.match(left.title, /^Distribution of the samples: boxes, \d of 3 benchmarks switched on$/);
});
