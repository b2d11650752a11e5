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

/* As the title of the program's comment: what is not decided or has no time comes first, and never
 * looks like a pass. */
const OPEN = ['undecided', 'failing', 'missing'];

function openHeadline(nr, open, all) {
  const [first, ...others] = open;
  const rest = [...others, 'improved'].filter((verdict) => nr(verdict) > 0)
    .map((verdict) => `${nr(verdict)} ${wordOf(verdict)}, `).join('');
  return `${nr(first)} of ${all} benchmark${all === 1 ? '' : 's'} ${first}, ${rest}none shown to be ${
    wordOf('regressed')}.`;
}

function headline(counts, all) {
  const nr = (verdict) => counts[verdict] || 0, worse = nr('regressed') + nr('broken');
  const many = (count, what) => `${count} ${what}${count === 1 ? '' : 's'}`;
  const open = OPEN.filter((verdict) => nr(verdict) > 0);
  if (nr('broken') && nr('regressed'))
    return `${many(nr('regressed'), 'benchmark')} got slower and ${nr('broken')} broke.`;
  if (worse)
    return `${many(worse, 'benchmark')} ${nr('broken') ? 'broke' : 'got slower'}.`;
  if (nr('same') + nr('improved') + nr('fixed') === 0)
    return 'Cannot tell: nothing is decided.';
  if (open.length)
    return openHeadline(nr, open, all);
  return nr('improved') ? `${many(nr('improved'), 'benchmark')} got faster, none slower.`
    : 'No change was found.';
}

const signs = { bad: 'regressed', good: 'improved', same: 'same', open: 'undecided' };

/* Green only where nothing is open. */
function toneOfAll(counts) {
  const nr = (verdict) => counts[verdict] || 0;
  if (nr('regressed') + nr('broken'))
    return 'bad';
  if (OPEN.some((verdict) => nr(verdict)) || nr('same') + nr('improved') + nr('fixed') === 0)
    return 'open';
  return nr('improved') ? 'good' : 'same';
}

/**
 * A comparison in words.
 * @param {object} comparison  see docs/formats/comparison.md
 * @returns {{headline: string, counts: string, chance: string, tone: string, sign: string}}
 */
export function verdictWords(comparison) {
  const { counts, family, chance, delta } = comparison;
  const all = Object.values(counts).reduce((sum, nr) => sum + nr, 0), tone = toneOfAll(counts);
  return {
    headline: headline(counts, all),
    counts: `${countsText(counts) || 'nothing'} of ${all}`,
    chance: `${family} judged together at ±${fixed((delta || 0) * 100, 1)} %; chance alone would `
      + `give at most ${fixed(chance || 0, 2)} alarms.`,
    tone: tone === 'same' ? 'open' : tone,
    sign: signOf(signs[tone]),
  };
}
