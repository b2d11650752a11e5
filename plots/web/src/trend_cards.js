/* SPDX-License-Identifier: MIT */
/*
 * What the history says, a card a step or drift, in the program's order: what got worse and is still
 * there comes first. Words, heights and ranks are the program's; here they are drawn.
 */
import { codeLine, el, nameOf, svg } from './dom.js';
import { editCard } from './edit_card.js';

const WIDTH = 480, HEIGHT = 132, SIDE = 8, TOP = 28, BOTTOM = 28; /* of the drawing's plane */
const SHOWN = 6; /* more are folded */

/* What is settled is grey, whatever it was. */
const toneOf = (card) => (['accepted', 'gone'].includes(card.rank) ? 'settled'
  : card.worse ? 'worse' : 'better');

const SIGNS = { true: '▲', false: '▼' };

/* Columns and heights of 0 to 1000 become places. */
function planeOf({ points }) {
  const step = (WIDTH - 2 * SIDE) / Math.max(points.length, 1);
  return { x: (column) => SIDE + column * step,
    y: (height) => HEIGHT - BOTTOM - (height / 1000) * (HEIGHT - TOP - BOTTOM) };
}

const path = (places) => places.map(([x, y], i) => `${i ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`)
  .join('');

/* The level before, and the one since; of a drift one line. */
function levelsOf(line, { x, y }) {
  if (!line.at)
    return [svg('path', { class: 'since', d: path([[x(line.from), y(line.before)],
      [x(line.to), y(line.after)]]) })];
  return [svg('path', { class: 'before', d: path([[x(line.from), y(line.before)],
    [x(line.at), y(line.before)]]) }),
    svg('path', { class: 'since', d: path([[x(line.at), y(line.after)], [x(line.to), y(line.after)]]) }),
    svg('path', { class: 'step', d: path([[x(line.at), 4], [x(line.at), HEIGHT - 4]]) })];
}

/* Texts of the levels, each on its own side of the step and on the free side of its line. */
function levelTexts(line, { x, y }) {
  const rises = line.after > line.before, near = (height, above) => y(height) + (above ? -14 : 22);
  return [svg('text', { x: x(line.from) + 2, y: near(line.before, !rises) }, line.before_text),
    svg('text', { class: 'since', x: x(line.to) - 2, y: near(line.after, rises), 'text-anchor': 'end' },
      line.after_text)];
}

/* It says nothing that the words beside it do not. */
function drawingOf(line) {
  const plane = planeOf(line), half = 0.5;
  return svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, 'aria-hidden': 'true', focusable: 'false' },
    svg('path', { class: 'median', d: path(line.points.map((height, i) =>
      [plane.x(i + half), plane.y(height)])) }), levelsOf(line, plane), levelTexts(line, plane));
}

/* A sentence of the program, with a link for each commit whose page is known. */
function linked(text, runs) {
  const parts = [text];
  for (const run of runs) {
    const short = run?.address && run.commit?.slice(0, 7);
    const at = short ? parts.findIndex((part) => typeof part === 'string' && part.includes(short)) : -1;
    if (at < 0)
      continue;
    const begin = parts[at].indexOf(short);
    parts.splice(at, 1, parts[at].slice(0, begin), el('a', { href: run.address, rel: 'noreferrer',
      target: '_blank' }, short), parts[at].slice(begin + short.length));
  }
  return parts;
}

function differencesOf(card) {
  if (!card.differences.length)
    return null;
  return el('p', {}, el('b', {}, 'Changed with it: '), card.differences.map((one, i) =>
    [i ? '; ' : '', one.name, ' ', nameOf(one.from ?? '(absent)', 80), ' → ',
      nameOf(one.to ?? '(absent)', 80)]));
}

function commandOf(card) {
  if (card.command)
    return [el('p', { class: 'muted' }, `${card.purpose}:`), codeLine(card.command, card.purpose)];
  return card.no_command
    ? el('p', { class: 'muted' }, `No search for the commit: ${card.no_command}.`) : null;
}

function cardOf(card, { label, machines, edit }) {
  return el('article', { class: `story ${toneOf(card)}` },
    el('h3', {}, el('span', { 'aria-hidden': 'true' }, SIGNS[card.worse]), ' ', card.title, ' ',
      el('small', { class: 'state' }, card.state)),
    el('p', { class: 'who' }, nameOf(label(card.key), 90), machines > 1 ? [' on ', nameOf(card.machine, 40)]
      : null),
    card.line ? el('figure', {}, drawingOf(card.line), el('figcaption', {},
      el('span', {}, card.line.first), el('span', {}, card.line.last))) : null,
    el('p', {}, linked(card.when, [card.good, card.bad])),
    el('p', { class: 'muted' }, card.evidence),
    card.accepted ? el('p', {}, nameOf(card.accepted, 300)) : null,
    card.doubts ? el('p', { class: 'muted' }, nameOf(card.doubts, 300)) : null,
    differencesOf(card), commandOf(card), edit ? editCard(card, edit) : null);
}

/**
 * @param {object} core
 * @param {?function(string, object): Promise} edit  writes into the history; null: nothing can
 * @returns {Element|null} null where the history has no step and no drift
 */
export function trendCards(core, edit = null) {
  const { trends } = core;
  if (!trends?.cards?.length)
    return null;
  const labels = new Map(core.benchmarks.map((bench) => [bench.key, bench.label]));
  const names = { edit, label: (key) => labels.get(key) ?? key,
    machines: new Set(trends.cards.map((card) => card.machine)).size };
  const cards = trends.cards.map((card) => cardOf(card, names));
  const more = cards.slice(SHOWN);
  return el('div', {}, el('div', { class: 'stories' }, cards.slice(0, SHOWN)),
    more.length ? el('details', {}, el('summary', {}, `${more.length} more`), el('div', { class: 'stories' }, more)) : null);
}
