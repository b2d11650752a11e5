/* SPDX-License-Identifier: MIT */
/* How the page was made: commands, what is not there, and why. */
import { codeLine, el, nameOf } from './dom.js';
import { gathered } from './lists.js';
import { timestampText } from './words.js';
import { fillCommand } from './shell.js';

const COMMANDS = [
  ['run', 'Measure the same again'],
  ['report', 'Write this report'],
  ['plot', 'Draw the figures as pictures; here the first of them'],
  ['config', 'Draw a saved configuration'],
  ['show', 'The run with all its samples, as JSON'],
];

function commandList(core) {
  const figure = core.figures.find((one) => !one.reason)?.id ?? 'latency-kernels';
  const values = { figure, file: 'view.json', run: core.runs[core.head]?.id };
  return COMMANDS.filter(([id]) => core.commands?.[id]).map(([id, what]) => [el('h3', {}, what),
    codeLine(fillCommand(core.commands[id], values), what)]);
}

/* Many have one reason, such as that there is no run: one line then. */
function absentLine(reason, figures) {
  const names = figures.map((figure, i) => [i > 0 ? ', ' : null,
    el('b', {}, nameOf(figure.title, 120)), ' (', nameOf(figure.id, 60), ')']);
  return figures.length > 1 ? el('li', {}, nameOf(reason, 600), ': ', names)
    : el('li', {}, names, ': ', nameOf(reason, 600));
}

function absentList(core) {
  const reasons = gathered(core.figures.filter((one) => one.reason), (figure) => figure.reason);
  return reasons.size === 0 ? null : [el('h3', {}, 'Figures that are not drawn'),
    el('ul', {}, [...reasons].map(([reason, figures]) => absentLine(reason, figures)))];
}

/** @returns {Element} */
export function howMade(core) {
  return el('div', { class: 'how' },
    el('p', {}, `Made by ${core.generator || 'harness'}, ${timestampText(core.created_ms)}. `,
      core.mode === 'serve' ? 'The page asks the server that sent it, and nobody else.'
        : 'All data is in this file; it makes no requests.'),
    core.notes?.length ? [el('h3', {}, 'Notes'),
      el('ul', {}, core.notes.map((note) => el('li', {}, nameOf(note, 600))))] : null,
    absentList(core), commandList(core));
}
