/* SPDX-License-Identifier: MIT */
/* Conditions made from what readers type and tick. */
import { FIELDS } from './filter.js';
import { globText } from './glob.js';

/** A text in quotes as the grammar reads it. */
export function quoted(text) {
  return `"${String(text).replace(/["'\\]/g, '\\$&')}"`;
}

/** What is typed into the search field: a condition where it compares anything, else words that a
 * key must hold. */
export function searchFilter(text) {
  if (text.trim() === '' || /[=<>()"]/.test(text))
    return text.trim();
  return text.trim().split(/\s+/).map((word) => `key = ${quoted(`*${globText(word)}*`)}`)
    .join(' and ');
}

/** All of some conditions at once. */
export function allFilters(filters) {
  const real = filters.filter((one) => one.trim() !== '');
  return real.length > 1 ? real.map((one) => `(${one})`).join(' and ') : real.join('');
}

/** The condition of what is picked of each field: { batch: ['1', '4'] }. */
export function pickFilter(picks) {
  return Object.entries(picks).map(([field, values]) => `${field} = ${values.map((value) =>
    (FIELDS[field] ? quoted(globText(value)) : value)).join(', ')}`).join(' and ');
}

/** The condition that leaves one benchmark. */
export const keyFilterText = (key) => `key = ${quoted(globText(key))}`;
