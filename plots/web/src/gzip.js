/* SPDX-License-Identifier: MIT */
/* Gzip, as the page's own data travels and as profilers pack their traces. */

/**
 * @param {Blob} blob @param {string} what  cannot be done in a browser that is too old, as the sentence
 *   says it, and `instead` what can
 * @returns {ReadableStream} its bytes, unpacked
 */
export function gunzipped(blob, what, instead) {
  if (typeof DecompressionStream === 'undefined')
    throw new Error(`This browser cannot ${what}: it is older than Chrome 80, Firefox 113 or Safari 16.4. ${
      instead}`);
  return blob.stream().pipeThrough(new DecompressionStream('gzip'));
}
