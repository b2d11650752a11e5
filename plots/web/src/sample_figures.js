/* SPDX-License-Identifier: MIT */
/*
 * The raw samples of one benchmark, of both sides beside each other. They are in the page alone: the
 * figures of the program show many benchmarks and have no room for each sample of each.
 *
 * A side is { name, bench, uuid, samples, live }: samples as source.samples() gives them; live where a
 * server was asked, which has all that there are.
 */
import { absent, addLayer, addPanel, figureOf, finish, setAxis, styleOf, GREY, LIGHT } from './spec.js';
import { quantile, rollingMedian, sorted, thin } from './stats.js';
import { timeText } from './words.js';

const STEPS = 160, BINS = 40, POINTS = 1200, BEYOND = 2;
const TIME = { quantity: 'time' };
const valuesOf = (side) => side.samples.launches.flat();

const NONE_KEPT = 'No raw samples of this benchmark are kept of these runs.';
const NONE_HERE = 'The samples of these runs are not in this file; the notes at its end say whether they are kept.';

/* A figure of those sides that have samples; `draw` gets them with their values in order. */
function figureOfSides(id, title, all, draw) {
  const figure = figureOf(id, title), sides = all.filter(({ samples }) => samples?.launches.flat().length)
    .map((side, nth) => ({ ...side, ordered: sorted(valuesOf(side)), style: styleOf(nth) }));
  if (sides.length === 0)
    return absent(figure, all.some(({ live }) => live) ? NONE_KEPT : NONE_HERE);
  const part = sides.some(({ samples }) => samples.of > samples.kept);
  figure.caption = `${draw(figure, sides)}${part ? ' The page has an even part of the samples alone.' : ''}`;
  figure.alt = `${title}, of ${sides.map(({ name }) => name).join(' and ')}.`;
  return finish(figure);
}

const labelOf = ({ name, ordered }) => `${name}  (p50 ${timeText(quantile(ordered, 0.5))}, n ${ordered.length})`;

/* The axis ends where the tails begin: they would flatten the rest. */
function timesAcross(panel, sides) {
  setAxis(panel.x, 'latency', TIME);
  panel.x.low = Math.min(...sides.map(({ ordered }) => ordered[0]));
  panel.x.high = Math.max(...sides.map(({ ordered }) => quantile(ordered, ordered.length < 30 ? 1 : 0.99)));
  const room = (panel.x.high - panel.x.low || panel.x.high) * 0.04;
  panel.x.low = Math.max(0, panel.x.low - room);
  panel.x.high += room;
}

/** The share of samples at or below each value. */
export const sharesFigure = (sides) => figureOfSides('drill-ecdf', 'All samples, as shares', sides,
  (figure, drawn) => {
    const panel = addPanel(figure, { height: 440 });
    timesAcross(panel, drawn);
    setAxis(panel.y, 'samples at or below', { quantity: 'share' });
    Object.assign(panel.y, { low: 0, high: 1.01 });
    addLayer(panel, 'rules', '', { colour: GREY, width: 1, dash: 'dot' }, { x: [null], y: [0.5] });
    for (const side of drawn) {
      const nr = Math.min(side.ordered.length, STEPS);
      const shares = Array.from({ length: nr }, (_, i) => (i + 1) / nr);
      const x = shares.map((share) => side.ordered[Math.ceil(share * side.ordered.length) - 1]);
      addLayer(panel, 'steps', labelOf(side), side.style, { x: [x[0], ...x], y: [0, ...shares], items: side });
    }
    return 'A steep line is a steady benchmark, two steep parts are two modes. Dotted: one half, where a '
      + 'line crosses it is its median. The axis ends at the largest p99.';
  });

/** How many samples lie in each of some equal parts of the axis. */
export const shapeFigure = (sides) => figureOfSides('drill-shape', 'Shape of the samples', sides,
  (figure, drawn) => {
    const panel = addPanel(figure, { height: 440 });
    timesAcross(panel, drawn);
    const { low, high } = panel.x, width = (high - low) / BINS;
    setAxis(panel.y, `samples in ${timeText(width)}`, { quantity: 'share' });
    panel.y.low = 0;
    for (const side of drawn) {
      const shares = new Array(BINS).fill(0);
      for (const value of side.ordered.filter((one) => one < high))
        shares[Math.floor((value - low) / width)] += 1 / side.ordered.length;
      addLayer(panel, 'steps', labelOf(side), side.style, { items: side,
        x: [...shares.keys(), BINS].map((at) => low + at * width), y: [...shares, 0] });
    }
    return 'Each step is the share of a side’s samples in one part of the axis, which ends at the largest '
      + 'p99.';
  });

