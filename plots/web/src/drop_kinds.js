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

const kindOf = (json) => TESTS.find(([, test]) => test(json))?.[0];

const QUOTE = 34, BACKSLASH = 92;
const NO_NUMBER = /-?(?:NaN|nan|Infinity|inf)/y, BEGINS = new Set([...'-NnIi'].map((one) => one.charCodeAt(0)));

/* Numbers that JSON does not have, as Python and C++ write them, as null; strings stay as they are. Letter by
 * letter: a pattern that takes strings, too, needs several times as long. */
function withoutNoNumbers(text) {
  const parts = [];
  let from = 0, quoted = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE)
      quoted = !quoted;
    else if (quoted)
      i += code === BACKSLASH ? 1 : 0;
    else if (BEGINS.has(code)) {
      NO_NUMBER.lastIndex = i;
      if (!NO_NUMBER.test(text))
        continue;
      parts.push(text.slice(from, i), 'null');
      from = NO_NUMBER.lastIndex;
      i = from - 1;
    }
  }
  return parts.join('') + text.slice(from);
}

/* Traces and profiles of others have such numbers, and harness reads them so. `error` has its place in the
 * file. */
function readTolerantly(text, error) {
  try {
    const json = JSON.parse(withoutNoNumbers(text));
    if (['trace', 'profile'].includes(kindOf(json)))
      return json;
  } catch {
    /* What is said below is of the file as it is. */
  }
  throw new Error(`This is no JSON: ${error.message}. ${EXPECTED}`);
}

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
    json = readTolerantly(text, error);
  }
  const kind = kindOf(json);
  if (!kind)
    throw new Error(`This JSON is none that the page can show. ${hint(json)} ${EXPECTED}`);
  return { kind, json: kind === 'trace' ? traceOf(json) : json };
}
