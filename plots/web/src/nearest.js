/* SPDX-License-Identifier: MIT */

/* Levenshtein's distance. */
function distance(a, b) {
  const row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 0; i < Math.min(a.length, 63); i++) {
    let diagonal = row[0];
    row[0] = i + 1;
    for (let j = 0; j < b.length; j++) {
      const best = Math.min(diagonal + (a[i] !== b[j] ? 1 : 0), row[j + 1] + 1, row[j] + 1);
      diagonal = row[j + 1];
      row[j + 1] = best;
    }
  }
  return row[b.length];
}

/** The name nearest to a word, null where none is near; as harness/base/text.h has it. */
export function nearest(word, names) {
  let best = 1 + Math.floor(word.length / 2), found = null;
  for (const name of names) {
    const far = word && name.includes(word) ? 1 : distance(word, name);
    if (far < best)
      [best, found] = [far, name];
  }
  return found;
}
