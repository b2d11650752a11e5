/* SPDX-License-Identifier: MIT */
/*
 * The top of the page: the answer, the change that matters most with its runs, a row for each operation
 * and model, and what the machine was like. All words and numbers are the program's (core.overview,
 * harness/overview); here they only get their places.
 */
import { button, el, nameOf, shortText, svg } from './dom.js';
import { stepFigure } from './step_figure.js';
import { timestampText } from './words.js';

const day = (ms) => timestampText(ms).slice(0, 10);

function changeCard(app, change) {
  const at = app.core.benchmarks.findIndex((bench) => bench.key === change.key);
  const title = nameOf(change.title, 120);
  return el('div', { class: 'overview-change' }, el('h2', {}, change.worse ? 'The worst change' : 'The largest gain'),
    el('p', { class: 'change-title' },
      el('span', { class: `sign ${change.worse ? 'bad' : 'good'}`, 'aria-hidden': 'true' },
        change.worse ? '▲' : '▼'), ' ',
      at < 0 ? title : button(title, () => app.drill(at), { class: 'link' })),
    change.line ? stepFigure(change.line, change.worse ? 'worse' : 'better') : null,
    el('p', {}, el('b', {}, change.text), change.since ? [', ', nameOf(change.since, 200)] : null),
    change.note ? el('p', { class: 'muted' }, nameOf(change.note, 300)) : null);
}

function noChange(overview) {
  return el('div', { class: 'overview-change' }, el('h2', {}, 'Changes'),
    el('p', { class: 'muted' }, overview.past || 'No change stands out.'));
}

function roofBar({ roof, roof_text: words }) {
  if (roof === null)
    return words;
  const share = Math.min(roof, 1) * 100;
  return [el('span', { class: 'roof-bar', 'aria-hidden': 'true' },
    svg('svg', { viewBox: '0 0 100 10', preserveAspectRatio: 'none' },
      svg('rect', { class: 'whole', width: 100, height: 10 }),
      svg('rect', { class: 'part', width: share, height: 10 }))), ' ', words];
}

const NOTHING = '–';

/* { head, kind, says: the cell's text, cell }: what no row says anything in is no column. */
function scoreColumns({ vendor, past_ms: past, scores }) {
  const library = (score) => (score.vendor && !vendor
    ? el('span', { class: 'library' }, ` ${shortText(score.vendor, 20)}`) : null);
  return [
    { head: 'Fastest of ours', kind: 'best', says: (score) => score.best, cell: (score) => nameOf(score.best, 40) },
    { head: 'Of the roof', kind: 'roof', says: (score) => score.roof_text, cell: roofBar },
    { head: `Times ${shortText(vendor || 'the library', 20)}`, kind: 'number', tone: (score) => (score.behind
      ? 'bad' : ''), says: (score) => score.vendor_text, cell: (score) => [score.vendor_text, library(score)] },
    { head: ['Since ', el('span', { class: 'nowrap' }, past ? day(past) : '31 days')], kind: 'number',
      tone: (score) => score.past_tone, says: (score) => score.past_text, cell: (score) => score.past_text },
  ].filter(({ says }) => scores.some((score) => says(score) !== NOTHING));
}

function scorecard(overview) {
  const { scores, scores_left_out: left } = overview, columns = scoreColumns(overview);
  if (!scores.length)
    return null;
  return el('div', { class: 'overview-scores' }, el('h2', {}, 'How good'),
    el('table', {}, el('thead', {}, el('tr', {}, el('td'), columns.map(({ head, kind }) =>
      el('th', { scope: 'col', class: kind }, head)))),
    el('tbody', {}, scores.map((score) => el('tr', {}, el('th', { scope: 'row' }, nameOf(score.name, 40)),
      columns.map(({ kind, tone, cell }) => el('td', { class: [kind, tone?.(score)].filter(Boolean).join(' ') },
        cell(score))))))),
    left > 0 ? el('p', { class: 'muted' }, `${left} more, which take less time, are in the sections below.`)
      : null);
}

function machine({ machine: facts }, compared) {
  return el('div', { class: 'overview-machine' }, el('h2', {}, 'The machine'),
    el('ul', {}, facts.map(({ name, text: words, tone }) => el('li', { class: `fact-${tone}` },
      el('span', { class: 'sign', 'aria-hidden': 'true' }, { good: '✓', open: '!', bad: '✗' }[tone] || '·'),
      ' ', el('b', {}, name), ' ', nameOf(words, 300)))), compared);
}

/** The answer in one sentence, and the numbers behind it. @param {object} overview  core.overview */
export function overviewAnswer(overview) {
  return el('div', { class: `answer ${overview.tone}` }, el('p', { class: 'headline' },
    el('span', { 'aria-hidden': 'true', class: 'sign' }, overview.sign), ' ', nameOf(overview.verdict, 300)),
  overview.counts ? el('p', { class: 'muted' }, overview.counts) : null,
  overview.past && overview.change ? el('p', {}, nameOf(overview.past, 300)) : null);
}

/**
 * What answers the first questions, in one screen.
 * @param {Element} compared  base and head
 * @returns {Element}
 */
export function overviewBody(app, compared) {
  const { overview } = app.core;
  return el('div', { class: 'overview' }, overview.change ? changeCard(app, overview.change)
    : noChange(overview), scorecard(overview), machine(overview, compared));
}
