/* SPDX-License-Identifier: MIT */
/*
 * What a trace answers that was dropped on the page, in the form of core.profile: the same as
 * harness/page/page_profile.c says of a profile, as far as slices alone tell it. In a team of threads
 * all record the same, so it is of the main one: the thread whose outermost slices last longest.
 */
import { shareText, timeText } from './words.js';

const TOP = 5, NS = 1e3; /* of a trace's µs */
const ON_DEVICE = /^(kernel|gpu_mem\w+)$/;

const isDevice = (lane) => lane.slices.every((slice) => ON_DEVICE.test(slice.category));
const sum = (list, value) => list.reduce((all, one) => all + value(one), 0);
const outermost = (lane) => lane.slices.filter((slice) => slice.depth === 0);

function mainLane(lanes) {
  const threads = lanes.filter((lane) => !isDevice(lane));
  const covered = (lane) => sum(outermost(lane), (slice) => slice.duration);
  return (threads.length ? threads : lanes).reduce((best, lane) =>
    (covered(lane) > covered(best) ? lane : best));
}

/* Of each slice what is not of those inside it. */
function selfTimes(lane) {
  const self = new Map(), open = [];
  for (const slice of lane.slices) {
    self.set(slice, slice.duration);
    open[slice.depth] = slice;
    const over = slice.depth > 0 ? open[slice.depth - 1] : null;
    if (over)
      self.set(over, self.get(over) - slice.duration);
  }
  return self;
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b), half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/* One row an operation, the one of the longest own time first. */
function rowsOf(lane) {
  const self = selfTimes(lane), rows = new Map();
  for (const slice of lane.slices) {
    const row = rows.get(slice.name) || { operation: slice.name, self: 0, durations: [] };
    row.self += Math.max(0, self.get(slice));
    row.durations.push(slice.duration);
    rows.set(slice.name, row);
  }
  return [...rows.values()].sort((a, b) => b.self - a.self);
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

/**
 * @param {object} trace  of traceSlices() @param {string} file  what it is called
 * @returns {object|null} as core.profile; null where no time was recorded
 */
export function traceAnswer(trace, file) {
  const lane = mainLane(trace.lanes), outer = outermost(lane), rows = rowsOf(lane);
  const whole = sum(outer, (slice) => slice.duration);
  if (!(whole > 0))
    return null;
  const iterations = outer.every((slice) => slice.name === outer[0].name) ? outer.length : 0;
  const name = iterations ? outer[0].name : file, others = trace.lanes.length - 1;
  const cards = [['operations recorded', String(trace.slices.length)],
    ['different operations', String(new Set(trace.slices.map((slice) => slice.name)).size)],
    ['total time', timeText(whole * NS)],
    ['own time of a call, on average', timeText(whole * NS / lane.slices.length)],
    ...(iterations ? [['iterations', String(iterations)],
      ['median iteration', timeText(median(outer.map((slice) => slice.duration)) * NS)]] : [])];
  return { name: file, headline: headlineOf(rows, whole, name),
    words: others > 0 ? [`Of ${others + 1} lanes this is "${lane.thread}", whose outermost calls last longest.`]
      : [],
    cards: cards.map(([label, value]) => ({ label, value })),
    top: rows.slice(0, TOP).filter((row) => row.self > 0)
      .map((row) => ({ operation: row.operation, words: wordsOf(row, whole) })),
    top_by: 'own time in that lane', advice: [] };
}
