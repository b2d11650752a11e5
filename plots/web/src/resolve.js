/* SPDX-License-Identifier: MIT */
/* Which benchmark a point of a figure stands for, by the words that a figure has for it. */

function wordsOf(bench) {
  const parts = bench.kernel.split('/');
  const kernels = parts.flatMap((_, i) => parts.slice(i).map((__, k) => parts.slice(i, i + k + 1)
    .join('/')));
  return new Set([...kernels, bench.variant, bench.math, bench.device, bench.cache,
    ...Object.entries(bench.dims).map(([name, value]) => `${name}=${value}`)]);
}

/* Those whose words hold all words of the text. */
function matching(core, text) {
  const exact = core.benchmarks.findIndex((bench) => bench.key === text || bench.label === text);
  if (exact >= 0)
    return [exact];
  const words = text.split(' ').filter(Boolean);
  return words.length === 0 ? [] : core.benchmarks.map((bench, i) => ({ i, words: wordsOf(bench) }))
    .filter((one) => words.every((word) => one.words.has(word))).map((one) => one.i);
}

/** @param {string} text  of a datum @returns {number} index of the one benchmark meant, or -1 */
export function benchmarkOfText(core, text) {
  const parts = [text, ...text.split(/, | · |: |  \(/)];
  for (const part of parts) {
    const found = matching(core, part.trim());
    if (found.length === 1)
      return found[0];
  }
  return -1;
}
