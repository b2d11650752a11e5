/* SPDX-License-Identifier: MIT */
/*
 * Marks of harness/figure/figure.h as traces, shapes and annotations of Plotly. Values stay as they
 * are in the specification: nothing is computed but the ends of what has a length.
 *
 * A painter of a mark gets (layer, ctx) and gives { traces, shapes, annotations }, each optional.
 * ctx: { panel, place, theme, sizes, x, y: names of the axes ("x2"), measure, hover }.
 */
import { toData, toNumber, toPlace } from './axis_place.js';
import { itemsOf as items } from './marks.js';
import { panelX, panelY } from './paint_layout.js';
import { PALE, textOn, THEMES, themed, translucent } from './paint_colours.js';
import { curtail, elide, itemWords, LINE, markupText } from './paint_text.js';

const DASHES = { solid: 'solid', long: '12px,6px', short: '6px,5px', dot: '2px,4px' };
const SYMBOLS = { circle: 'circle', square: 'square', diamond: 'diamond',
  'triangle-up': 'triangle-up', 'triangle-down': 'triangle-down', cross: 'x-thin' };
const SIDES = { left: 'left', centre: 'center', right: 'right' };
/* The half of a text's length by which its middle lies beyond its anchor. */
const BEYOND = { left: 0.5, centre: 0, right: -0.5 };
const NO_VALUE = '#d9d9d9'; // INK_LIGHT
const HOVER_ROOM = 620;

const column = (layer, name) => layer[name] || [];
const isNumber = (value) => typeof value === 'number' && Number.isFinite(value);
const colourOf = (layer, ctx) => themed(layer.style.colour, ctx.theme);
const fillOf = (layer, ctx) => translucent(colourOf(layer, ctx), layer.style.opacity ?? 1);

/* Lines of a hover text, each short enough for the screen. */
function hoverText(layer, i, ctx) {
  const words = itemWords(ctx.panel, layer, i);
  const cut = (text) => elide(text, HOVER_ROOM, ctx.measure, 12);
  const [first, ...rest] = words.map((text) => markupText(cut(text)));
  return [`<b>${first}</b>`, ...rest].join('<br>');
}

/* What all traces have. `points` are the items of the layer that the trace's points stand for. */
function trace(layer, ctx, points, { x, y, ...rest }) {
  return {
    type: 'scatter',
    xaxis: ctx.x,
    yaxis: ctx.y,
    name: layer.label ? markupText(layer.label) : '',
    showlegend: false,
    customdata: points,
    hoverinfo: 'text',
    hovertext: points.map((i) => (i === null ? '' : hoverText(layer, i, ctx))),
    x: toData(ctx.panel.x, x),
    y: toData(ctx.panel.y, y),
    ...rest,
  };
}

function lineStyle(layer, ctx) {
  return { color: fillOf(layer, ctx), width: layer.style.width ?? 2,
    dash: DASHES[layer.style.dash] || 'solid' };
}

function lineTrace(layer, ctx, shape) {
  return { traces: [trace(layer, ctx, items(layer), {
    mode: 'lines', x: column(layer, 'x'), y: column(layer, 'y'),
    line: { ...lineStyle(layer, ctx), shape }, connectgaps: false,
  })] };
}

/* Hollow points have the ground inside, so that lines do not shine through; those with a colour of
 * their own have an outline, because a scale's ends are as light or dark as the ground. */
function markerOf(layer, ctx) {
  const { style } = layer;
  const colours = column(layer, 'colour').map((colour) => colour || colourOf(layer, ctx));
  const colour = colours.length ? colours : fillOf(layer, ctx);
  const cross = style.shape === 'cross';
  const size = column(layer, 'size').length
    ? layer.size.map((value) => value ?? style.size ?? 8) : style.size ?? 8;
  const line = cross || style.hollow ? { color: colour, width: cross ? 1.8 : 1.6 }
    : { color: THEMES[ctx.theme].frame, width: colours.length ? 1 : 0 };
  return { symbol: SYMBOLS[style.shape] || 'circle', size, line,
    color: style.hollow && !cross ? THEMES[ctx.theme].ground : colour, opacity: 1 };
}

function points(layer, ctx) {
  return { traces: [trace(layer, ctx, items(layer), {
    mode: 'markers', x: column(layer, 'x'), y: column(layer, 'y'),
    marker: markerOf(layer, ctx), cliponaxis: false,
  })] };
}

/* Where a bar starts: its own low, else 0. */
function barBase(layer, i) {
  const low = column(layer, 'low')[i];
  return isNumber(low) ? low : 0;
}

/* Hollow ones, where there are more series than hues, are pale inside an outline. */
function barMarker(layer, ctx) {
  const { style } = layer;
  const colour = colourOf(layer, ctx);
  return style.hollow
    ? { color: translucent(colour, PALE * (style.opacity ?? 1)), line: { color: colour, width: 1.4 } }
    : { color: fillOf(layer, ctx), line: { width: 0 } };
}

