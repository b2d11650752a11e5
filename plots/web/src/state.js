/* SPDX-License-Identifier: MIT */
/*
 * What the reader chose, kept in the address behind "#", so that a link shows the same:
 *
 *     #runs=3,7&where=batch%20%3E%3D%204&pick.kernel=gemm%2Flinear&x=p50&y=tokens&type=scatter&xlog=1
 *
 * A state is a plain object of texts; what is at its default is not in the address.
 */
import { whenReleased } from './press.js';

/** Every member and its default. "" means: the page chooses. */
const DEFAULTS = Object.freeze({
  runs: '', base: '', where: '', theme: '', fig: '',
  x: '', y: '', type: '', group: '', colour: '', size: '', title: '',
  xlog: '', ylog: '', window: '', pareto: '', legend: '', limit: '',
  metric: '', min: '', max: '',
  sort: '', columns: '', page: '',
  bench: '', run: '', lit: '',
});

const PICK = 'pick.';

/**
 * @param {string} hash  with or without "#"
 * @returns {Object<string, string>} defaults filled in; picks under "pick.<field>"; what is unknown
 *   is left out
 */
export function parseHash(hash) {
  const state = { ...DEFAULTS };
  for (const [key, value] of new URLSearchParams(hash.replace(/^#/, '')))
    if (Object.hasOwn(DEFAULTS, key) || (key.startsWith(PICK) && key.length > PICK.length))
      state[key] = value;
  return state;
}

/** @returns {string} "" where all is at its default, else "#..." */
export function formatHash(state) {
  const parts = new URLSearchParams();
  for (const [key, value] of Object.entries(state))
    if (value !== '' && value !== undefined && value !== null)
      parts.set(key, value);
  const text = parts.toString();
  return text ? `#${text}` : '';
}

/** Lists travel as texts; a comma inside an item is doubled up as "%2C". */
export function parseList(text) {
  return text === '' ? [] : text.split(',').map((item) => item.replaceAll('%2C', ',')
    .replaceAll('%25', '%'));
}

export function formatList(items) {
  return items.map((item) => String(item).replaceAll('%', '%25').replaceAll(',', '%2C')).join(',');
}

/** What is picked of each field: { batch: ['1', '4'] }. */
export function picksOf(state) {
  const picks = {};
  for (const [key, value] of Object.entries(state))
    if (key.startsWith(PICK) && value !== '')
      picks[key.slice(PICK.length)] = parseList(value);
  return picks;
}

/**
 * The state with those who want to know when it changes.
 * @param {{hash: string, replace: function(string), onhashchange: function}} place  the window's
 */
export function openState(place) {
  let state = parseHash(place.hash());
  let waiting = null, timer = 0; // changes that soon() holds back
  const listeners = [];

  function tell(before) {
    const changed = new Set([...Object.keys(before), ...Object.keys(state)]
      .filter((key) => (before[key] || '') !== (state[key] || '')));
    if (changed.size > 0)
      listeners.forEach((listen) => listen(changed));
  }

  function change(changes, step) {
    const before = state;
    state = { ...state };
    for (const [key, value] of Object.entries(changes))
      state[key] = value === true ? '1' : value === false || value === null ? '' : String(value);
    place.write(formatHash(state), step);
    tell(before);
  }

  function forget() {
    clearTimeout(timer);
    waiting = null;
  }

  function settle() {
    const changes = waiting;
    forget();
    if (changes)
      change(changes, false);
  }

  place.listen(() => {
    const before = state;
    forget(); /* the address says all, and came last */
    state = parseHash(place.hash());
    tell(before);
  });

  return {
    get: (key) => state[key] || '',
    all: () => ({ ...state }),
    picks: () => picksOf(state),
    /** Changes some members at once; a change of the view that deserves a step back says so. */
    set(changes, { step = false } = {}) {
      settle(); /* else what was typed before would come after, and undo this */
      change(changes, step);
    },
    /** Changes as of typing: made once none has followed for `ms`, or before the next of set(). */
    soon(changes, ms) {
      clearTimeout(timer);
      waiting = { ...waiting, ...changes };
      timer = setTimeout(() => whenReleased(settle), ms);
    },
    /** Makes now what soon() holds back. */
    settle,
    /** Does soon() hold back a change of this member? */
    waits: (key) => waiting !== null && Object.hasOwn(waiting, key),
    /** @param {function(Set<string>)} listen  called with the names of what changed */
    onChange: (listen) => listeners.push(listen),
  };
}

/** The window's address as a place for the state. */
export function windowPlace(window) {
  return {
    hash: () => window.location.hash,
    listen: (changed) => window.addEventListener('hashchange', changed),
    write(hash, step) {
      const url = hash || window.location.pathname + window.location.search;
      window.history[step ? 'pushState' : 'replaceState'](null, '', url);
    },
  };
}
