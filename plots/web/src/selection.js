/* SPDX-License-Identifier: MIT */
/* What the reader's filters leave: rows of the table, by a condition, picks and a range. */
import { allFilters, pickFilter, searchFilter } from './filter_words.js';
import { filterRows, metricOf } from './data.js';

/** The condition that all fields together make; "" where nothing is filtered. */
export function conditionOf(state) {
  return allFilters([searchFilter(state.get('where')), pickFilter(state.picks())]);
}

/** Is a range of a metric set? */
export const hasRange = (state) => state.get('metric') !== ''
  && (state.get('min') !== '' || state.get('max') !== '');

/** The range as the server takes it: "p50:1e3:"; "" where there is none. */
export const rangeOf = (state) => (hasRange(state)
  ? ['metric', 'min', 'max'].map((key) => state.get(key)).join(':') : '');

/* Values and limits are in base units. */
function inRange(core, table, state) {
  const metric = metricOf(core, state.get('metric'));
  if (!metric || !hasRange(state))
    return () => true;
  const limit = (key, otherwise) => (state.get(key) === '' ? otherwise : Number(state.get(key)));
  const low = limit('min', -Infinity), high = limit('max', Infinity);
  const column = table.columns[metric.id] || [];
  return (row) => {
    const value = (column[row.at] ?? NaN) * (metric.factor || 1);
    return value >= low && value <= high;
  };
}

/**
 * @returns {{rows: object[], benchmarks: Set<number>, error: string}} with an error the rows are all
 */
export function select(core, table, rows, state) {
  let left = rows, error = '';
  try {
    left = filterRows(core, rows, conditionOf(state)).filter(inRange(core, table, state));
  } catch (problem) {
    if (problem.at === undefined)
      throw problem;
    error = problem.message;
  }
  return { rows: left, error, benchmarks: new Set(left.map((row) => row.benchmark)) };
}
