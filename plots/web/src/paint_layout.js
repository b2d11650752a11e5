/* SPDX-License-Identifier: MIT */
/*
 * Where everything goes. A specification has places for a sheet of 1200 pixels. The page is as wide
 * as it is: there margins follow from the texts, panels stand under each other where they would
 * become too narrow, and of ticks that would touch only every second, third, ... keeps its text.
 */
import { toPlace } from './axis_place.js';
import { isTable } from './paint_table.js';
import { curtail, elide, LINE } from './paint_text.js';

const GAP = 28, NARROWEST_PANEL = 330; // two of them fit on paper
const SCALE_WIDTH = 14, SCALE_LENGTH = 260, SCALE_HEAD = 64;
const TURN = 35; // degrees of names that have no room side by side

/** Sizes of texts in pixels. */
function textSizes(width) {
  return width < 700 ? { tick: 11, label: 12, title: 13 } : { tick: 12, label: 13, title: 14 };
}

const share = (axis, value) => {
  const low = toPlace(axis, axis.low), high = toPlace(axis, axis.high);
  const at = (toPlace(axis, value) - low) / (high - low);
  return axis.reversed ? 1 - at : at;
};

/** A value's pixel in a panel that has an `area`. */
export const panelX = (panel, value) => panel.area.x + share(panel.x, value) * panel.area.width;
export const panelY = (panel, value) => panel.area.y + (1 - share(panel.y, value))
  * panel.area.height;

/**
 * The ticks of one axis with those texts kept that do not touch.
 * @param {function(object): number} extent  pixels that a tick's text takes along the axis
 */
function thinned(axis, length, extent) {
  const labelled = axis.ticks.filter((tick) => tick.text)
    .map((tick) => ({ tick, pixel: share(axis, tick.at) * length }))
    .sort((a, b) => a.pixel - b.pixel);
  const touch = (every) => {
    for (let i = every; i < labelled.length; i += every)
      if (labelled[i].pixel - labelled[i - every].pixel
        < (extent(labelled[i].tick) + extent(labelled[i - every].tick)) / 2)
        return true;
    return false;
  };
  let every = 1;
  while (every < labelled.length && touch(every))
    every++;
  const kept = new Set(labelled.filter((_, i) => i % every === 0).map(({ tick }) => tick));
  return axis.ticks.map((tick) => (kept.has(tick) ? tick : { ...tick, text: '' }));
}

/** What the layout of one panel needs besides the panel. */
function context(width, measure) {
  const sizes = textSizes(width);
  return { sizes, measure, wide: (text) => (text ? measure(text, sizes.tick) : 0) };
}

const MOST_LINES = 3;

/* A name broken at spaces into the lines that it needs; a line that is still too long is cut. */
function nameLines(text, room, most, { measure, sizes, wide }) {
  const lines = [];
  for (const word of text.split(' ')) {
    const longer = lines.length ? `${lines.at(-1)} ${word}` : word;
    if (lines.length && (wide(longer) <= room || lines.length === most))
      lines[lines.length - 1] = longer;
    else
      lines.push(word);
  }
  return lines.map((line) => elide(line, room, measure, sizes.tick)).join('\n');
}

function cutNames(axis, room, lines, ctx) {
  return axis.scale !== 'category' ? axis.ticks
    : axis.ticks.map((tick) => ({ ...tick, text: nameLines(tick.text || '', room, lines, ctx) }));
}

const linesOf = (text) => (text || '').split('\n').length;
const lineWidths = (text, { wide }) => (text || '').split('\n').map(wide);
const widest = (ticks, ctx) => Math.max(0, ...ticks.flatMap((tick) => lineWidths(tick.text, ctx)));

function outsideTexts(panel) {
  return panel.layers.filter((layer) => layer.outside).flatMap((layer) => layer.text || []);
}

