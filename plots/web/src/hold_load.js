/* SPDX-License-Identifier: MIT */
/*
 * The page counts as loaded when what is seen of it is drawn: so says the browser's own sign, and
 * programs that take a picture of a page or print it wait for nothing else. Unpacking takes no
 * script's time, so the browser has to be told: a document that is open inside this one holds it up.
 */
import { el } from './dom.js';

const MOST = 15000; // ms; what takes longer is not waited for

/** @returns {function()} says that it may count as loaded */
export function holdLoad() {
  if (document.readyState === 'complete')
    return () => {};
  const frame = el('iframe', { hidden: true, title: 'loading', 'aria-hidden': 'true' });
  document.body.append(frame);
  frame.contentDocument.open();
  const release = () => {
    clearTimeout(timer);
    frame.contentDocument?.close();
    frame.remove();
  };
  const timer = setTimeout(release, MOST);
  return release;
}
