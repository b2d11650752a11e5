/* SPDX-License-Identifier: MIT */
/* Commands and queries for others to run: a name in them stays a name. */

/** A word of a shell command. */
export function shellWord(text) {
  const word = String(text);
  if (/^[A-Za-z0-9_./:=@%+,-]+$/.test(word))
    return word;
  // eslint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/.test(word))
    return `$'${[...word].map(ansiCharacter).join('')}'`;
  return `'${word.replaceAll("'", "'\\''")}'`;
}

function ansiCharacter(character) {
  const code = character.codePointAt(0);
  if (character === "'" || character === '\\')
    return `\\${character}`;
  return code >= 0x20 && code < 0x7f ? character
    : `\\U${code.toString(16).padStart(8, '0')}`;
}

/** A text in an SQL query. */
function sqlText(text) {
  return `'${String(text).replaceAll("'", "''")}'`;
}

/**
 * A command or query of the page's core with words in its places {key}, {run}, {uuid}, {file}, ...
 * @param {boolean} sql  the places stand between quotes of an SQL text
 */
export function fillCommand(text, values, sql = false) {
  const word = (value) => (sql ? sqlText(value).slice(1, -1) : shellWord(value));
  return text.replace(/\{(\w+)\}/g, (place, name) => (values[name] === undefined ? place
    : word(values[name])));
}
