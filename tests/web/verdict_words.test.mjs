/* SPDX-License-Identifier: MIT */
/*
 * What heads a comparison on the page: as the title of the comment (unit.comment), and never
 * like a pass where something is not decided or was not measured.
 * Features: U-06, S3-10.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verdictWords } from '../../plots/web/src/verdict_words.js';

const words = (counts) => verdictWords({ counts, family: 4, chance: 0.2, delta: 0.03 });

test('the headline says what matters most', () => {
  for (const [counts, sign, headline] of [
    [{ same: 2 }, '●', 'No change was found.'],
    [{ same: 1, improved: 1 }, '▼', '1 benchmark got faster, none slower.'],
    [{ same: 1, regressed: 2 }, '▲', '2 benchmarks got slower.'],
    [{ same: 1, regressed: 1, undecided: 3 }, '▲', '1 benchmark got slower.'],
    [{ same: 1, undecided: 3 }, '?', '3 of 4 benchmarks undecided, none shown to be slower.'],
    [{ same: 1, failing: 1 }, '?', '1 of 2 benchmarks failing, none shown to be slower.'],
    [{ same: 1, missing: 1 }, '?', '1 of 2 benchmarks missing, none shown to be slower.'],
    [{ improved: 1, undecided: 2, failing: 1 }, '?',
      '2 of 4 benchmarks undecided, 1 failing, 1 faster, none shown to be slower.'],
    [{ undecided: 2 }, '?', 'Cannot tell: nothing is decided.'],
    [{ failing: 1, new: 1 }, '?', 'Cannot tell: nothing is decided.'],
    [{}, '?', 'Cannot tell: nothing is decided.'],
  ]) {
    assert.equal(words(counts).headline, headline);
    assert.equal(words(counts).sign, sign, headline);
  }
});

test('what is open is not shown in the colour of a pass', () => {
  assert.equal(words({ improved: 1 }).tone, 'good');
  assert.equal(words({ improved: 1, undecided: 1 }).tone, 'open');
  assert.equal(words({ improved: 1, regressed: 1 }).tone, 'bad');
});
