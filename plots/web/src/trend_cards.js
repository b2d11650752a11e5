/* SPDX-License-Identifier: MIT */
/*
 * What the history says, a card a step or drift, in the program's order: what got worse and is still
 * there comes first. Words, heights and ranks are the program's; here they are drawn.
 */
import { codeLine, el, nameOf } from './dom.js';
import { editCard } from './edit_card.js';
import { stepFigure } from './step_figure.js';

const SHOWN = 6; /* more are folded */

/* What is settled is grey, whatever it was. */
const toneOf = (card) => (['accepted', 'gone'].includes(card.rank) ? 'settled'
  : card.worse ? 'worse' : 'better');

const SIGNS = { true: '▲', false: '▼' };

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
    card.line ? stepFigure(card.line, toneOf(card)) : null,
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
