/* SPDX-License-Identifier: MIT */
/*
 * Figures that the page makes itself, in the form that harness/figure/figure.h gives: panels with
 * layers of marks. A builder fills base units (ns, FLOP/s, fractions); finish() sets units, ranges
 * and ticks. Where things stand on the page the painter knows (paint_layout.js).
 */
import { addTicks, fitAxis } from './axis.js';
import { placesIn } from './lists.js';

const WIDTH = 1200, SIDES = 240; // of a sheet, and what names take of it
const HUES = ['#0072b2', '#d55e00', '#009e73', '#cc79a7'];
const SHAPES = ['circle', 'square', 'triangle-up', 'diamond', 'triangle-down'];
const DASHES = ['solid', 'long', 'short', 'dot'];
export const DARK = '#222222', GREY = '#6b6b6b', LIGHT = '#d9d9d9';

/** Colour, shape and dash of the n-th thing that must be told apart. @param {number} [of]  the how many
 * that stands beside it, told from it by its dash */
export function styleOf(n, of = Math.floor(n / HUES.length)) {
  return {
    colour: HUES[n % HUES.length],
    shape: SHAPES[n % SHAPES.length],
    dash: DASHES[of % DASHES.length],
    hollow: of % 2 === 1,
  };
}

/** @returns {object} a figure without panels */
export function figureOf(id, title) {
  return { schema_version: 1, id, title, subtitle: '', caption: '', alt: '', legend: true,
    columns: 1, panels: [] };
}

/** A figure that cannot be drawn, and why. */
export function absent(figure, reason) {
  return { schema_version: 1, id: figure.id, title: figure.title, reason, alt: reason };
}

function axisOf() {
  return { label: '', scale: 'linear', quantity: 'plain', base: '', ticks: [] };
}

export function addPanel(figure, { title, height = 400 } = {}) {
  const panel = { title, x: axisOf(), y: axisOf(), layers: [], area: { height } };
  figure.panels.push(panel);
  return panel;
}

/** @param {string} scale  "linear" or "log" */
export function setAxis(axis, label, { quantity = 'plain', base = '' } = {}, scale = 'linear') {
  Object.assign(axis, { label, quantity, base, scale });
}

/**
 * @param {object} data  columns x, y, low, high, text of one length; `items`: what each datum stands
 *   for, { bench, uuid }, or the one that all stand for. `items` of a panel are those of its rows
 */
export function addLayer(panel, mark, label, style, data) {
  const layer = { mark, style: { width: 2, ...style }, ...data };
  if (label)
    layer.label = label;
  panel.layers.push(layer);
  return layer;
}

/** How much each row has: bars from zero, or where the x axis is logarithmic, dots on a line across. */
export function addAmounts(panel, label, colour, data) {
  if (panel.x.scale !== 'log')
    return addLayer(panel, 'bars', label, { colour }, { across: true, ...data });
  panel.y.bare = false;
  return addLayer(panel, 'points', label, { colour, shape: 'circle', size: 11 }, data);
}

/** Texts in a column of their own to the right, one a row. */
export function addOutside(panel, texts) {
  const rows = texts.map((_, row) => row);
  addLayer(panel, 'text', '', { colour: DARK }, { x: rows.map(() => 0), y: rows, text: texts,
    dx: rows.map(() => 10), outside: true });
}

const hasData = (layer) => ['x', 'y'].some((side) => (layer[side] || []).some(Number.isFinite));

/* What marks stand for, as harness/figure/figure.h has it: each key and uuid once. */
function nameMarks(panel, benchmarkAt, runAt) {
  const placesOf = (items) => ({
    benchmark: items.map((item) => (item ? benchmarkAt(item.bench.key) : null)),
    run: items.map((item) => (item?.uuid ? runAt(item.uuid) : null)) });
  if (panel.items)
    panel.rows = placesOf(panel.items);
  for (const layer of panel.layers.filter((one) => one.items)) {
    const { items } = layer; /* one, or one a datum */
    const { benchmark, run } = placesOf([].concat(items));
    layer.benchmark = Array.isArray(items) ? benchmark : benchmark[0];
    layer.run = Array.isArray(items) ? run : run[0];
    delete layer.items;
  }
  delete panel.items;
}

/** Units, ranges, ticks; a figure without a finite number gets a reason instead. */
export function finish(figure) {
  const width = (WIDTH - SIDES) / figure.columns;
  for (const panel of figure.panels) {
    panel.layers = panel.layers.filter(hasData);
    if (!['x', 'y'].every((side) => fitAxis(panel, side)))
      return absent(figure, 'There is no finite number to draw.');
    addTicks(panel.x, Math.floor(width / 100));
    addTicks(panel.y, Math.max(3, Math.floor(panel.area.height / 60)));
    panel.area.width = width;
  }
  Object.assign(figure, { benchmarks: [], runs: [] });
  const benchmarkAt = placesIn(figure.benchmarks), runAt = placesIn(figure.runs);
  figure.panels.forEach((panel) => nameMarks(panel, benchmarkAt, runAt));
  figure.legend = figure.legend && figure.panels.some((panel) => panel.layers
    .some((layer) => layer.label));
  return figure;
}
