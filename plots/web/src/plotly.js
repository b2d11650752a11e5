/* SPDX-License-Identifier: MIT */
/*
 * Plotly travels in the page as gzip in base64. It is undone at the first figure and run as a
 * script whose hash the page's content security policy names.
 */
import { gunzipped } from './gzip.js';

let loading = null;

/** Bytes of base64 text, in pieces: one large string would be slow. */
function base64Bytes(text) {
  const raw = atob(text.trim());
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++)
    bytes[i] = raw.charCodeAt(i);
  return bytes;
}

/** Text of gzip in base64. @returns {Promise<string>} */
export async function unpackText(base64) {
  return new Response(gunzipped(new Blob([base64Bytes(base64)]), 'draw the figures',
    'The tables below work.')).text();
}

function run(script) {
  const element = document.createElement('script');
  element.textContent = script;
  document.head.append(element);
  if (!window.Plotly)
    throw new Error('The drawing library could not be started.');
  return window.Plotly;
}

/** @returns {Promise<object>} Plotly; rejects with a sentence for the reader */
export function loadPlotly() {
  if (!loading)
    loading = unpackText(document.getElementById('plotly-gz').textContent).then(run);
  return loading;
}
