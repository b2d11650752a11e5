/* SPDX-License-Identifier: MIT */
/* What the server has to say, on a strip that stays in sight: a new run, a lost connection. */
import { button, el, fill } from './dom.js';

const WORDS = {
  here: '',
  lost: 'The connection to harness serve is lost; trying again …',
  ended: 'harness serve has ended. What is shown stays; the rest is there when it runs again.',
};

/**
 * @param {function} show  shows the newest run
 * @returns {{element: Element, announce: function(number), connection: function(string)}}
 */
export function noticeStrip(show) {
  const news = el('p', { class: 'news', role: 'status', 'aria-live': 'polite' });
  const connection = el('p', { class: 'connection', role: 'status', 'aria-live': 'polite' });
  return {
    element: el('div', { class: 'notices' }, news, connection),
    announce(run) {
      fill(news, el('span', {}, `Run ${run} is new.`), button('Show it', () => {
        fill(news);
        show();
      }), button('Not now', () => fill(news)));
    },
    connection: (state) => fill(connection, WORDS[state]),
  };
}