/* Left and right of the plot area: texts take what they need, but leave most to the data. */
function sideMargins(panel, cell, ctx, alone) {
  const narrow = cell < 520;
  const names = alone ? panel.y.names || panel.y.ticks : panel.y.ticks;
  const yTicks = cutNames({ ...panel.y, ticks: names }, cell * (narrow ? 0.31 : 0.42),
    MOST_LINES, ctx);
  const texts = outsideTexts(panel);
  const outside = Math.max(0, ...texts.map((text) => ctx.wide(text) + 12));
  const left = (panel.y.label ? ctx.sizes.label * 1.9 : 0) + widest(yTicks, ctx) + 14;
  const right = Math.min(outside, cell * (narrow ? 0.3 : 0.4))
    + (panel.x.scale === 'category' ? 8 : 24);
  const outsideRoom = right - 12;
  const lines = Math.max(1, ...[...yTicks.map((tick) => tick.text), ...texts.map((text) =>
    curtail(text, outsideRoom, ctx.measure, ctx.sizes.tick, MOST_LINES))].map(linesOf));
  return { yTicks, left, right, outsideRoom, lines };
}

/* Names along x: side by side where they fit, else turned. */
function xTicksOf(panel, width, ctx) {
  const { wide, sizes } = ctx;
  if (panel.x.scale !== 'category')
    return { ticks: thinned(panel.x, width, (tick) => wide(tick.text) + 10), angle: 0 };
  const names = { ...panel.x, ticks: cutNames(panel.x, 180, 1, ctx) };
  const turned = widest(names.ticks, ctx) > width / Math.max(1, names.ticks.length) - 6;
  const extent = turned ? () => sizes.tick * 1.5 : (tick) => wide(tick.text) + 6;
  return { ticks: thinned(names, width, extent), angle: turned ? TURN : 0 };
}

function footOf(panel, { ticks, angle }, ctx) {
  const turned = angle ? widest(ticks, ctx) * Math.sin(angle * Math.PI / 180) : 0;
  return ctx.sizes.tick * 1.3 + 8 + turned + (panel.x.label ? ctx.sizes.label * 1.8 : 4);
}

/* Rows have the height that their names need; a field of numbers keeps roughly its form. */
function heightOf(panel, width, lines, ctx) {
  if (panel.y.scale === 'category') {
    const row = lines > 1 ? lines * ctx.sizes.tick * LINE + 8 : 0;
    return Math.max(panel.area.height, row * (panel.y.high - panel.y.low));
  }
  const shrunk = panel.area.height * Math.max(0.62, Math.min(1, width / panel.area.width));
  return Math.min(panel.area.height, Math.max(shrunk, 200));
}

/* Is it named by the panel to its left? Then the rows of both have to stand in line. */
const isUnnamed = ({ y }) => y.scale === 'category' && !y.ticks.some((tick) => tick.text);

const FIRST_SHARE = 1.4; // of the width: names stand beside the first panel of a row alone

/* The panel's texts and pixels, as if it were alone. `first`: of its row, so that it must name the
 * rows itself. */
function measurePanel(panel, cell, ctx, first) {
  const sides = sideMargins(panel, cell, ctx, first);
  const width = Math.max(60, cell - sides.left - sides.right);
  return { ...sides, cell, width, height: heightOf(panel, width, sides.lines, ctx) };
}

/* Panels that share names get rows of one height, and where they are the whole figure plots of one
 * width: names take theirs from all. */
function shareOut(measured, whole) {
  const height = Math.max(...measured.map((one) => one.height));
  if (!whole)
    return measured.map((one) => ({ ...one, height }));
  const all = measured.reduce((sum, { cell }) => sum + cell, 0);
  const sides = measured.reduce((sum, { left, right }) => sum + left + right, 0);
  const width = Math.max(60, (all - sides) / measured.length);
  return measured.map((one) => ({ ...one, height, width, cell: one.left + width + one.right }));
}

function measureRow(panels, cell, ctx, whole) {
  const shares = panels.slice(1).some(isUnnamed);
  const measured = panels.map((panel, k) =>
    measurePanel(panel, shares && whole && k === 0 ? cell * FIRST_SHARE : cell, ctx, k === 0));
  measured[0].cell = cell;
  return shares ? shareOut(measured, whole) : measured;
}

