/* SPDX-License-Identifier: MIT */
/* The machine, what differs between the sides, and the states that the machine was in. */
import { el, nameOf } from './dom.js';
import { general, timestampText } from './words.js';

function pairs(caption, heads, rows, className) {
  return el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption },
    el('table', { class: className }, el('caption', {}, caption),
      el('thead', {}, el('tr', {}, heads.map((head) => el('th', { scope: 'col' }, head)))),
      el('tbody', {}, rows)));
}

function systemTable(core) {
  if (!core.system?.length)
    return null;
  return pairs('The machine and build of the run', ['fact', 'value'], core.system.map((fact) =>
    el('tr', {}, el('th', { scope: 'row' }, nameOf(fact.name, 80)),
      el('td', {}, nameOf(fact.value, 400)))), 'facts');
}

/* A side of a difference; a measured number with the digits that say something. */
function sideText(value) {
  if (value === undefined || value === null)
    return '–';
  return /^-?\d+\.\d{5,}$/.test(value) ? general(Number(value), 4) : nameOf(value, 300);
}

function differenceRow(one) {
  return el('tr', { class: one.weather ? 'muted' : null },
    el('th', { scope: 'row' }, nameOf(one.name, 80), one.weather ? ' (weather)' : ''),
    el('td', {}, sideText(one.base)), el('td', {}, sideText(one.head)));
}

function differencesTable(core) {
  if (core.base === null || core.base === undefined)
    return null;
  if (!core.differences?.length)
    return el('p', {}, 'Base and head were built and measured in the same environment.');
  return pairs('What differs between base and head beside their times', ['fact', 'base', 'head'],
    core.differences.map(differenceRow), 'facts');
}

/* Runs whose environment is alike, one row each in order of time. */
function epochsOf(core) {
  const epochs = new Map();
  for (const run of core.runs) {
    const one = epochs.get(run.epoch) || { nr: 0, first: run, last: run };
    one.nr++;
    one.last = run;
    epochs.set(run.epoch, one);
  }
  return [...epochs.values()];
}

function epochsTable(core) {
  const epochs = epochsOf(core);
  if (epochs.length < 2)
    return null;
  return pairs('States of the machine: numbers of different ones are shown together, never pooled',
    ['state', 'runs', 'from', 'to', 'compiler'], epochs.map((epoch, i) => el('tr', {},
      el('th', { scope: 'row' }, String.fromCharCode(65 + i % 26)),
      el('td', { class: 'number' }, epoch.nr), el('td', {}, timestampText(epoch.first.started_ms)),
      el('td', {}, timestampText(epoch.last.started_ms)),
      el('td', {}, nameOf(epoch.last.build?.compiler, 80)))), 'facts');
}

/** @returns {Element} */
export function environmentView(core) {
  return el('div', { class: 'environment' }, differencesTable(core), systemTable(core),
    epochsTable(core));
}
