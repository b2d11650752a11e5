/* SPDX-License-Identifier: MIT */
/* The share of samples at or below a value, a line a benchmark and run
 * (harness/chart/types/build_cumulative.c). */
import { captionOf, figureFor, limitOf, subtitleOf } from './chart.js';
import { addLayer, addPanel, finish, setAxis, styleOf, GREY } from './spec.js';
import { ecdf } from './density.js';
import { medianText, STRIP, sampleSet, samplesWords, spreadWidth, valueAxis, valueQuantile, valuesOf,
  widestOf } from './make_samples.js';
import { fixed } from './words.js';

const LIMIT = 8, POINTS = 160;

function labelOf(set, item) {
  return `${item.label}  (p50 ${medianText(set, item)}, n ${item.row.n})`;
}

function rangeOf(set) {
  const low = set.items.map((item) => valueQuantile(set, item, set.rate ? 0.01 : 0));
  const high = set.items.map((item) => valueQuantile(set, item, item.row.n < STRIP ? 1 : 0.99));
  return [Math.min(...low), Math.max(...high)];
}

/* From 0 at the first sample on; beyond the axis' end the line leaves the frame. */
function addSteps(set, panel, item, nth) {
  const { x, y } = ecdf(valuesOf(set, item), POINTS, panel.x.low, panel.x.high);
  if (x.length)
    addLayer(panel, 'steps', labelOf(set, item), styleOf(nth),
      { x: [x[0], ...x, panel.x.high], y: [0, ...y, y[y.length - 1]], items: item });
}

/** @returns {Promise<object>} a figure */
export async function makeEcdf(chart) {
  const { preset } = chart;
  const set = await sampleSet(chart, { scale: preset.x_scale, limit: limitOf(chart, LIMIT),
    weight: spreadWidth, needed: true });
  if (set.figure)
    return set.figure;
  const figure = figureFor(chart), panel = addPanel(figure, { height: 440 });
  valueAxis(set, panel.x, preset.x_label, preset.x_scale, ...rangeOf(set));
  setAxis(panel.y, preset.y_label || 'samples at or below', { quantity: 'share' });
  Object.assign(panel.y, { low: 0, high: 1.01 });
  addLayer(panel, 'rules', '', { colour: GREY, width: 1, dash: 'dot' }, { x: [null], y: [0.5] });
  set.items.forEach((item, nth) => addSteps(set, panel, item, nth));
  const widest = widestOf(set);
  figure.subtitle = subtitleOf(chart, set.items);
  figure.caption = captionOf(chart, ['The share of samples (upright) that took at most so long '
    + '(across): a steep line is a steady benchmark, two steep parts are two modes. Dotted: one half, '
    + 'where a line crosses it is its median. The axis ends at the largest p99.', samplesWords(set)]
    .filter(Boolean).join(' '), set.items.length, set.all,
  'of each kernel those with the widest p5 to p95');
  figure.alt = `Cumulative distributions of the ${set.rate ? set.of.label : 'latency'} of ${
    set.items.length} benchmark${set.items.length === 1 ? '' : 's'}; p5 to p95 is widest for ${
    widest.label}, ${fixed(100 * spreadWidth(set, widest), 1)} % of its median.`;
  return finish(figure);
}
