/* SPDX-License-Identifier: MIT */
/*
 * Numbers in words, by the table that the program is tested with too (unit.text_units), and verdicts in
 * those of the program.
 * Covers: S3-10.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { axisTicks } from '../../plots/web/src/axis.js';
import { foundText, isTime, wordOf } from '../../plots/web/src/verdict_words.js';
import { fixed, general, quantityText, quantityUnitText, timestampText } from '../../plots/web/src/words.js';

const table = JSON.parse(readFileSync(new URL('../fixtures/units.json', import.meta.url), 'utf8'));

test('texts are those of the table', () => {
  assert.ok(table.length > 50);
  for (const { quantity, base, value, text, with_unit: unit = text } of table) {
    assert.equal(quantityText(quantity, base, value), text, `${quantity} ${value}`);
    assert.equal(quantityUnitText(quantity, base, value), unit, `${quantity} ${value}, with its unit`);
  }
});

test('halves go to the even digit, like printf', () => {
  assert.equal(fixed(0.5, 0), '0');
  assert.equal(fixed(1.5, 0), '2');
  assert.equal(fixed(2.5, 0), '2');
  assert.equal(fixed(-2.5, 0), '-2');
  assert.equal(fixed(0.125, 2), '0.12');
  assert.equal(fixed(0.375, 2), '0.38');
  assert.equal(fixed(1.005, 2), '1.00'); // 1.00499999999999989...
  assert.equal(fixed(-0, 1), '-0.0');
  assert.equal(fixed(1e22, 1), '10000000000000000000000.0');
});

test('general form, like printf', () => {
  assert.equal(general(0.00001, 4), '1e-05');
  assert.equal(general(100000, 4), '1e+05');
  assert.equal(general(99995, 4), '1e+05'); // 99995 is a half: 9999|5 goes to 1.000e5
  assert.equal(general(0.1, 4), '0.1');
  assert.equal(general(-1234.5678, 7), '-1234.568');
  assert.equal(general(-0, 4), '-0');
});

/* As in test_chart_parts.c. */
const EVEN = [
  [0, 6.12e-12, 7, '0 1e-12 2e-12 3e-12 4e-12 5e-12 6e-12'],
  [0, 1e-8, 5, '0 2e-09 4e-09 6e-09 8e-09 1e-08'],
  [-4e-7, 4e-7, 4, '-4e-07 -2e-07 0 2e-07 4e-07'],
  [0, 1e-5, 5, '0.000000 0.000002 0.000004 0.000006 0.000008 0.000010'],
  [0.9999999999, 1.000000009, 4, '1 1.0000000025 1.000000005 1.0000000075'],
  [12345600, 12345690, 5, '12345600 12345620 12345640 12345660 12345680'],
  [0, 7e8, 4, '0 2e+08 4e+08 6e+08'],
];

test('even ticks have texts that differ, as those of the program', () => {
  for (const [low, high, most, texts] of EVEN)
    assert.equal(axisTicks({ scale: 'linear', quantity: 'plain' }, low, high, most).map(({ text }) => text).join(' '),
      texts, `${low} to ${high}`);
});

test('what is no number is n/a', () => {
  for (const quantity of ['time', 'bytes', 'rate', 'percent', 'share', 'plain'])
    for (const value of [NaN, Infinity, -Infinity, null, undefined])
      assert.equal(quantityText(quantity, 'FLOP/s', value), 'n/a');
});

test('times of day', () => {
  assert.equal(timestampText(0), '1970-01-01 00:00:00Z');
  assert.equal(timestampText(1794304440999), '2026-11-10 09:54:00Z');
  assert.equal(timestampText(NaN), 'n/a');
});

test('times and rates alone get slower and faster, as the program says it', () => {
  for (const metric of ['min', 'p5', 'p50', 'p90', 'mean', 'gflops', 'tokens', 'roof', undefined, null])
    assert.deepEqual([wordOf('regressed', metric), wordOf('improved', metric)], ['slower', 'faster'], metric);
  for (const metric of ['sd', 'memory', 'joules', 'instructions', 'own/rows', 'first_token', 'good_5ms'])
    assert.deepEqual([wordOf('regressed', metric), wordOf('improved', metric)], ['worse', 'better'], metric);
  assert.deepEqual([wordOf('same', 'memory'), wordOf('broken', 'memory')], ['the same', 'broken']);
  assert.deepEqual(['p90', 'sd', 'gbs', 'memory'].map(isTime), [true, true, false, false]);
  const found = { counts: { regressed: 2, improved: 1, same: 4 }, family: 7, chance: 0.1, delta: 0.02 };
  assert.match(foundText({ ...found, metric: 'own/rows' }), /^2 worse, 1 better, 4 the same of 7\./);
  assert.match(foundText({ ...found, metric: 'p50' }), /^2 slower, 1 faster, 4 the same of 7\./);
});
