/* SPDX-License-Identifier: MIT */
/*
 * Lists as long as a report has results. Each is gone through once: a list copied for each of its
 * items takes minutes, and one spread into the arguments of a call overflows the stack.
 */

/** Lists of those of which `nameOf` says the same, by that, in the order of the first of each. */
export function gathered(items, nameOf) {
  const lists = new Map();
  for (const item of items) {
    const name = nameOf(item), list = lists.get(name);
    if (list)
      list.push(item);
    else
      lists.set(name, [item]);
  }
  return lists;
}

/** Infinity of nothing. */
export const leastOf = (values) => values.reduce((least, value) => Math.min(least, value), Infinity);

/** -Infinity of nothing. */
export const mostOf = (values) => values.reduce((most, value) => Math.max(most, value), -Infinity);

/** Gives each name a place, the next free one to a new name. @returns {function(string): number}
 * which also writes new names at the end of `list` */
export function placesIn(list) {
  const places = new Map(list.map((name, at) => [name, at]));
  return (name) => {
    if (!places.has(name))
      places.set(name, list.push(name) - 1);
    return places.get(name);
  };
}
