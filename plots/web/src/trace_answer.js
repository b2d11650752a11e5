/* SPDX-License-Identifier: MIT */
/*
 * What a trace answers that was dropped on the page, in the form of core.profile: the same as
 * harness/page/page_profile.c says of a profile, as far as slices alone tell it. In a team of threads
 * all record the same, so it is of the main one (harness/timeline/timeline_main.h): the thread whose
 * outermost slices last longest, or the one that the process began with.
 */
import { deviation, median } from './stats.js';
import { nameAt } from './trace_columns.js';
import { shareText, timeText } from './words.js';

const TOP = 5, NS = 1e3; /* of a trace's µs */
const ON_DEVICE = /^(kernel|gpu_mem\w+)$/;

const sum = (list, value) => list.reduce((all, one) => all + value(one), 0);

const timesOf = (trace, list) => Float64Array.from(list, (i) => trace.duration[i]);

/* Slices of a lane, by their places. */
function* slicesOf(lane) {
  for (let i = lane.first; i < lane.first + lane.nr; i++)
    yield i;
}

function isDevice(trace, lane) {
  const on = trace.texts.map((text) => ON_DEVICE.test(text));
  for (const i of slicesOf(lane))
    if (!on[trace.category[i]])
      return false;
  return true;
}

function outermost(trace, lane) {
  const outer = [];
  for (const i of slicesOf(lane))
    if (trace.depth[i] === 0)
      outer.push(i);
  return outer;
}

const coveredBy = (trace, list) => timesOf(trace, list).reduce((all, one) => all + one, 0);

function mainLane(trace) {
  const threads = trace.lanes.filter((lane) => !isDevice(trace, lane));
  const covered = new Map(trace.lanes.map((lane) => [lane, coveredBy(trace, outermost(trace, lane))]));
  const longest = (lanes) => lanes.reduce((best, lane) =>
    (covered.get(lane) > covered.get(best) ? lane : best));
  const first = threads.filter((lane) => lane.tid !== undefined && lane.tid === lane.pid);
  const best = longest(threads.length ? threads : trace.lanes);
  if (first.length && 2 * covered.get(longest(first)) >= covered.get(best))
    return { lane: longest(first), why: 'which the process began with' };
  return { lane: best, why: 'whose outermost calls last longest' };
}

/* Of each slice of a lane what is not of those inside it. */
function selfTimes(trace, lane) {
  const self = trace.duration.slice(lane.first, lane.first + lane.nr);
  for (const i of slicesOf(lane))
    if (trace.parent[i] >= 0)
      self[trace.parent[i] - lane.first] -= trace.duration[i];
  return self;
}

/* As those of summarise(), in ns. */
function traceRows(rows, whole) {
  return rows.map(({ operation, self, durations }) => {
    const total = sum(durations, (value) => value) * NS, sorted = durations.map((value) => value * NS);
    return { operation, calls: durations.length, total, self: self * NS, average: total / durations.length,
      p50: median(sorted), least: sorted[0], most: sorted[sorted.length - 1], deviation: deviation(sorted),
      share: whole > 0 ? self / whole : 0, gpu: null, cpu: null, transfer: null, overhead: null,
      peak: null };
  });
}

/* One row an operation, the one of the longest own time first; durations in order. */
function rowsOf(trace, lane) {
  const self = selfTimes(trace, lane), nr = trace.texts.length;
  const calls = new Uint32Array(nr), own = new Float64Array(nr), durations = [];
  for (const i of slicesOf(lane)) {
    calls[trace.name[i]]++;
    own[trace.name[i]] += Math.max(0, self[i - lane.first]);
  }
  for (const i of slicesOf(lane)) {
    const name = trace.name[i], mine = durations[name] = durations[name] || new Float64Array(calls[name]);
    mine[--calls[name]] = trace.duration[i];
  }
  return durations.map((list, name) => ({ operation: trace.texts[name], self: own[name],
    durations: list.sort() })).filter(Boolean).sort((a, b) => b.self - a.self);
}

function wordsOf(row, whole) {
  const calls = row.durations.length;
  return `${timeText(row.self * NS)}, ${shareText(row.self / whole)} of the time, ${calls} call${
    calls === 1 ? '' : `s of ${timeText(median(row.durations) * NS)} (median)`}`;
}

function headlineOf(rows, whole, name) {
  const [worst] = rows, share = shareText(worst.self / whole);
  if (worst.operation !== name)
    return `${worst.operation} takes ${share} of ${name}.`;
  return rows.length === 1 ? `${name} is one operation: nothing inside it was recorded.`
    : `${share} of ${name} is in none of its operations.`;
}

const different = (trace) => new Set(trace.name).size;

/**
 * @param {object} trace  of traceSlices() @param {string} file  what it is called
 * @returns {{answer: object, rows: object[]}|null} answer as core.profile, rows as those of summarise()
 *   in ns; null where no time was recorded
 */
export function traceAnswer(trace, file) {
  const { lane, why } = mainLane(trace), outer = outermost(trace, lane), rows = rowsOf(trace, lane);
  const whole = coveredBy(trace, outer);
  if (!(whole > 0))
    return null;
  const iterations = outer.every((i) => trace.name[i] === trace.name[outer[0]]) ? outer.length : 0;
  const name = iterations ? nameAt(trace, outer[0]) : file, others = trace.lanes.length - 1;
  const cards = [['operations recorded', String(trace.nr)],
    ['different operations', String(different(trace))],
    ['total time', timeText(whole * NS)],
    ['own time of a call, on average', timeText(whole * NS / lane.nr)],
    ...(iterations ? [['iterations', String(iterations)],
      ['median iteration', timeText(median(timesOf(trace, outer).sort()) * NS)]] : [])];
  const answer = { name: file, headline: headlineOf(rows, whole, name),
    words: others > 0 ? [`Of ${others + 1} lanes this is "${lane.thread}", ${why}.`]
      : [],
    cards: cards.map(([label, value]) => ({ label, value })),
    top: rows.slice(0, TOP).filter((row) => row.self > 0)
      .map((row) => ({ operation: row.operation, words: wordsOf(row, whole) })),
    top_by: 'own time in that lane', advice: [] };
  return { answer, rows: traceRows(rows, whole) };
}
