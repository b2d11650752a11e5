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

/* Latencies and rates of harness/metrics/metric.c; all others are facts, such as memory or a number of a
 * program's own. */
const TIMES = ['min', 'p5', 'p25', 'p50', 'p75', 'p90', 'p95', 'p99', 'max', 'mean', 'sd'];
const RATES = ['gflops', 'gbs', 'tokens', 'roof'];

/** Is it told in units of time? @param {string} metric  its id */
export const isTime = (metric) => TIMES.includes(metric);

/* As verdict_word() in harness/verdict/compare_result.c has it; a comparison that does not say its metric
 * is one of times. */
const isSpeed = (metric) => metric === undefined || metric === null || RATES.includes(metric)
  || (isTime(metric) && metric !== 'sd');

/** "slower"; of what is no speed "worse". @param {string} [metric]  its id */
export function wordOf(verdict, metric) {
  const look = LOOKS[verdict];
  return (!isSpeed(metric) && look?.other) || look?.word || verdict;
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

/** Are there rows of several machine classes? Then key and metric alone do not tell them apart.
 * @param {object[]} rows  of a comparison */
export const hasMachines = (rows) => new Set(rows.map(({ machine }) => machine ?? '')).size > 1;

/** "5/5", or "12 blocks". */
export function launchesText(row) {
  return row.blocks !== undefined ? `${row.blocks} blocks`
    : `${row.base?.launches ?? 0}/${row.head?.launches ?? 0}`;
}

/* "2 slower, 1 faster, 41 the same", of several metrics in the words of the first */
function countsText(counts, metric) {
  return ORDER.filter((verdict) => counts[verdict] > 0)
    .map((verdict) => `${counts[verdict]} ${wordOf(verdict, metric)}`).join(', ');
}

/** What a comparison found: "2 slower, 41 the same of 43. …". @param {object} comparison  see
 * docs/formats/comparison.md */
export function foundText({ counts, family, chance, delta, metric }) {
  const all = Object.values(counts).reduce((sum, nr) => sum + nr, 0);
  return `${countsText(counts, metric) || 'nothing'} of ${all}. ${family} judged together at ±${
    fixed((delta || 0) * 100, 1)} %; chance alone would give at most ${fixed(chance || 0, 2)} alarms.`;
}