/* Panels under each other that have one x axis begin and end alike. */
function aligned(rows) {
  const all = rows.flat();
  const left = Math.max(...all.map((one) => one.left)), right = Math.max(...all.map((one) => one.right));
  return rows.map((row) => row.map((one) => ({ ...one, left,
    width: Math.max(60, one.cell - left - right) })));
}

function placePanel(panel, x, { yTicks, left, width, height, cell, outsideRoom }, ctx) {
  const xTicks = xTicksOf(panel, width, ctx);
  return {
    area: { x: x + left, y: 0, width, height },
    cell: { x, width: cell },
    head: panel.title ? ctx.sizes.title * 1.9 : 8,
    foot: footOf(panel, xTicks, ctx),
    xTicks: xTicks.ticks,
    xAngle: xTicks.angle,
    yTicks: thinned({ ...panel.y, ticks: yTicks }, height,
      (tick) => ctx.sizes.tick * 1.15 * linesOf(tick.text)),
    outsideRoom,
  };
}

/* The scale of colours: upright at the right of the panels, on a narrow page lying above them. */
function scaleRoom(scale, width, ctx) {
  if (!scale)
    return { right: 0, top: 0 };
  const texts = Math.max(0, ...scale.ticks.map((tick) => ctx.wide(tick.text)));
  return width < 700 ? { right: 0, top: SCALE_HEAD }
    : { right: SCALE_WIDTH + texts + ctx.sizes.tick * 2.6 + 24, top: 0 };
}

function scaleBox(width, room, first) {
  if (room.top)
    return { lying: true, x: width * 0.15, y: 20, width: width * 0.7, height: 12 };
  return { x: width - room.right + 18, y: first.area.y, width: SCALE_WIDTH,
    height: Math.min(SCALE_LENGTH, first.area.height) };
}

/**
 * @param {object} spec  a figure with panels
 * @param {number} width  pixels there are
 * @param {function} measure  see textMeasure()
 * @returns {{width, height, sizes, scale, places: object[]}} one place a panel: area and cell in
 *   pixels, ticks with the texts that are shown; scale: the box of the scale of colours
 */
export function pageLayout(spec, width, measure) {
  const ctx = context(width, measure);
  const scale = scaleRoom(spec.scale, width, ctx);
  const room = width - scale.right;
  const most = Math.max(1, Math.floor((room + GAP) / (NARROWEST_PANEL + GAP)));
  const columns = Math.min(spec.columns || 1, most, Math.max(1, spec.panels.length));
  const cell = (room - GAP * (columns - 1)) / columns;
  const places = [], rows = [];
  let top = 4 + scale.top;
  for (let i = 0; i < spec.panels.length; i += columns)
    rows.push(measureRow(spec.panels.slice(i, i + columns), cell, ctx, columns >= spec.panels.length));
  for (const [i, measured] of (spec.aligned ? aligned(rows) : rows).entries()) {
    const panels = spec.panels.slice(i * columns, (i + 1) * columns);
    let left = -GAP;
    const row = panels.map((panel, k) => {
      const x = left + GAP;
      left = x + measured[k].cell;
      return placePanel(panel, x, measured[k], ctx);
    });
    for (const place of row)
      place.area.y = top + place.head;
    top += Math.max(...row.map((place) => place.head + place.area.height + place.foot)) + 14;
    places.push(...row);
  }
  return { width, height: Math.ceil(top), sizes: ctx.sizes, places,
    scale: scaleBox(width, scale, places[0]) };
}

const TABLE_WIDTH = 700;

/** Pixels below which a figure scrolls sideways instead of shrinking: the columns of a table have
 * no room to give. */
export const leastWidth = (spec) => (spec.panels.some(isTable) ? TABLE_WIDTH : 0);

/** The places that the specification has for its own sheet. */
export function sheetLayout(spec) {
  return {
    width: spec.width,
    height: spec.height,
    sizes: { tick: 12, label: 13, title: 14 },
    scale: spec.scale?.box,
    places: spec.panels.map((panel) => ({
      area: panel.area,
      cell: panel.area,
      xTicks: panel.x.ticks,
      yTicks: panel.y.ticks,
      xAngle: panel.x.tick_angle || 0,
      outsideRoom: Infinity,
    })),
  };
}
