/* SPDX-License-Identifier: MIT */
/* Which benchmark is lit, on a strip that stays in sight, with the way to its page. */
import { button, el, fill, nameOf } from './dom.js';

/** @returns {{element: Element, update: function}} */
export function litBar(app) {
  const words = el('span', { class: 'lit-name', role: 'status', 'aria-live': 'polite' });
  const open = button('Its page', () => app.drill(app.benchmarkOf(app.state.get('lit'))));
  const only = button('Only this', () => app.onlyLit());
  const element = el('div', { class: 'lit-bar', hidden: true, role: 'group', 'aria-label': 'Lit benchmark' },
    words, open, only, button('Unlight', () => app.light('')));
  const update = () => {
    const key = app.state.get('lit'), known = app.benchmarkOf(key) >= 0;
    element.hidden = key === '';
    fill(words, key === '' ? null : nameOf(known ? app.nameOfKey(key) : `${key} (not on this page)`, 120));
    open.hidden = only.hidden = !known;
  };
  return { element, update };
}
