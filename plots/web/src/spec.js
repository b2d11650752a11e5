/* SPDX-License-Identifier: MIT */
/*
 * Figures that the page makes itself, in the form that harness/figure/figure.h gives: panels with
 * layers of marks. A builder fills base units (ns, FLOP/s, fractions); finish() sets units,
 * ranges, ticks and places.
 */
import { addTicks, axisTicks, axisUnit, fitAxis } from './axis.js';
import { textWidth } from './text_width.js';

const WIDTH = 1200, PAD = 24, GAP = 36, TEXT = 12;
export const HUES = ['#0072b2', '#d55e00', '#009e73', '#cc79a7'];
const SHAPES = ['circle', 'square', 'triangle-up', 'diamond', 'triangle-down'];
const DASHES = ['solid', 'long', 'short', 'dot'];
export const DARK = '#222222', GREY = '#6b6b6b', LIGHT = '#d9d9d9';

const VIRIDIS = ['440154', '482475', '414487', '355f8d', '2a788e', '21918c', '22a884', '44bf70',
  '7ad151', 'bddf26', 'fde725'].map((hex) => [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16)));

/** Colour, shape and dash of the n-th thing that must be told apart. */
export function styleOf(n) {
  return {
    colour: HUES[n % HUES.length],
    shape: SHAPES[n % SHAPES.length],
    dash: DASHES[Math.floor(n / HUES.length) % DASHES.length],
    hollow: Math.floor(n / HUES.length) % 2 === 1,
  };
}

