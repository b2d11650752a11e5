/* SPDX-License-Identifier: MIT */
/*
 * What a profile answers: the operation that takes the time, cards, the worst operations, the parts of
 * the time, advice. All words are the program's (core.profile, harness/page/page_profile.c), or of a
 * trace dropped on the page trace_answer.js'.
 */
import { el, nameOf } from './dom.js';
import { operationRows, operationsTable } from './operations_table.js';

/** A number with its name below. */
export function card(label, value) {
  return el('div', { class: 'card' }, el('div', { class: 'value' }, value),
    el('div', { class: 'muted' }, label));
}

/** The answer itself, to stand on top. @param {object} profile  see docs/formats/page.md */
export function profileHeadline(profile) {
  return el('div', { class: 'answer' },
    el('p', { class: 'headline' }, nameOf(profile.headline, 600)),
    profile.words?.length ? el('p', {}, profile.words.map((words) => [nameOf(words, 600), ' '])) : null);
}

/** Beside it: what was recorded. */
export function profileNames(profile) {
  const line = (what, name) => (name ? el('div', {}, el('span', { class: 'muted what' }, what),
    el('b', {}, nameOf(name, 80))) : null);
  return el('div', { class: 'compared profile-names' }, line('Before', profile.base),
    line(profile.base ? 'After' : 'Profile', profile.name),
    profile.benchmark ? el('div', { class: 'key' }, nameOf(profile.benchmark, 200)) : null);
}

function block(title, sub, ...children) {
  return el('div', { class: 'answer-part' }, el('h3', {}, title,
    sub ? el('small', { class: 'muted' }, ` ${sub}`) : null), children);
}

function operations(title, sub, list) {
  if (!list?.length)
    return null;
  return block(title, sub, el('ol', { class: 'bottlenecks' }, list.map((one) =>
    el('li', {}, el('b', {}, nameOf(one.operation, 80)), ' ', nameOf(one.words, 400)))));
}

function split(parts) {
  if (!parts?.parts.length)
    return null;
  return block(parts.title, '', el('ul', { class: 'parts' }, parts.parts.map((part) =>
    el('li', {}, el('b', {}, `${part.share} ${part.name}`), ': ', part.words))));
}

function advice(list) {
  if (!list?.length)
    return null;
  return block('Advice', '', el('ul', { class: 'advice' }, list.map((one) => el('li', {},
    nameOf(one.text, 600), el('div', { class: 'muted' }, nameOf(one.evidence, 400))))));
}

function allOperations(profile) {
  const all = profile.operations;
  if (!all?.rows.length)
    return null;
  return block('All operations', '', operationsTable(operationRows(all), 'operations.csv',
    all.left_out ? `${all.left_out} more have less own time than these.` : ''));
}

/** What stands below the answer. */
export function profileSummary(profile) {
  if (!profile.cards?.length)
    return null;
  return el('div', { class: 'profile-summary' },
    el('div', { class: 'cards' }, profile.cards.map((one) => card(one.label, one.value))),
    operations('What changed most', 'own time of an iteration', profile.changes),
    el('div', { class: 'two' }, operations(`Top ${profile.top.length}`, `by ${profile.top_by}`, profile.top),
      el('div', {}, split(profile.split), advice(profile.advice))), allOperations(profile));
}
