/* SPDX-License-Identifier: MIT */
/*
 * Profiles: a list of entries, one a call. Both forms are read: times in ns with "_ns" behind the
 * name, or in ms ("duration_ms", "gpu_time_ms") with start and end in seconds; memory in bytes or MB.
 */

import { operationRows } from './operations_table.js';
import { deviation } from './stats.js';

const LISTS = ['entries', 'profile_entries', 'profile', 'operations'];
const MS = 1e6, S = 1e9, MB = 2 ** 20;

const number = (value) => (typeof value === 'number' && Number.isFinite(value) ? value : null);

/* The first of some members that is a number, each with its factor; null where none is. */
function first(entry, members) {
  for (const [name, factor] of members)
    if (number(entry[name]) !== null)
      return entry[name] * factor;
  return null;
}

function durationOf(entry, start, end) {
  const said = first(entry, [['duration_ns', 1], ['duration_us', 1e3], ['duration_ms', MS]]);
  return said !== null ? said : start !== null && end !== null ? end - start : null;
}

function entryOf(raw) {
  const start = first(raw, [['start_ns', 1], ['start_time_ns', 1], ['start_time', S], ['start', S]]);
  const end = first(raw, [['end_ns', 1], ['end_time_ns', 1], ['end_time', S], ['end', S]]);
  const part = (name) => first(raw, [[`${name}_ns`, 1], [`${name}_time_ns`, 1], [`${name}_time_ms`, MS],
    [`${name}_ms`, MS]]);
  return {
    operation: String(raw.operation ?? raw.name ?? ''),
    start, duration: durationOf(raw, start, end),
    device: String(raw.device ?? ''), backend: String(raw.backend ?? ''),
    gpu: part('gpu'), cpu: part('cpu'), transfer: part('transfer'), overhead: part('overhead'),
    allocated: first(raw, [['allocated_bytes', 1], ['memory_allocated_bytes', 1],
      ['memory_allocated_mb', MB]]),
    peak: first(raw, [['peak_bytes', 1], ['memory_peak_bytes', 1], ['memory_peak_mb', MB]]),
    utilization: first(raw, [['gpu_utilization', 1]]),
    bandwidth: first(raw, [['bandwidth_bytes', 1], ['memory_bandwidth_gb_s', 1e9]]),
  };
}

/* Starts from 0; entries without one stand one after the other. */
function placed(entries) {
  const known = entries.filter((entry) => entry.start !== null);
  const zero = known.reduce((least, entry) => Math.min(least, entry.start), Infinity);
  let next = 0;
  return entries.map((entry) => {
    const start = entry.start !== null ? entry.start - zero : next;
    next = Math.max(next, start + entry.duration);
    return { ...entry, start };
  });
}

/** @returns {object[]|null} entries in ns and bytes, what is not known null; null: it is no profile */
export function profileEntries(json) {
  const list = Array.isArray(json) ? json : LISTS.map((name) => json?.[name]).find(Array.isArray);
  if (!list || list.length === 0 || !list.every((one) => one !== null && typeof one === 'object'))
    return null;
  const entries = list.map(entryOf);
  const complete = entries.every((entry) => entry.operation !== '' && entry.duration !== null
    && entry.duration >= 0);
  return complete ? placed(entries) : null;
}

const total = (entries, member) => entries.reduce((sum, entry) => sum + (entry[member] ?? 0), 0);

function summaryOf(operation, entries, whole) {
  const durations = entries.map((entry) => entry.duration), sum = total(entries, 'duration');
  const parts = ['gpu', 'cpu', 'transfer', 'overhead'].map((part) =>
    [part, entries.some((entry) => entry[part] !== null) ? total(entries, part) : null]);
  const mean = (member) => {
    const known = entries.map((entry) => entry[member]).filter((value) => value !== null);
    return known.length ? known.reduce((all, value) => all + value, 0) / known.length : null;
  };
  const peaks = entries.map((entry) => entry.peak).filter((value) => value !== null);
  return {
    operation, calls: entries.length, total: sum, average: sum / entries.length,
    least: durations.reduce((least, value) => Math.min(least, value), Infinity),
    most: durations.reduce((most, value) => Math.max(most, value), 0),
    deviation: deviation(durations), share: whole > 0 ? sum / whole : 0,
    peak: peaks.length ? peaks.reduce((most, value) => Math.max(most, value), 0) : null,
    allocated: mean('allocated'), utilization: mean('utilization'), bytes: mean('bandwidth'),
    devices: [...new Set(entries.map((entry) => entry.device).filter(Boolean))].join(', '),
    backends: [...new Set(entries.map((entry) => entry.backend).filter(Boolean))].join(', '),
    ...Object.fromEntries(parts),
  };
}

const isList = (value) => Array.isArray(value) && value.length > 0 && value.every(Array.isArray);

/**
 * Tables without calls: the profile.json of harness profile, or a summary of the scopes library.
 * @returns {{rows: object[], json: object}|null} rows as those of summarise(), with `self`
 */
export function profileTables(json) {
  const summary = json?.summary ?? json;
  if (!Array.isArray(summary?.columns) || !summary.columns.includes('self') || !isList(summary.rows)
    || !summary.columns.includes('name'))
    return null;
  const rows = operationRows(summary), at = summary.columns.indexOf('side');
  const side = (nth) => summary.rows[nth][at] ?? 0;
  const totals = [0, 1].map((one) => rows.reduce((sum, row, nth) =>
    sum + (side(nth) === one ? row.self : 0), 0));
  return { json, rows: rows.map((row, nth) => ({ ...row, onDevice: side(nth) === 1, bytes: null, flops: null,
    share: totals[side(nth)] > 0 ? row.self / totals[side(nth)] : 0,
    peak: row.peak >= 0 ? row.peak : null, devices: '' })).sort((a, b) => a.onDevice - b.onDevice
      || b.self - a.self) };
}

/** One row an operation, the one that took longest first. */
export function summarise(entries) {
  const groups = new Map();
  for (const entry of entries) {
    if (!groups.has(entry.operation))
      groups.set(entry.operation, []);
    groups.get(entry.operation).push(entry);
  }
  const whole = total(entries, 'duration');
  return [...groups].map(([operation, mine]) => summaryOf(operation, mine, whole))
    .sort((a, b) => b.total - a.total);
}
