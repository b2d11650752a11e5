/* SPDX-License-Identifier: MIT */
/* On paper everything is drawn and unfolded. */

const LONGEST_WAIT = 20000, LONGEST_TABLE = 48;

const unpainted = () => [...document.querySelectorAll('figure.figure:not(.is-absent)')]
  .filter((figure) => !figure.dataset.painted && figure.offsetParent !== null);

async function allPainted() {
  const end = Date.now() + LONGEST_WAIT;
  while (unpainted().length > 0 && Date.now() < end)
    await new Promise((resolve) => setTimeout(resolve, 50));
}

/* What is folded is made when it is opened; a table that would fill pages stays in its file. */
async function unfold() {
  const closed = [...document.querySelectorAll('main details:not([open]):not(.picker)')];
  closed.forEach((details) => { details.open = true; });
  await new Promise((resolve) => setTimeout(resolve, 100));
  closed.filter((details) => details.querySelectorAll('tr').length > LONGEST_TABLE)
    .forEach((details) => { details.open = false; });
  return closed;
}

/** Draws what is not drawn yet, unfolds, and asks the browser to print. */
export async function printPage(app) {
  await app.body.drawAll();
  unpainted().forEach((figure) => figure.scrollIntoView());
  await allPainted();
  const closed = await unfold();
  window.addEventListener('afterprint', () => closed.forEach((details) => { details.open = false; }),
    { once: true });
  window.scrollTo(0, 0);
  window.print();
}
