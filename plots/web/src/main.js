/* SPDX-License-Identifier: MIT */
import { App } from './app.js';
import { el, fill } from './dom.js';
import { openSource } from './source.js';
import { openState, windowPlace } from './state.js';

const root = document.getElementById('app');

try {
  const source = openSource(document, window.location);
  if (source === null)
    throw new Error('it holds no data');
  new App(source, openState(windowPlace(window)), root).start();
} catch (error) {
  fill(root, el('p', { class: 'error' }, `This page cannot be shown: ${error.message}.`));
  throw error;
}
