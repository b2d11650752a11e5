/* SPDX-License-Identifier: MIT */
/* Distributions, one row a benchmark (and run): boxes, or the density as a violin with a thin box
 * inside (harness/chart/types/build_distribution.c). */
import { captionOf, figureFor, limitOf, subtitleOf } from './chart.js';
import { addLayer, addPanel, finish, styleOf, DARK } from './spec.js';
import { nameAxis } from './axis.js';
import { density } from './density.js';
import { medianText, STRIP, sampleSet, samplesWords, spreadWidth, valueAxis, valueQuantile, valuesOf,
  widestOf } from './make_samples.js';
import { fixed } from './words.js';

const LIMIT = 24, P99_NEEDS = 299;
const HEIGHT = { box: 29, violin: 42 };
const BOX_HALF = 0.29, THIN_HALF = 0.07, VIOLIN_HALF = 0.44, STRIP_HALF = 0.16;
const GOLDEN = 0.6180339887;

const isStrip = (item) => item.row.n < STRIP && item.ordered;

function rangeOf(set) {
  const ends = set.items.map((item) => {
    const least = valueQuantile(set, item, 0), p5 = valueQuantile(set, item, 0.05);
    return [Number.isFinite(least) && !set.rate ? least : p5,
      valueQuantile(set, item, isStrip(item) ? 1 : 0.99)];
  });
  return [Math.min(...ends.map((end) => end[0])), Math.max(...ends.map((end) => end[1]))];
}

/* Rows of each group; all in one where colours tell nothing apart. */
function groupsOf(set, rows) {
  const { names, styles, of } = set.groups;
  return names.length ? names.map((name, nth) => ({ name, style: styles[nth],
    rows: rows.filter((row) => of(row.item) === nth) })) : [{ name: null, style: 0, rows }];
}

/* Where the axis is logarithmic the shape is that of the logs: what is seen has the right area. */
function addViolins(set, panel, rows) {
  const log = panel.x.scale === 'log', on = (value) => (log ? Math.log(value) : value);
  for (const group of groupsOf(set, rows.filter((row) => row.item.ordered && !isStrip(row.item)))) {
    const x = [], low = [], high = [];
    for (const { item, at } of group.rows) {
      const values = valuesOf(set, item).filter((value) => !log || value > 0);
      const shape = density(values.map(on), on(panel.x.low), on(panel.x.high));
      shape?.at.forEach((place, k) => {
        const half = VIOLIN_HALF * shape.value[k] / shape.highest;
        x.push(log ? Math.exp(place) : place);
        low.push(at - half);
        high.push(at + half);
      });
      x.push(null);
      low.push(null);
      high.push(null);
    }
    addLayer(panel, 'band', group.name || 'density',
      { colour: styleOf(group.style).colour, opacity: 0.45 }, { x, low, high });
  }
}

function addWhiskers(set, panel, rows, violin) {
  const drawn = rows.filter((row) => !isStrip(row.item));
  addLayer(panel, violin ? 'segments' : 'whiskers', 'p5 to p95',
    { colour: DARK, width: violin ? 1.2 : 1.4 }, { across: true, y: drawn.map((row) => row.at),
      low: drawn.map((row) => valueQuantile(set, row.item, 0.05)),
      high: drawn.map((row) => valueQuantile(set, row.item, 0.95)) });
}

function addBoxes(set, panel, rows, violin) {
  const drawn = rows.filter(({ item }) => !(violin && isStrip(item)));
  const groups = violin ? [{ name: null, rows: drawn }] : groupsOf(set, drawn);
  for (const group of groups)
    addLayer(panel, 'boxes', group.name || 'p25 to p75',
      { colour: violin ? DARK : styleOf(group.style).colour }, { across: true,
        thickness: 2 * (violin ? THIN_HALF : BOX_HALF), y: group.rows.map((row) => row.at),
        low: group.rows.map((row) => valueQuantile(set, row.item, 0.25)),
        x: group.rows.map((row) => valueQuantile(set, row.item, 0.75)) });
}

