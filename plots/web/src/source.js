/* SPDX-License-Identifier: MIT */
/*
 * Where the page's data comes from: from the file itself, or from the server that sent it. Both
 * answer the same questions, so nothing else on the page knows which it is.
 *
 *     core                     what is readable at once
 *     table(), figure(id), samples(run, benchmark)   promises
 *     trace()                  all slices of the profile, or null; a promise, too
 *     figureAtHand(id)         the same figure where it is there already, else null
 *     history(key, metric)     a figure of a metric over all runs; live alone
 *     explore(preset, more)    a figure of a preset; live alone
 *     tokenOf(run), runOf(token)   how the address names a run
 *     select(choice, anew)     asks for other runs or another filter; the new core, or null
 *     watch(listener)          tells of new runs and of the connection, see news.js
 */
import { embeddedSource } from './source_embedded.js';
import { httpSource } from './source_http.js';

/** @param {Document} document @param {Location} location */
export function openSource(document, location) {
  const block = document.getElementById('harness-core');
  const core = block ? JSON.parse(block.textContent) : null;
  if (core === null)
    return null;
  return core.mode === 'serve' ? httpSource(core, location) : embeddedSource(core, document);
}
