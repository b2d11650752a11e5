/* SPDX-License-Identifier: MIT */
/* What a reader can say about a change on its card, where the server takes it (`serve --edit`). */
import { button, el, fill } from './dom.js';

const LONGEST = 1000; /* bytes in the history; the server counts them */

const KINDS = {
  accept: { opens: 'Accept …', asks: 'Why is this change meant to be?', saves: 'Accept it' },
  annotate: { opens: 'Annotate …', asks: 'What happened with the run that has it?', saves: 'Save it' },
};

/* One line, sent once; the card stays as it is until the server has it. */
function formOf(kind, send, close) {
  const text = el('input', { type: 'text', maxlength: LONGEST, required: true });
  const save = el('button', { type: 'submit' }, kind.saves);
  const error = el('p', { class: 'error', role: 'alert' });
  const form = el('form', { onsubmit: async (event) => {
    event.preventDefault();
    save.disabled = true;
    fill(error);
    try {
      await send(text.value);
    } catch (problem) {
      fill(error, problem.message);
    }
    save.disabled = false;
  } }, el('label', {}, kind.asks, text), save, button('Cancel', close), error);
  return { form, text };
}

/**
 * @param {object} card  of the page's trends
 * @param {function(string, object): Promise} edit  writes, then shows the page anew
 * @returns {Element}
 */
export function editCard(card, edit) {
  const place = el('div', {});
  const send = (what) => (text) => edit(what, { machine: card.machine, key: card.key,
    kind: card.kind, run: card.bad.run, text });
  const open = (what) => {
    const { form, text } = formOf(KINDS[what], send(what), () => fill(place));
    fill(place, form);
    text.focus();
  };
  const accepts = !['accepted', 'gone'].includes(card.rank);
  return el('div', { class: 'edit' }, el('div', { class: 'controls' },
    accepts ? button(KINDS.accept.opens, () => open('accept')) : null,
    button(KINDS.annotate.opens, () => open('annotate'))), place);
}
