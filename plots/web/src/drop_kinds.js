/* SPDX-License-Identifier: MIT */
/* What a dropped file is, told by its contents and never by its name. */
import { profileEntries, profileTables } from './profile_data.js';
import { traceSlices } from './trace_data.js';

const EXPECTED = 'It could be: records (harness run --json), a comparison (harness compare --json), '
  + 'a figure (<name>.json beside a plot), a profile (profile.json of harness profile, a '
  + 'summary of the scopes library, a list of entries with operation, start and duration), or a Trace Event file (traceEvents).';

const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);
const isListOf = (value, test) => Array.isArray(value) && value.length > 0 && value.every(test);

const TESTS = [
  ['trace', (json) => isListOf(json?.traceEvents, isObject) || (isListOf(json, isObject)
    && json.every((one) => typeof one.ph === 'string'))],
  ['records', (json) => isListOf(json?.runs, (run) => isObject(run) && Array.isArray(run.measurements))],
  ['comparison', (json) => isObject(json?.counts) && isListOf(json?.rows, (row) => isObject(row)
    && typeof row.verdict === 'string' && typeof row.key === 'string')],
  ['figure', (json) => typeof json?.id === 'string' && (Array.isArray(json.panels)
    || typeof json.reason === 'string')],
  ['tables', (json) => profileTables(json) !== null],
  ['profile', (json) => profileEntries(json) !== null],
];

/** Near misses, so that the answer says what is wrong and not only that it is. */
function hint(json) {
  if (Array.isArray(json) && json.length === 0)
    return 'The list is empty.';
  if (Array.isArray(json?.traceEvents))
    return 'It has "traceEvents", but the list is empty or holds what is no event.';
  if (Array.isArray(json?.runs))
    return 'It has "runs", but not each of them has "measurements".';
  if (json?.type && json?.name)
    return 'It looks like a saved configuration: load it in the exploration above.';
  return isObject(json) ? `Its members are ${Object.keys(json).slice(0, 8).map((key) =>
    JSON.stringify(key.slice(0, 40))).join(', ') || 'none'}.`
    : 'It is neither an object nor a list of objects.';
}

function traceOf(json) {
  const trace = traceSlices(json);
  if (trace.nr === 0)
    throw new Error('This Trace Event file has no slice with a duration ("ph": "X", or "B" and "E").');
  return trace;
}

/**
 * @param {string} text  of the file
 * @returns {{kind: string, json: *}} kind: trace (json is that of traceSlices()), records, comparison,
 *   figure, tables or profile
 * @throws {Error} with sentences for the reader
 */
export function readDropped(text) {
  let json;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new Error(`This is no JSON: ${error.message}. ${EXPECTED}`);
  }
  const found = TESTS.find(([, test]) => test(json));
  if (!found)
    throw new Error(`This JSON is none that the page can show. ${hint(json)} ${EXPECTED}`);
  return { kind: found[0], json: found[0] === 'trace' ? traceOf(json) : json };
}
