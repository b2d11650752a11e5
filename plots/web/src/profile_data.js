/* SPDX-License-Identifier: MIT */
/*
 * Profiles: a list of entries, one a call. Both forms are read: times in ns with "_ns" behind the
 * name, or in ms ("duration_ms", "gpu_time_ms") with start and end in seconds; memory in bytes or MB.
 */

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

function deviation(values, mean) {
  return values.length < 2 ? null : Math.sqrt(values.reduce((sum, value) =>
    sum + (value - mean) ** 2, 0) / (values.length - 1));
}

function summaryOf(operation, entries, whole) {
  const durations = entries.map((entry) => entry.duration), sum = total(entries, 'duration');
  const parts = ['gpu', 'cpu', 'transfer', 'overhead'].map((part) =>
    [part, entries.some((entry) => entry[part] !== null) ? total(entries, part) : null]);
  const peaks = entries.map((entry) => entry.peak).filter((value) => value !== null);
  return {
    operation, calls: entries.length, total: sum, average: sum / entries.length,
    least: Math.min(...durations), most: Math.max(...durations),
    deviation: deviation(durations, sum / entries.length), share: whole > 0 ? sum / whole : 0,
    peak: peaks.length ? Math.max(...peaks) : null,
    devices: [...new Set(entries.map((entry) => entry.device).filter(Boolean))].join(', '),
    backends: [...new Set(entries.map((entry) => entry.backend).filter(Boolean))].join(', '),
    ...Object.fromEntries(parts),
  };
}

/** One row an operation, the one that took longest first. */
export function summarise(entries) {
  const groups = new Map();
  for (const entry of entries)
    groups.set(entry.operation, [...(groups.get(entry.operation) || []), entry]);
  const whole = total(entries, 'duration');
  return [...groups].map(([operation, mine]) => summaryOf(operation, mine, whole))
    .sort((a, b) => b.total - a.total);
}
