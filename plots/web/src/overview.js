/* SPDX-License-Identifier: MIT */
/*
 * The top of the page: the answer, the change that matters most with its runs, a row for each operation
 * and model, and what the machine was like. All words and numbers are the program's (core.overview,
 * harness/overview); here they only get their places.
 */
import { button, el, nameOf, shortText, svg } from './dom.js';
import { quantityText, timestampText } from './words.js';

const WIDTH = 560, HEIGHT = 140, LEFT = 6, RIGHT = 6, TOP = 20, BOTTOM = 38;
const SMALL = 40; /* more points are drawn smaller */

const day = (ms) => timestampText(ms).slice(0, 10);

/* Where the values of a change lie in the small picture. */
function placesOf({ values, before, after, step }) {
  const low = Math.min(...values, before, after), high = Math.max(...values, before, after);
  const room = (high - low) || Math.abs(high) * 0.01 || 1;
  const x = (i) => LEFT + (i + 0.5) / values.length * (WIDTH - LEFT - RIGHT);
  const y = (value) => TOP + (high - value) / room * (HEIGHT - TOP - BOTTOM);
  return { x, y, edge: x(step - 0.5) };
}

const text = (x, y, anchor, words, kind) => svg('text', { x, y, 'text-anchor': anchor, class: kind }, words);

function levels(change, { y, edge }) {
  const level = (from, to, value) => svg('line', { class: 'level', x1: from, x2: to, y1: y(value),
    y2: y(value) });
  if (change.source === 'drift')
    return [svg('line', { class: 'level', x1: LEFT, x2: WIDTH - RIGHT, y1: y(change.before),
      y2: y(change.after) })];
  return change.step > 0 ? [level(LEFT, edge, change.before), level(edge, WIDTH - RIGHT, change.after),
    svg('line', { class: 'step', x1: edge, x2: edge, y1: TOP - 6, y2: HEIGHT - BOTTOM + 4 })]
    : [level(LEFT, WIDTH - RIGHT, change.before)];
}

function points(change, { x, y }) {
  const { values, step } = change, radius = values.length > SMALL ? 1.8 : 3.5;
  const dots = values.map((value, i) => svg('circle', { cx: x(i), cy: y(value),
    r: i === values.length - 1 ? 4.5 : radius, class: step > 0 && i >= step ? 'after' : 'before' }));
  const line = change.launches ? null : svg('polyline', { class: 'line',
    points: values.map((value, i) => `${x(i).toFixed(1)},${y(value).toFixed(1)}`).join(' ') });
  return [line, dots];
}

/* What stands below: days, or the sides. */
function feet(change, { edge }) {
  const { runs, launches } = change, bottom = HEIGHT - 5;
  if (launches)
    return [text(edge / 2, bottom, 'middle', 'launches of the base'),
      text((edge + WIDTH) / 2, bottom, 'middle', 'launches of the head')];
  return runs.length > 0 ? [text(LEFT, bottom, 'start', day(runs[0].started_ms)),
    text(WIDTH / 2, bottom, 'middle', `${runs.length} runs`),
    text(WIDTH - RIGHT, bottom, 'end', day(runs.at(-1).started_ms))] : null;
}

function picture(change) {
  if (!change.values.length)
    return null;
  const places = placesOf(change), { y } = places;
  const value = (number) => quantityText(change.quantity, change.base, number);
  const above = Math.max(change.before, change.after); /* the lower level's words stand under it */
  const ends = [...change.values.map(y), y(change.before), y(change.after)];
  const beside = (level) => (level === above ? Math.min(...ends) - 7 : Math.max(...ends) + 14);
  return svg('svg', { class: `change-line ${change.worse ? 'bad' : 'good'}`, role: 'img',
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`, 'aria-label': `${shortText(change.title, 200)}, ${change.text}` },
  levels(change, places), points(change, places), feet(change, places),
  text(LEFT, beside(change.before), 'start', value(change.before)),
  text(WIDTH - RIGHT, beside(change.after), 'end', value(change.after), 'after'));
}

function changeCard(app, change) {
  const at = app.core.benchmarks.findIndex((bench) => bench.key === change.key);
  const title = nameOf(change.title, 120);
  return el('div', { class: 'overview-change' }, el('h2', {}, change.worse ? 'The worst change' : 'The largest gain'),
    el('p', { class: 'change-title' },
      el('span', { class: `sign ${change.worse ? 'bad' : 'good'}`, 'aria-hidden': 'true' },
        change.worse ? '▲' : '▼'), ' ',
      at < 0 ? title : button(title, () => app.drill(at), { class: 'link' })),
    picture(change), el('p', {}, el('b', {}, change.text), change.since ? [', ', nameOf(change.since, 200)] : null),
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

function scoreRow(score, library) {
  return el('tr', {}, el('th', { scope: 'row' }, nameOf(score.name, 40)),
    el('td', { class: 'best' }, nameOf(score.best, 40)), el('td', { class: 'roof' }, roofBar(score)),
    el('td', { class: score.behind ? 'number bad' : 'number' }, score.vendor_text,
      score.vendor && !library ? el('span', { class: 'library' }, ` ${shortText(score.vendor, 20)}`) : null),
    el('td', { class: `number ${score.past_tone}` }, score.past_text));
}

function scorecard(overview) {
  const { scores } = overview, left = overview.scores_left_out;
  const past = ['Since ', el('span', { class: 'nowrap' }, overview.past_ms ? day(overview.past_ms) : '31 days')];
  if (!scores.length)
    return null;
  return el('div', { class: 'overview-scores' }, el('h2', {}, 'How good'),
    el('table', {}, el('thead', {}, el('tr', {}, ['', 'Fastest of ours', 'Of the roof', `Times ${shortText(overview.vendor || 'the library', 20)}`, past]
      .map((head, i) => el(i ? 'th' : 'td', { scope: i ? 'col' : null,
        class: ['', 'best', 'roof', 'number', 'number'][i] }, head)))),
    el('tbody', {}, scores.map((score) => scoreRow(score, overview.vendor)))),
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