/** Colour at `share` of the sequential scale; light grey for what has no value. */
export function scaleColour(share) {
  if (!Number.isFinite(share))
    return LIGHT;
  const at = Math.min(Math.max(share, 0), 1) * (VIRIDIS.length - 1);
  const below = Math.min(Math.floor(at), VIRIDIS.length - 2);
  const mixed = [0, 1, 2].map((i) => Math.round(VIRIDIS[below][i]
    + (VIRIDIS[below + 1][i] - VIRIDIS[below][i]) * (at - below)));
  return `#${mixed.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}

/** What the colours of points mean. @param {object} of  a measure @param {boolean} log */
export function scaleBar(of, low, high, log) {
  const axis = { scale: log ? 'log' : 'linear', quantity: of.quantity, base: of.base };
  const { name, factor } = axisUnit(axis, low, high);
  const at = (value) => (log ? Math.log(value / low) / Math.log(high / low)
    : (value - low) / (high - low));
  const ticks = axisTicks(axis, low / factor, high / factor, 5)
    .map((tick) => ({ ...tick, at: at(tick.at * factor) }));
  return { label: name ? `${of.label} (${name})` : of.label, quantity: of.quantity, base: of.base, low,
    high, log, ticks, colours: Array.from({ length: 11 }, (_, i) => scaleColour(i / 10)) };
}

/** @returns {object} a figure without panels */
export function figureOf(id, title) {
  return { schema_version: 1, id, title, subtitle: '', caption: '', alt: '', legend: true,
    width: WIDTH, height: 0, columns: 1, panels: [] };
}

/** A figure that cannot be drawn, and why. */
export function absent(figure, reason) {
  return { schema_version: 1, id: figure.id, title: figure.title, reason, alt: reason };
}

function axisOf() {
  return { label: '', scale: 'linear', quantity: 'plain', base: '', ticks: [] };
}

export function addPanel(figure, { title, height = 400 } = {}) {
  const panel = { title, x: axisOf(), y: axisOf(), layers: [], plotHeight: height };
  figure.panels.push(panel);
  return panel;
}

/** @param {string} scale  "linear" or "log" */
export function setAxis(axis, label, { quantity = 'plain', base = '' } = {}, scale = 'linear') {
  Object.assign(axis, { label, quantity, base, scale });
}

/**
 * @param {object} data  columns x, y, low, high, text of one length; `items`: what each datum stands
 *   for (see itemsOf() in chart.js), or the one that all stand for. `items` of a panel are those of
 *   its rows
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

const widest = (ticks) => Math.max(0, ...ticks.map((tick) => textWidth(tick.text, TEXT)));

/* Texts that stand in a column of their own to the right of the plot. */
function outsideWidth(panel) {
  const texts = panel.layers.filter((layer) => layer.outside).flatMap((layer) => layer.text);
  return Math.max(0, ...texts.map((text) => textWidth(text, TEXT) + 10));
}

function putOutside(panel) {
  for (const layer of panel.layers.filter((one) => one.outside)) {
    layer.x = layer.y.map(() => panel.x.high);
    layer.dx = layer.y.map(() => 10);
    layer.anchor = layer.y.map(() => 'left');
  }
}

function turnNames(axis, width) {
  if (axis.scale === 'category' && widest(axis.ticks) > width / axis.ticks.length - 6)
    axis.tick_angle = 35;
}

function footOf(panel) {
  const turned = panel.x.tick_angle ? widest(panel.x.ticks) * 0.57 : 0;
  return TEXT * 1.2 + 8 + turned + (panel.x.label ? 26 : 4);
}

function placeAcross(panel, x, cell) {
  addTicks(panel.y, Math.max(3, Math.floor(panel.plotHeight / 60)));
  const left = (panel.y.label ? 23.4 : 0) + Math.min(widest(panel.y.ticks), cell * 0.42) + 16;
  const right = 10 + outsideWidth(panel) + (panel.x.scale === 'category' ? 0 : 16);
  const width = cell - left - right;
  addTicks(panel.x, Math.max(3, Math.floor(width / 90)));
  panel.area = { x: x + left, y: 0, width, height: panel.plotHeight };
  turnNames(panel.x, width);
  putOutside(panel);
}

/* The scale of colours stands at the right. */
function scaleWidth({ scale }) {
  return scale ? 22 + 14 + 8 + widest(scale.ticks) + 23.4 : 0;
}

function placeRow(figure, panels, top) {
  const room = figure.width - 2 * PAD - scaleWidth(figure);
  const cell = (room - GAP * (figure.columns - 1)) / figure.columns;
  let height = 0;
  panels.forEach((panel, i) => {
    placeAcross(panel, PAD + i * (cell + GAP), cell);
    const head = panel.title ? 27 : 6;
    panel.area.y = top + head;
    height = Math.max(height, head + panel.plotHeight + footOf(panel));
  });
  return height + 16;
}

const hasData = (layer) => ['x', 'y'].some((side) => (layer[side] || []).some(Number.isFinite));

/* What marks stand for, as harness/figure/figure.h has it: each key and uuid once. */
function nameMarks(figure, panel) {
  const place = (list, name) => {
    const at = list.indexOf(name);
    return at >= 0 ? at : list.push(name) - 1;
  };
  const placesOf = (items) => ({
    benchmark: items.map((item) => (item ? place(figure.benchmarks, item.bench.key) : null)),
    run: items.map((item) => (item?.uuid ? place(figure.runs, item.uuid) : null)) });
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

/** Units, ranges, ticks and places; a figure without a finite number gets a reason instead. */
export function finish(figure) {
  for (const panel of figure.panels) {
    panel.layers = panel.layers.filter(hasData);
    if (!['x', 'y'].every((side) => fitAxis(panel, side)))
      return absent(figure, 'There is no finite number to draw.');
  }
  Object.assign(figure, { benchmarks: [], runs: [] });
  figure.panels.forEach((panel) => nameMarks(figure, panel));
  let top = PAD;
  for (let i = 0; i < figure.panels.length; i += figure.columns)
    top += placeRow(figure, figure.panels.slice(i, i + figure.columns), top);
  figure.height = Math.ceil(top + PAD / 2);
  figure.legend = figure.legend && figure.panels.some((panel) => panel.layers
    .some((layer) => layer.label));
  return figure;
}