function bars(layer, ctx) {
  const along = layer.across ? 'x' : 'y', side = layer.across ? 'y' : 'x';
  const base = items(layer).map((i) => barBase(layer, i));
  return { traces: [trace(layer, ctx, items(layer), {
    type: 'bar',
    orientation: layer.across ? 'h' : 'v',
    [side]: column(layer, side),
    [along]: column(layer, along).map((end, i) => (isNumber(end) ? end - base[i] : null)),
    base,
    width: layer.thickness || 0.62,
    marker: barMarker(layer, ctx),
    cliponaxis: true,
  })] };
}

/* From low to high, then a gap: one trace for all. */
function spans(layer) {
  const along = [], side = [], points = [];
  const at = column(layer, layer.across ? 'y' : 'x');
  for (const i of items(layer)) {
    along.push(column(layer, 'low')[i], column(layer, 'high')[i], null);
    side.push(at[i], at[i], null);
    points.push(i, i, null);
  }
  return { points, [layer.across ? 'x' : 'y']: along, [layer.across ? 'y' : 'x']: side };
}

function segments(layer, ctx) {
  const { points: of, x, y } = spans(layer);
  return { traces: [trace(layer, ctx, of, { mode: 'lines', x, y, line: lineStyle(layer, ctx) })] };
}

/* `shift` pixels to the right of where the data are; samples of a legend have no place. */
function shifted(layer, { panel: { x: axis }, place }, x) {
  if (!layer.shift || !place)
    return x;
  const pixel = (toPlace(axis, axis.high) - toPlace(axis, axis.low)) / place.area.width;
  return x.map((value) => (isNumber(value)
    ? toNumber(axis, toPlace(axis, value) + layer.shift * pixel) : value));
}

function whiskers(layer, ctx) {
  const { points: of, x: places, y } = spans(layer), x = shifted(layer, ctx, places);
  const line = lineStyle(layer, ctx);
  const marker = { symbol: layer.across ? 'line-ns' : 'line-ew', size: 8, color: line.color,
    line: { color: line.color, width: line.width } };
  return { traces: [trace(layer, ctx, of, { mode: 'lines+markers', x, y, line, marker,
    cliponaxis: false })] };
}

function arrows(layer, ctx) {
  const { points: of, x, y } = spans(layer);
  const line = lineStyle(layer, ctx);
  const marker = { symbol: 'arrow', angleref: 'previous', color: line.color,
    size: of.map((_, i) => (i % 3 === 1 ? 11 : 0)) };
  return { traces: [trace(layer, ctx, of, { mode: 'lines+markers', x, y, line, marker,
    cliponaxis: false })] };
}

/* Stretches of a band without gaps. */
function stretches(layer) {
  const at = column(layer, layer.across ? 'y' : 'x');
  const found = [[]];
  for (const i of items(layer)) {
    const whole = isNumber(at[i]) && isNumber(column(layer, 'low')[i])
      && isNumber(column(layer, 'high')[i]);
    if (whole)
      found.at(-1).push(i);
    else if (found.at(-1).length)
      found.push([]);
  }
  return found.filter((one) => one.length > 1);
}

/* Each stretch is an outline: along the low ends and back along the high ones. */
function band(layer, ctx) {
  const at = column(layer, layer.across ? 'y' : 'x');
  const along = [], side = [], of = [];
  for (const stretch of stretches(layer)) {
    const back = [...stretch].reverse();
    along.push(...stretch.map((i) => layer.low[i]), ...back.map((i) => layer.high[i]), null);
    side.push(...stretch.map((i) => at[i]), ...back.map((i) => at[i]), null);
    of.push(...stretch, ...back, null);
  }
  return { traces: [trace(layer, ctx, of, {
    mode: 'lines',
    [layer.across ? 'x' : 'y']: along,
    [layer.across ? 'y' : 'x']: side,
    line: { width: 0, color: fillOf(layer, ctx) },
    fill: 'toself',
    fillcolor: fillOf(layer, ctx),
    hoveron: 'points',
  })] };
}

/* Unit squares as bars, which take a colour and a pattern each. What has no value is hatched. */
function cells(layer, ctx) {
  const absent = layer.colour.map((colour) => colour === NO_VALUE);
  const colours = layer.colour.map((colour, i) => (absent[i] ? themed(colour, ctx.theme) : colour));
  return { traces: [trace(layer, ctx, items(layer), {
    type: 'bar',
    x: layer.x,
    y: layer.y.map(() => 1),
    base: layer.y.map((y) => y - 0.5),
    width: 1,
    marker: {
      color: colours,
      line: { width: 1, color: THEMES[ctx.theme].ground },
      pattern: { shape: absent.map((is) => (is ? '/' : '')), size: 6, solidity: 0.12,
        fgcolor: THEMES[ctx.theme].frame, bgcolor: colours, fillmode: 'replace' },
    },
    text: column(layer, 'text').map((text) => (text ? markupText(text) : '')),
    textposition: 'inside',
    insidetextanchor: 'middle',
    textangle: 0,
    constraintext: 'both',
    insidetextfont: { color: colours.map(textOn), size: ctx.sizes.tick },
  })] };
}

