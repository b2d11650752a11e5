/* SPDX-License-Identifier: MIT */
/*
 * Why what got slower did so: a fold for each benchmark, the worst first, with its causes, the
 * likeliest first. Words and order are the program's (harness/reporters/explain_report.h).
 */
import { codeLine, el, nameOf } from './dom.js';
import { fillCommand } from './shell.js';

const LONGEST = 600;

const isCounted = (cause) => cause.kind !== 'unknown' && !cause.doubted;

function causeItem(cause) {
  return el('li', {}, cause.doubted ? 'doubted: ' : null, el('b', {}, nameOf(cause.words, LONGEST)),
    ` (${cause.kind})`, cause.evidence ? [': ', nameOf(cause.evidence, LONGEST)] : null);
}

/* What is not known and what is doubted has no rank. */
function causeLists({ causes, notes }) {
  const rest = causes.filter((cause) => !isCounted(cause));
  const ranked = causes.filter(isCounted);
  return [ranked.length ? el('ol', {}, ranked.map(causeItem)) : null,
    rest.length || notes.length ? el('ul', {}, rest.map(causeItem),
      notes.map((note) => el('li', { class: 'muted' }, nameOf(note, LONGEST)))) : null];
}

/* Of several machine classes each has its own. */
const placeOf = ({ key, machine }) => (machine ? `${key} on ${machine}` : key);

/* Red rows of benchmarks that nothing is told of. */
function leftOut({ rows, explanations }) {
  const told = new Set(explanations.map(placeOf));
  const red = rows.filter((row) => row.verdict === 'regressed' && !row.accepted && !told.has(row.key)
    && !told.has(placeOf(row)));
  return new Set(red.map(placeOf)).size;
}

/**
 * @param {function(string): ?string} labelOf  of a key; null: the reader's filter leaves it out
 * @param {?string} command  that compares {key}; null: there is none
 * @returns {Element|null} null where nothing is explained
 */
export function causesView(comparison, labelOf, command) {
  const told = (comparison.explanations ?? []).map((one) => ({ one, label: one.what ?? labelOf(one.key) }))
    .filter(({ label }) => label !== null)
    .map(({ one, label }) => ({ one, label: placeOf({ key: label, machine: one.machine }) }));
  if (told.length === 0)
    return null;
  const more = leftOut(comparison), again = 'The same again, of all that the history has';
  return el('div', { class: 'causes' }, el('h3', {}, 'Why it got slower'),
    told.map(({ one, label }) => el('details', { class: 'cause' },
      el('summary', {}, nameOf(label, 90), ': ', el('b', {}, nameOf(one.causes[0].words, LONGEST))),
      causeLists(one), command ? [el('p', { class: 'muted' }, `${again}:`),
        codeLine(`${fillCommand(command, { key: one.key })} --explain`, again)] : null)),
    more ? el('p', { class: 'muted' }, `${more} more got slower.`) : null);
}
