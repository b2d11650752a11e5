/* SPDX-License-Identifier: MIT */
/*
 * Trace Event files: slices ("X", or "B" with its "E") with process and thread, names from "M".
 * Times are µs in the file and stay so. Slices of one thread lie in rows by how they nest.
 */

const finite = (value) => typeof value === 'number' && Number.isFinite(value);

const numberOf = (value) => (typeof value === 'string' && value !== '' ? Number(value) : value);

function sliceOf(event, start, duration, end) {
  return { name: String(event.name ?? ''), category: String(event.cat ?? ''), start, duration,
    pid: String(event.pid ?? 0), tid: String(event.tid ?? 0),
    args: { ...event.args, ...end?.args } };
}

/* "B" waits for the "E" of its thread. */
function pairedSlices(events) {
  const open = new Map(), slices = [];
  for (const event of events) {
    const lane = `${event.pid}/${event.tid}`, ts = numberOf(event.ts);
    if (event.ph === 'B' && finite(ts))
      open.set(lane, [...(open.get(lane) || []), event]);
    else if (event.ph === 'E' && finite(ts)) {
      const begin = open.get(lane)?.pop();
      if (begin)
        slices.push(sliceOf(begin, numberOf(begin.ts), ts - numberOf(begin.ts), event));
    }
  }
  return slices;
}

function namesOf(events) {
  const processes = new Map(), threads = new Map(), order = new Map();
  for (const event of events.filter((one) => one.ph === 'M')) {
    const lane = `${event.pid}/${event.tid}`;
    if (event.name === 'process_name')
      processes.set(String(event.pid), String(event.args?.name ?? ''));
    if (event.name === 'thread_name')
      threads.set(lane, String(event.args?.name ?? ''));
    if (event.name === 'thread_sort_index' && finite(event.args?.sort_index))
      order.set(lane, event.args.sort_index);
  }
  return { processes, threads, order };
}

/* How deep each slice lies within others of its thread. */
function nest(slices) {
  const ends = [];
  for (const slice of slices) {
    while (ends.length > 0 && ends[ends.length - 1] <= slice.start)
      ends.pop();
    slice.depth = ends.length;
    ends.push(slice.start + slice.duration);
  }
  return slices.reduce((most, slice) => Math.max(most, slice.depth + 1), 1);
}

function laneOf(key, slices, names) {
  const { pid, tid } = slices[0];
  slices.sort((a, b) => a.start - b.start || b.duration - a.duration);
  return { key, process: names.processes.get(pid) || `process ${pid}`,
    thread: names.threads.get(key) || `thread ${tid}`, slices, depth: nest(slices),
    order: names.order.get(key) ?? 0 };
}

/**
 * @param {object|object[]} json
 * @returns {{lanes: object[], slices: object[], start: number, end: number}} µs; lanes in the order
 *   of their processes and sort indices
 */
export function traceSlices(json) {
  const events = Array.isArray(json) ? json : json.traceEvents;
  const names = namesOf(events);
  const whole = events.filter((event) => event.ph === 'X' && finite(numberOf(event.ts))
    && finite(numberOf(event.dur)))
    .map((event) => sliceOf(event, numberOf(event.ts), numberOf(event.dur)));
  const slices = [...whole, ...pairedSlices(events)].filter((slice) => slice.duration >= 0);
  const groups = new Map();
  for (const slice of slices) {
    const key = `${slice.pid}/${slice.tid}`;
    if (!groups.has(key))
      groups.set(key, []);
    groups.get(key).push(slice);
  }
  const lanes = [...groups].map(([key, mine]) => laneOf(key, mine, names))
    .sort((a, b) => a.process.localeCompare(b.process) || a.order - b.order
      || a.thread.localeCompare(b.thread, 'en', { numeric: true }));
  return { lanes, slices,
    start: slices.reduce((least, one) => Math.min(least, one.start), Infinity),
    end: slices.reduce((most, one) => Math.max(most, one.start + one.duration), -Infinity) };
}

/** The entries of a profile as lanes: one a device. */
export function profileLanes(entries) {
  return traceSlices(entries.map((entry) => ({ ph: 'X', name: entry.operation, cat: entry.backend,
    ts: entry.start / 1e3, dur: entry.duration / 1e3, pid: 'profile', tid: entry.device || 'all',
    args: Object.fromEntries(['gpu', 'cpu', 'transfer', 'overhead'].filter((part) =>
      entry[part] !== null).map((part) => [`${part} ns`, entry[part]])) }))
    .concat({ ph: 'M', name: 'process_name', pid: 'profile', args: { name: 'profile' } },
      [...new Set(entries.map((entry) => entry.device || 'all'))].map((device) => ({ ph: 'M',
        name: 'thread_name', pid: 'profile', tid: device, args: { name: device } })))
    .flat());
}
