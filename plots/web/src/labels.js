/* SPDX-License-Identifier: MIT */
/*
 * Short labels for a set of benchmarks: only what differs within the set is said, as
 * harness/metrics/label.h has it. No two keys get the same label.
 */

const FRONT = ['variant', 'math'], BACK = ['device', 'cache'];

const differs = (set, field) => set.some((one) => one[field] !== set[0][field]);
const dimDiffers = (set, name, value) => set.some((one) => one.dims[name] !== value);

/* Lengths of what all kernels share at both ends, in whole parts; none loses its last part. */
function commonEnds(set) {
  const first = set[0].kernel;
  const shared = (a, b) => {
    let length = 0;
    for (let i = 0; i < a.length && a[i] === b[i]; i++)
      length = a[i] === '/' ? i + 1 : length;
    return length;
  };
  const turned = (text) => [...text].reverse().join('');
  const head = Math.min(...set.map((one) => shared(first, one.kernel)));
  const tail = Math.min(...set.map((one) => shared(turned(first), turned(one.kernel))));
  return set.some((one) => head + tail >= one.kernel.length) ? { head, tail: 0 } : { head, tail };
}

function words(set, one, differing) {
  const pick = (fields) => fields.filter((field) => differs(set, field) === differing)
    .map((field) => one[field]);
  const dims = Object.entries(one.dims)
    .filter(([name, value]) => dimDiffers(set, name, value) === differing)
    .map(([name, value]) => `${name}=${value}`);
  return [...pick(FRONT), ...dims, ...pick(BACK)].filter(Boolean);
}

function labelOf(set, one, ends) {
  const kernel = differs(set, 'kernel')
    ? [one.kernel.slice(ends.head, one.kernel.length - ends.tail)] : [];
  const label = [...kernel.filter(Boolean), ...words(set, one, true)].join(' ');
  return label || `${one.kernel} ${one.variant}`;
}

/** @param {object[]} set  benchmarks of the page's core @returns {string[]} */
export function labelsOf(set) {
  if (set.length === 0)
    return [];
  const ends = commonEnds(set);
  const labels = set.map((one) => labelOf(set, one, ends));
  const keys = new Map();
  labels.forEach((label, i) => keys.set(label, (keys.get(label) || new Set()).add(set[i].key)));
  return labels.map((label, i) => (keys.get(label).size > 1 ? set[i].key : label));
}

/** What all of the set have in common, for titles. */
export function commonOf(set) {
  if (set.length === 0)
    return '';
  const kernel = differs(set, 'kernel') ? [] : [set[0].kernel];
  return [...kernel, ...words(set, set[0], false)].join(' ');
}
