/* SPDX-License-Identifier: MIT */
/* Samples in the order measured, one panel a benchmark and run, launches one after the other with a
 * rule between (harness/chart/types/build_iterations.c). */
import { captionOf, figureFor, limitOf, subtitleOf } from './chart.js';
import { addLayer, addPanel, finish, setAxis, styleOf, LIGHT } from './spec.js';
import { launchesOf, sampleSet, samplesWords, spreadWidth, valueAxis } from './make_samples.js';
import { quantile, rollingMedian, sorted, thin } from './stats.js';
import { quantityText } from './words.js';

const LIMIT = 6, POINTS_MAX = 1200, BEYOND = 2, STRETCHES = 10;
const HUE = styleOf(0).colour, ACCENT = styleOf(1).colour;

/* How far medians of stretches lie apart, and a part of how long the tail is. */
function interestOf(set, item) {
  const values = launchesOf(set, item).flat(), all = sorted(values);
  const middle = quantile(all, 0.5);
  const medians = Array.from({ length: STRETCHES }, (_, i) => sorted(values.slice(
    Math.floor(i * values.length / STRETCHES), Math.floor((i + 1) * values.length / STRETCHES))))
    .filter((part) => part.length >= 5).map((part) => quantile(part, 0.5));
  const moves = medians.length ? (Math.max(...medians) - Math.min(...medians)) / middle : 0;
  return moves + 0.25 * Math.min(Math.max(quantile(all, 0.99) / middle - 1, 0), 4);
}

/* The frame holds the body of `framed`; what lies far outside would flatten it. */
function frame(set, panel, values, framed) {
  const all = sorted(framed), at = (p) => quantile(all, p);
  const wide = BEYOND * (at(0.95) - at(0.05));
  const [low, high] = wide > 0 ? [Math.max(at(0), at(0.05) - wide), Math.min(at(1), at(0.95) + wide)]
    : [at(0), at(1)];
  const { preset } = set.chart;
  valueAxis(set, panel.y, preset.y_label, preset.y_scale === 'log' ? 'log' : 'linear', low, high);
  if (panel.y.scale === 'linear')
    panel.y.high += (panel.y.high - panel.y.low) * 0.08;
  panel.x.low = 0.5 - 0.01 * values.length;
  panel.x.high = values.length * 1.01 + 0.5;
}

/* Points outside the frame are drawn at it, as arrow heads that say so. */
function addPoints(panel, values) {
  const kept = thin(values, POINTS_MAX), { low, high } = panel.y;
  const part = (test) => kept.filter((i) => test(values[i]));
  const inside = part((value) => value >= low && value <= high);
  addLayer(panel, 'points', 'a sample', { colour: HUE, shape: 'circle', opacity: 0.6,
    size: kept.length > 300 ? 3 : 4 }, { x: inside.map((i) => i + 1), y: inside.map((i) => values[i]) });
  for (const [words, shape, end, test] of [['above', 'triangle-up', high, (v) => v > high],
    ['below', 'triangle-down', low, (v) => v < low]]) {
    const out = part(test);
    addLayer(panel, 'points', `a sample ${words} the frame`, { colour: ACCENT, shape, size: 6 },
      { x: out.map((i) => i + 1), y: out.map(() => end) });
  }
  return kept.length;
}

function addLaunches(panel, launches) {
  const starts = launches.map((_, k) => launches.slice(0, k).flat().length);
  if (starts.length > 1)
    addLayer(panel, 'rules', '', { colour: LIGHT, width: 1.4 },
      { x: starts.slice(1).map((start) => start + 0.5), y: starts.slice(1).map(() => null) });
}

/* Each launch on its own: a window never reaches over two processes. */
function addRolling(panel, launches, window) {
  const x = [], y = [];
  let start = 0;
  for (const launch of window > 1 ? launches : []) {
    const every = 1 + Math.floor(launch.length / 300);
    rollingMedian(launch, window).forEach((median, i) => {
      if (median !== null && i % every === 0) {
        x.push(start + i + 1 - Math.floor((window - 1) / 2));
        y.push(median);
      }
    });
    x.push(null);
    y.push(null);
    start += launch.length;
  }
  addLayer(panel, 'line', `moving median of ${window}`, { colour: ACCENT }, { x, y });
}

function addItem(set, figure, item, { alone, framed }) {
  const launches = launchesOf(set, item), values = launches.flat();
  const median = quantityText(set.of.quantity, set.of.base, quantile(sorted(values), 0.5));
  const panel = addPanel(figure, { title: `${alone ? item.bench.key : item.label}  (p50 ${
    set.relative ? '1' : median}, n ${item.row.n})`, height: alone ? 380 : 200 });
  setAxis(panel.x, set.chart.preset.x_label || 'sample, in the order measured');
  panel.x.whole = true;
  frame(set, panel, values, framed || values);
  addLaunches(panel, launches);
  const drawn = addPoints(panel, values);
  addRolling(panel, launches, Number(set.chart.preset.rolling_window) || 0);
  panel.layers.forEach((layer) => { layer.items = item; });
  return { drawn, of: values.length };
}

/** @returns {Promise<object>} a figure */
export async function makeIterations(chart) {
  const limit = Math.min(limitOf(chart, LIMIT), 12);
  const set = await sampleSet(chart, { scale: 'linear', limit: 24, weight: spreadWidth,
    needed: true });
  if (set.figure)
    return set.figure;
  const ranked = set.items.map((item) => ({ item, interest: interestOf(set, item) }))
    .sort((a, b) => b.interest - a.interest).slice(0, limit).map((one) => one.item);
  const shown = set.items.filter((item) => ranked.includes(item));
  const figure = figureFor(chart);
  const framed = chart.oneFrame ? shown.flatMap((item) => launchesOf(set, item).flat()) : null;
  const counts = shown.map((item) => addItem(set, figure, item, { alone: shown.length === 1, framed }));
  const [drawn, of] = ['drawn', 'of'].map((key) => counts.reduce((sum, one) => sum + one[key], 0));
  figure.subtitle = subtitleOf(chart, shown);
  const part = drawn < of ? ` ${drawn} of ${of} samples are drawn, of each stretch the lowest and `
    + 'highest.' : '';
  figure.caption = captionOf(chart, 'Each point is a sample in the order measured; upright rules '
    + `part the launches, which are fresh processes.${part} ${samplesWords(set)}`.trimEnd(),
  shown.length, set.all, 'those that move most');
  figure.alt = `Samples in the order measured of ${shown.length} benchmark${
    shown.length === 1 ? '' : 's'}: ${shown.map((item) => item.label).slice(0, 3).join(', ')}${
    shown.length > 3 ? ' and others' : ''}.`;
  return finish(figure);
}
