/* SPDX-License-Identifier: MIT */

const NEVER = /(?!)/;

/* The end of the set that begins at `at`, or -1 where it is only a bracket. */
function setEnd(glob, at) {
  const first = at + (/[!^]/.test(glob[at + 1] || '') ? 2 : 1);
  return glob.indexOf(']', first + 1);
}

function setPattern(glob, at, end) {
  const turned = /[!^]/.test(glob[at + 1]);
  const inside = glob.slice(at + (turned ? 2 : 1), end).replace(/[\\\][^]/g, '\\$&');
  return `[${turned ? '^' : ''}${inside}]`;
}

/** A glob as a pattern over the whole text: * any text, ? one character, [a-z] a set, [!a] none of
 * it. A "[" that nothing closes is a "[". */
export function globPattern(glob) {
  let pattern = '';
  for (let i = 0; i < glob.length; i++) {
    const closed = glob[i] === '[' && glob.indexOf(']', i + 2) >= 0;
    const end = closed ? setEnd(glob, i) : -1;
    if (closed && end < 0)
      return NEVER;
    if (closed) {
      pattern += setPattern(glob, i, end);
      i = end;
    } else
      pattern += { '*': '[^]*', '?': '[^]' }[glob[i]] ?? glob[i].replace(/[\\^$.|+()[\]{}/]/g, '\\$&');
  }
  try {
    return new RegExp(`^(?:${pattern})$`, 'u');
  } catch {
    return NEVER;
  }
}

/** Plain text within a glob. */
export function globText(text) {
  return String(text).replace(/[*?[]/g, '[$&]');
}

/** Does a glob of a preset take a key: the whole of it, or a leading run of its parts? */
function takesKey(glob, key) {
  return globPattern(glob).test(key) || globPattern(`${glob}/*`).test(key);
}

/** Does a preset's filter take a key? The last glob that matches decides; without a positive one
 * everything is in. @param {string[]} filter */
export function presetTakes(filter, key) {
  let taken = filter.every((glob) => glob.startsWith('!'));
  for (const glob of filter)
    if (takesKey(glob.replace(/^!/, ''), key))
      taken = !glob.startsWith('!');
  return taken;
}