/* One frame for all sides, around their bodies: what lies far outside would flatten them. */
function frameOf(sides) {
  const all = sorted(sides.flatMap(valuesOf)), at = (p) => quantile(all, p);
  const wide = BEYOND * (at(0.95) - at(0.05));
  const low = wide > 0 ? Math.max(at(0), at(0.05) - wide) : at(0);
  const high = wide > 0 ? Math.min(at(1), at(0.95) + wide) : at(1);
  const room = (high - low || high) * 0.06;
  return { low: Math.max(0, low - room), high: high + room };
}

/* Points outside the frame are drawn at it, as arrow heads that say so. */
function addSamples(panel, values) {
  const { low, high } = panel.y, kept = thin(values, POINTS);
  const add = (label, style, test, place) => {
    const some = kept.filter((i) => test(values[i]));
    addLayer(panel, 'points', label, style, { x: some.map((i) => i + 1), y: some.map((i) => place(values[i])) });
  };
  const out = (shape) => ({ colour: styleOf(1).colour, shape, size: 6 });
  add('a sample', { ...styleOf(0), opacity: 0.6, size: kept.length > 300 ? 3 : 4 },
    (value) => value >= low && value <= high, (value) => value);
  add('a sample above the frame', out('triangle-up'), (value) => value > high, () => high);
  add('a sample below the frame', out('triangle-down'), (value) => value < low, () => low);
}

/* Launches one after the other, with a rule between; a window never reaches over two processes. */
function addLaunches(panel, launches, window) {
  const ends = [], line = { x: [], y: [] };
  let start = 0;
  for (const launch of launches) {
    const every = 1 + Math.floor(launch.length / 300);
    for (const [i, median] of window > 1 ? rollingMedian(launch, window).entries() : [])
      if (median !== null && i % every === 0) {
        line.x.push(start + i + 1 - Math.floor((window - 1) / 2));
        line.y.push(median);
      }
    line.x.push(null);
    line.y.push(null);
    start += launch.length;
    ends.push(start + 0.5);
  }
  ends.pop();
  if (ends.length)
    addLayer(panel, 'rules', '', { colour: LIGHT, width: 1.4 }, { x: ends, y: ends.map(() => null) });
  addLayer(panel, 'line', `moving median of ${window}`, { colour: styleOf(1).colour }, line);
}

/** Samples in the order measured, a panel a side. @param {number} window  0: no moving median */
export const iterationsFigure = (sides, window) => figureOfSides('drill-iterations',
  'Samples in the order measured', sides, (figure, drawn) => {
    const frame = frameOf(drawn);
    for (const side of drawn) {
      const values = valuesOf(side), panel = addPanel(figure, { title: labelOf(side), height: 200 });
      setAxis(panel.x, 'sample, in the order measured');
      Object.assign(panel.x, { whole: true, low: 0.5 - 0.01 * values.length, high: values.length * 1.01 + 0.5 });
      setAxis(panel.y, 'latency', TIME);
      Object.assign(panel.y, frame);
      addSamples(panel, values);
      addLaunches(panel, side.samples.launches, window);
      panel.layers.forEach((layer) => { layer.items = side; });
    }
    return 'Each point is a sample; upright rules part the launches, which are fresh processes.';
  });

/* One point a launch: when, and its median with p5 to p95. */
function launchesOf(side) {
  return side.samples.launches.map((launch, nth) => {
    const ordered = sorted(launch), at = (p) => quantile(ordered, p);
    return { side, nth, when: side.samples.started_ms?.[nth] ?? NaN, value: at(0.5), low: at(0.05), high: at(0.95) };
  }).filter((one) => Number.isFinite(one.value));
}

/** Medians of launches in the order they were measured: what drifts with time hits both sides. */
export const orderFigure = (sides) => figureOfSides('drill-order', 'Launches in the order measured', sides,
  (figure, drawn) => {
    const all = drawn.flatMap(launchesOf).sort((a, b) => a.when - b.when || a.nth - b.nth);
    const panel = addPanel(figure, { height: 300 });
    setAxis(panel.x, 'launch, in the order measured');
    panel.x.whole = true;
    setAxis(panel.y, 'median latency', TIME);
    for (const side of drawn) {
      const mine = all.map((one, i) => ({ ...one, place: i + 1 })).filter((one) => one.side === side);
      const x = mine.map((one) => one.place), items = side;
      addLayer(panel, 'whiskers', '', { ...side.style, width: 1, dash: 'solid' }, { x, items,
        low: mine.map((one) => one.low), high: mine.map((one) => one.high) });
      addLayer(panel, 'points', side.name, { ...side.style, size: 9 }, { x, items, y: mine.map((one) => one.value) });
    }
    return 'Each point is the median of one fresh process, bars p5 to p95. A slope over all points is the '
      + 'machine, not the code; sides that part are the code.';
  });
