/* SPDX-License-Identifier: MIT */
/* How verdicts are called and what signs they carry, the same as in the program's other forms. */
import { fixed, percentRangeText, percentText, shareText } from './words.js';

/* In the order of how much they want to be looked at. */
const LOOKS = {
  broken: { sign: '✗', tone: 'bad' },
  regressed: { sign: '▲', tone: 'bad', word: 'slower', other: 'worse' },
  missing: { sign: '-', tone: 'open' },
  undecided: { sign: '?', tone: 'open' },
  failing: { sign: '✗', tone: 'dim' },
  improved: { sign: '▼', tone: 'good', word: 'faster', other: 'better' },
  fixed: { sign: '✓', tone: 'good' },
  new: { sign: '+', tone: 'dim' },
  same: { sign: '●', tone: 'dim', word: 'the same' },
};
const ORDER = Object.keys(LOOKS);

export const rankOf = (verdict) => (ORDER.includes(verdict) ? ORDER.indexOf(verdict) : ORDER.length);
export const signOf = (verdict) => LOOKS[verdict]?.sign ?? '?';
export const toneOf = (verdict) => LOOKS[verdict]?.tone ?? 'open';

/** "slower"; of what is no speed "worse". */
export function wordOf(verdict, metric) {
  const look = LOOKS[verdict];
  return (metric === 'sd' && look?.other) || look?.word || verdict;
}

/** Does a row want to be seen without being asked for? */
export const wantsAttention = (row) => !['same', 'failing'].includes(row.verdict);

/** "+1.0 to +3.2 %", "" where there is none. */
export function intervalText(interval) {
  if (!interval || !Number.isFinite(interval.low ?? NaN) || !Number.isFinite(interval.high ?? NaN))
    return '';
  return percentRangeText(interval.low, interval.high);
}

/** The smallest change that would have been seen, "" where that is not known. */
export const visibleText = (row) => (Number.isFinite(row.detectable ?? NaN)
  ? shareText(row.detectable) : '');

export function changeText(row) {
  return Number.isFinite(row.change ?? NaN) ? percentText(row.change) : '';
}

/** "5/5", or "12 blocks". */
export function launchesText(row) {
  return row.blocks !== undefined ? `${row.blocks} blocks`
    : `${row.base?.launches ?? 0}/${row.head?.launches ?? 0}`;
}

/* "2 slower, 1 faster, 41 the same" */
function countsText(counts) {
  return ORDER.filter((verdict) => counts[verdict] > 0)
    .map((verdict) => `${counts[verdict]} ${wordOf(verdict)}`).join(', ');
}

function headline(counts) {
  const nr = (verdict) => counts[verdict] || 0, worse = nr('regressed') + nr('broken');
  const many = (count, what) => `${count} ${what}${count === 1 ? '' : 's'}`;
  if (nr('broken') && nr('regressed'))
    return `${many(nr('regressed'), 'benchmark')} got slower and ${nr('broken')} broke.`;
  if (worse)
    return `${many(worse, 'benchmark')} ${nr('broken') ? 'broke' : 'got slower'}.`;
  if (nr('improved'))
    return `${many(nr('improved'), 'benchmark')} got faster, none slower.`;
  if (nr('same') === 0)
    return 'Nothing could be decided.';
  return nr('undecided') ? 'No change was found, but not everything is decided.'
    : 'No change was found.';
}

/**
 * A comparison in words.
 * @param {object} comparison  see docs/formats.md
 * @returns {{headline: string, counts: string, chance: string, tone: string}}
 */
export function verdictWords(comparison) {
  const { counts, family, chance, delta } = comparison;
  const bad = (counts.regressed || 0) + (counts.broken || 0) > 0;
  const all = Object.values(counts).reduce((sum, nr) => sum + nr, 0);
  return {
    headline: headline(counts),
    counts: `${countsText(counts) || 'nothing'} of ${all}`,
    chance: `${family} judged together at ±${fixed((delta || 0) * 100, 1)} %; chance alone would `
      + `give at most ${fixed(chance || 0, 2)} alarms.`,
    tone: bad ? 'bad' : counts.improved ? 'good' : 'open',
  };
}
