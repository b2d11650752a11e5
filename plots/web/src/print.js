/* SPDX-License-Identifier: MIT */
/*
 * On paper everything is drawn and unfolded, whoever asks for it: the button, the browser's menu, a
 * program. A browser that prints does not wait, so all of it happens before the event is over.
 */
import { drawOnPaper, makeFolded } from './figure.js';

/* Opens what is folded, but for the numbers of figures: their tables would be half of all pages, and
 * the figures stand above them. figure.css hides what is closed. @returns {Element[]} what has to be closed again */
function unfold(main) {
  const closed = [...main.querySelectorAll('details:not([open]):not(.picker):not(.figure-numbers)')];
  closed.forEach((details) => {
    makeFolded(details);
    details.open = true;
  });
  return closed;
}

/** Does so whenever the page is to be printed. */
export function followPaper(app) {
  let closed = null; // null: nothing is printed
  const begin = () => {
    if (closed)
      return;
    app.body.makeNow();
    closed = unfold(app.main);
    drawOnPaper(app.root, true);
  };
  const end = () => {
    closed?.forEach((details) => { details.open = false; });
    closed = null;
    drawOnPaper(app.root, false);
  };
  window.addEventListener('beforeprint', begin);
  window.addEventListener('afterprint', end);
  /* Some programs show a page as on paper and tell of no printing. */
  window.matchMedia('print').addEventListener('change', ({ matches }) => (matches ? begin() : end()));
}

/** Fetches and draws what is not drawn yet, and asks the browser to print. */
export async function printPage(app) {
  await app.body.drawAll();
  window.print();
}
