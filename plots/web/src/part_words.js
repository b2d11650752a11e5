/* SPDX-License-Identifier: MIT */
/*
 * What is said of a figure of which marks are left out. The program's conclusion, sentence and counts
 * speak of all of them: they go, and how much is shown stands there instead.
 */

/* Parts of a subtitle that count alone: "1 slower, 1 broken, 41 the same". */
const COUNTS = /^\d+ [^\d,]+(, \d+ [^\d,]+)*$/;
const BETWEEN = '  ·  ';

/* Sentences of a caption that count what the whole figure has or lacks. */
const COUNTING = /^Showing |^Not drawn: |^Of \d+ of \d+ |^\d+ |, so not shown: /;

/* What else is of all in a sentence that says how to read the figure. */
const NUMBERS = [[/: \d+ (samples?|changes?) /, ': $1 '], [/the tail of \d+ rows? goes/, 'a tail goes'],
  [/, from [^;]+ to [^;]+; colour/, '; colour'], [/, because (values|the medians) [^.]*/, '']];

const sentencesOf = (text) => text.split(/(?<=\.) (?=[A-Z0-9])/);

function captionOfPart(caption) {
  return sentencesOf(caption).filter((sentence) => !COUNTING.test(sentence)).map((sentence) =>
    NUMBERS.reduce((said, [numbers, without]) => said.replace(numbers, without), sentence)).join(' ');
}

/* The title without its conclusion (chart_conclude() in harness/chart/base/chart_base.h). */
function plainTitle(title, given) {
  return given && title.startsWith(given) ? given : title.split(': ')[0];
}

/* "8 of 24 benchmarks, 1 of 2 runs" */
function sharesOf(before, after) {
  return ['benchmarks', 'runs'].filter((what) => after[what] < before[what])
    .map((what) => `${after[what]} of ${before[what]} ${what}`).join(', ');
}

/* Why that is so, behind it. */
function becauseOf(why, before, after) {
  if (why === 'filter' && after.runs === before.runs && after.benchmarks < before.benchmarks)
    return after.benchmarks === 1 ? 'fits the filter' : 'fit the filter';
  return why === 'legend' ? 'switched on' : 'as chosen';
}

/**
 * @param {object} spec  the whole figure
 * @param {{benchmarks: number, runs: number}} before  how many it has @param {object} after  and how many
 *   are left
 * @param {{title?: string, why?: 'filter'|'chosen'|'legend'}} about  the title without a conclusion, and
 *   what leaves marks out
 * @returns {object} title, subtitle, caption and alt of the part
 */
export function partWords(spec, before, after, { title, why = 'chosen' } = {}) {
  const plain = plainTitle(spec.title, title);
  const shown = `${sharesOf(before, after) || 'a part of it'} ${becauseOf(why, before, after)}`;
  const words = { title: `${plain}${plain.includes(':') ? ',' : ':'} ${shown}`,
    alt: `${plain}. Not all of it is shown: ${shown}.` };
  if (spec.subtitle)
    words.subtitle = spec.subtitle.split(BETWEEN).filter((part) => !COUNTS.test(part)).join(BETWEEN);
  if (spec.caption)
    words.caption = captionOfPart(spec.caption);
  return words;
}