/* Samples side by side, each a little higher or lower than the one before. */
function addStrips(set, panel, rows) {
  const x = [], y = [];
  for (const { item, at } of rows.filter((row) => isStrip(row.item))) {
    let golden = 0.5;
    for (const value of valuesOf(set, item)) {
      x.push(value);
      y.push(at + STRIP_HALF * (2 * golden - 1));
      golden = (golden + GOLDEN) % 1;
    }
  }
  addLayer(panel, 'points', 'a sample', { colour: DARK, shape: 'circle', size: 5, hollow: true },
    { x, y });
}

function addMedians(set, panel, rows, violin) {
  const medians = rows.map((row) => valueQuantile(set, row.item, 0.5));
  if (violin)
    addLayer(panel, 'points', 'median', { colour: DARK, shape: 'circle', size: 7, hollow: true },
      { x: medians, y: rows.map((row) => row.at) });
  else
    addLayer(panel, 'segments', 'median', { colour: DARK, width: 2.4 }, { x: medians,
      low: rows.map((row) => row.at - BOX_HALF - 0.05),
      high: rows.map((row) => row.at + BOX_HALF + 0.05) });
}

function addTails(set, panel, rows) {
  const drawn = rows.filter((row) => row.item.row.n >= P99_NEEDS);
  addLayer(panel, 'points', set.rate ? 'p1' : 'p99', { colour: DARK, shape: 'cross', size: 7 },
    { x: drawn.map((row) => valueQuantile(set, row.item, set.rate ? 0.01 : 0.99)),
      y: drawn.map((row) => row.at) });
}

function addTexts(set, panel, rows) {
  const layer = addLayer(panel, 'text', '', { colour: DARK }, { x: rows.map(() => 0),
    y: rows.map((row) => row.at),
    text: rows.map((row) => `${medianText(set, row.item)}, n ${row.item.row.n}`) });
  layer.outside = true;
}

function addWords(set, figure, violin) {
  const widest = widestOf(set);
  const how = [violin ? 'Width: density of the samples, each row scaled to its own largest; thin box '
    + 'p25 to p75, ring median, line p5 to p95.' : 'Box p25 to p75, stroke median, whiskers p5 to p95.',
  `Cross: ${set.rate ? 'p1' : 'p99'}, where the samples carry it. Numbers: median and samples.`,
  samplesWords(set)].filter(Boolean).join(' ');
  figure.subtitle = subtitleOf(set.chart, set.items);
  figure.caption = captionOf(set.chart, how, set.items.length, set.all,
    'of each kernel those with the widest p5 to p95');
  figure.alt = `${violin ? 'Violins' : 'Box plots'} of the ${set.rate ? set.of.label : 'latency'} of ${
    set.items.length} benchmark${set.items.length === 1 ? '' : 's'}; p5 to p95 is widest for ${
    widest.label}, ${fixed(100 * spreadWidth(set, widest), 1)} % of its median.`;
}

async function makeRows(chart, violin) {
  const { preset } = chart;
  const set = await sampleSet(chart, { scale: preset.y_scale, limit: limitOf(chart, LIMIT),
    weight: spreadWidth });
  if (set.figure)
    return set.figure;
  const figure = figureFor(chart), rows = set.items.map((item, at) => ({ item, at }));
  const panel = addPanel(figure, { height: HEIGHT[violin ? 'violin' : 'box'] * rows.length + 12 });
  nameAxis(panel.y, rows.map((row) => row.item.label), true);
  panel.items = rows.map((row) => row.item);
  valueAxis(set, panel.x, preset.y_label, preset.y_scale, ...rangeOf(set));
  if (violin)
    addViolins(set, panel, rows);
  addWhiskers(set, panel, rows, violin);
  addBoxes(set, panel, rows, violin);
  addStrips(set, panel, rows);
  addMedians(set, panel, rows, violin);
  addTails(set, panel, rows);
  addTexts(set, panel, rows);
  addWords(set, figure, violin);
  return finish(figure);
}

/** @returns {Promise<object>} a figure */
export const makeBox = (chart) => makeRows(chart, false);
export const makeViolin = (chart) => makeRows(chart, true);