/* A whole line at x or at y. */
function rules(layer, ctx) {
  const line = lineStyle(layer, ctx);
  return { shapes: items(layer).map((i) => {
    const [x] = toData(ctx.panel.x, [column(layer, 'x')[i]]);
    const [y] = toData(ctx.panel.y, [column(layer, 'y')[i]]);
    const upright = isNumber(x);
    return { type: 'line', line, layer: ctx.over ? 'above' : 'below',
      xref: upright ? ctx.x : `${ctx.x} domain`, x0: upright ? x : 0, x1: upright ? x : 1,
      yref: upright ? `${ctx.y} domain` : ctx.y, y0: upright ? 0 : y, y1: upright ? 1 : y };
  }) };
}

/* The angle of the line from (x, y) to (low, high) on the screen. */
function followAngle(layer, i, ctx) {
  if (!layer.follow || !isNumber(column(layer, 'low')[i]))
    return column(layer, 'angle')[i] || 0;
  const panel = { ...ctx.panel, area: ctx.place.area };
  const across = panelX(panel, layer.low[i]) - panelX(panel, layer.x[i]);
  const up = panelY(panel, layer.y[i]) - panelY(panel, layer.high[i]);
  return Math.atan2(up, across) * 180 / Math.PI;
}

/* Where the text's box is anchored. Plotly turns a box about its middle, so a turned text is
 * anchored there. */
function anchorOf(layer, i, words, angle, { measure, sizes }) {
  const side = column(layer, 'anchor')[i] || 'left';
  const dx = column(layer, 'dx')[i] || 0, dy = column(layer, 'dy')[i] || 0;
  if (angle === 0)
    return { xanchor: SIDES[side], xshift: dx, yshift: -dy };
  const beyond = BEYOND[side] * measure(words, sizes.tick), radians = angle * Math.PI / 180;
  return { xanchor: 'center', xshift: dx + beyond * Math.cos(radians),
    yshift: -dy + beyond * Math.sin(radians) };
}

/* What stands at the end of a row may take as many lines as the row is high. */
function outsideWords(text, { panel, place, sizes, measure }) {
  const row = panel.y.scale === 'category' ? place.area.height / (panel.y.high - panel.y.low) : 0;
  return curtail(text, place.outsideRoom, measure, sizes.tick,
    Math.max(1, Math.floor(row / (sizes.tick * LINE))));
}

function annotation(layer, i, ctx) {
  const { panel, sizes, measure } = ctx;
  const words = layer.outside ? outsideWords(layer.text[i], ctx)
    : elide(layer.text[i], ctx.place.area.width * 0.6, measure, sizes.tick);
  const angle = followAngle(layer, i, ctx);
  const at = layer.outside ? { xref: `${ctx.x} domain`, x: 1 }
    : { xref: ctx.x, x: toPlace(panel.x, column(layer, 'x')[i]) };
  return {
    ...at,
    yref: ctx.y,
    y: toPlace(panel.y, column(layer, 'y')[i]),
    text: words.split('\n').map(markupText).join('<br>'),
    align: 'left',
    font: { size: sizes.tick, color: colourOf(layer, ctx) },
    showarrow: false,
    yanchor: 'middle',
    ...anchorOf(layer, i, words, angle, ctx),
    textangle: -angle,
    borderwidth: 0,
    borderpad: 0,
    captureevents: false,
  };
}

function text(layer, ctx) {
  const drawn = items(layer).filter((i) => column(layer, 'text')[i]
    && isNumber(column(layer, 'y')[i]) && (layer.outside || isNumber(column(layer, 'x')[i])));
  return { annotations: drawn.map((i) => annotation(layer, i, ctx)) };
}

const MARKS = {
  line: (layer, ctx) => lineTrace(layer, ctx, 'linear'),
  steps: (layer, ctx) => lineTrace(layer, ctx, 'hv'),
  points, bars, boxes: bars, whiskers, segments, band, cells, arrows, text, rules,
};

/** @returns {{traces: object[], shapes: object[], annotations: object[]}} all empty where the layer
 *   has no datum */
export function paintLayer(layer, ctx) {
  const paint = MARKS[layer.mark];
  if (!paint)
    throw new Error(`the page cannot draw the mark "${layer.mark}"`);
  const parts = items(layer).length ? paint(layer, ctx) : {};
  return { traces: [], shapes: [], annotations: [], ...parts };
}
