/* SPDX-License-Identifier: MIT */
/*
 * A figure specification (harness/figure/figure.h as JSON) for Plotly: one graph a figure, one pair
 * of axes a panel. Ranges, ticks, labels and data are the specification's; only places follow the
 * page's width. plotOf() is a pure function; what it gives is all that is handed to Plotly.
 */
import { toData, toPlace } from './axis_place.js';
import { currentTheme, THEMES, themed } from './paint_colours.js';
import { placeHover } from './hover_place.js';
import { axisOver } from './marks.js';
import { pageLayout, sheetLayout } from './paint_layout.js';
import { paintLayer } from './paint_marks.js';
import { elide, FAMILY, markupText, readFigure, textMeasure } from './paint_text.js';
import { clearTexts } from './paint_clear.js';
import { framed } from './paint_frame.js';
import { sheetParts } from './paint_sheet.js';
import { loadPlotly } from './plotly.js';

const DATA_MARKS = new Set(['line', 'steps', 'points', 'bars', 'boxes', 'whiskers', 'segments', 'band',
  'cells', 'arrows']);

/** Names of a panel's axes: "x", "y" of the first, then "x2", "y2", ... */
const axisId = (side, index) => (index ? `${side}${index + 1}` : side);
const axisKey = (side, index) => `${side}axis${index ? index + 1 : ''}`;
const ends = (axis) => (axis.reversed ? [axis.high, axis.low] : [axis.low, axis.high]);
const placesOf = (axis, range) => range.map((value) => toPlace(axis, value));

/** The specification with the reader's ranges: { "0.x": [low, high] }. */
function zoomed(spec, ranges) {
  if (Object.keys(ranges).length === 0)
    return spec;
  const of = (panel, index, side) => {
    const range = ranges[`${index}.${side}`];
    return range ? axisOver(panel[side], Math.min(...range), Math.max(...range), side) : panel[side];
  };
  return { ...spec, panels: spec.panels.map((panel, index) => ({
    ...panel, x: of(panel, index, 'x'), y: of(panel, index, 'y') })) };
}

/* Ticks with text are major, the others minor. */
function tickParts(axis, ticks, sizes, colours, quiet) {
  const at = (some) => toData(axis, some.map((tick) => tick.at));
  const major = ticks.filter((tick) => tick.text), minor = ticks.filter((tick) => !tick.text);
  return {
    tickmode: 'array',
    tickvals: at(major),
    ticktext: major.map((tick) => tick.text.split('\n').map(markupText).join('<br>')),
    ticks: quiet ? '' : 'outside',
    ticklen: 5,
    ticklabeloverflow: 'allow', // where all were hidden the title would have no place
    ticklabelstandoff: quiet ? 6 : 1,
    tickcolor: colours.frame,
    tickfont: { size: sizes.tick, color: colours.text },
    minor: quiet ? {} : { tickmode: 'array', tickvals: at(minor),
      ticks: 'outside', ticklen: 3, tickcolor: colours.frame },
  };
}

function axisLayout(axis, ticks, { sizes, theme, label }) {
  const colours = THEMES[theme];
  const quiet = axis.bare || axis.scale === 'category';
  return {
    type: axis.scale === 'log' ? 'log' : 'linear',
    range: placesOf(axis, ends(axis)),
    autorange: false,
    ...tickParts(axis, ticks, sizes, colours, quiet),
    showgrid: !quiet,
    gridcolor: colours.grid,
    zeroline: false,
    showline: !axis.bare,
    linecolor: colours.frame,
    linewidth: 1,
    automargin: false,
    title: label ? { text: markupText(label), standoff: 6,
      font: { size: sizes.label, color: colours.text } } : undefined,
  };
}

/* Both axes of a panel, at its place. */
function panelAxes(panel, index, layout, options) {
  const { area, xTicks, yTicks, xAngle, cell } = layout.places[index];
  const { measure } = options;
  const labelled = (axis, room) => (options.sheet || !axis.label ? ''
    : elide(axis.label, room, measure, layout.sizes.label));
  const common = { sizes: layout.sizes, theme: options.theme };
  const across = { ...common, label: labelled(panel.x, cell.width) };
  const up = { ...common, label: labelled(panel.y, Math.max(area.height, 160)) };
  return {
    [axisKey('x', index)]: {
      ...axisLayout(panel.x, xTicks, across),
      domain: [area.x / layout.width, (area.x + area.width) / layout.width],
      anchor: axisId('y', index),
      tickangle: -xAngle,
    },
    [axisKey('y', index)]: {
      ...axisLayout(panel.y, yTicks, up),
      domain: [1 - (area.y + area.height) / layout.height, 1 - area.y / layout.height],
      anchor: axisId('x', index),
    },
  };
}

function panelTitle(panel, index, layout, options) {
  const { area, cell } = layout.places[index];
  const text = elide(panel.title, cell.width, options.measure, layout.sizes.title, true);
  return {
    xref: 'paper', yref: 'paper',
    x: cell.x / layout.width, y: 1 - (area.y - 8) / layout.height,
    text: `<b>${markupText(text)}</b>`,
    font: { size: layout.sizes.title, color: THEMES[options.theme].text },
    showarrow: false, xanchor: 'left', yanchor: 'bottom', borderpad: 0, borderwidth: 0,
  };
}

/* All layers of one panel; what the legend has switched off is left out. */
function paintPanel(panel, index, layout, options, plot) {
  const ctx = {
    panel, place: layout.places[index], theme: options.theme, sizes: layout.sizes,
    measure: options.measure, x: axisId('x', index), y: axisId('y', index), over: false,
  };
  panel.layers.forEach((layer, number) => {
    if (!options.hidden.has(layer.label)) {
      const { traces, shapes, annotations } = paintLayer(layer, ctx);
      const meta = { panel: index, layer: number };
      plot.data.push(...traces.map((trace) => ({ ...trace, meta })));
      plot.shapes.push(...shapes);
      plot.texts.push(...annotations.map((note) => ({ note, panel: index })));
    }
    ctx.over = ctx.over || DATA_MARKS.has(layer.mark);
  });
}

/* What the colours of points mean, in its box. */
function scaleBar(scale, layout, { theme, sheet, measure }) {
  const { lying, ...box } = layout.scale;
  const font = { size: layout.sizes.tick, color: THEMES[theme].text };
  const room = lying ? layout.width : Math.max(box.height, 150) + 24;
  const title = elide(scale.label, room, measure, font.size);
  return {
    orientation: lying ? 'h' : 'v',
    x: box.x / layout.width, xanchor: 'left', xpad: 0,
    y: 1 - box.y / layout.height, yanchor: 'top', ypad: 0,
    thickness: lying ? box.height : box.width, thicknessmode: 'pixels',
    len: lying ? box.width : box.height, lenmode: 'pixels', outlinewidth: 0,
    tickmode: 'array', tickvals: scale.ticks.map((tick) => tick.at),
    ticktext: scale.ticks.map((tick) => markupText(tick.text || '')), tickfont: font,
    title: sheet ? undefined : { text: markupText(title), side: lying ? 'top' : 'right', font },
  };
}

/* A trace without points that brings the scale of colours. */
function scaleTrace(scale, layout, options) {
  const last = scale.colours.length - 1;
  return {
    type: 'scatter', mode: 'markers', x: [null], y: [null], xaxis: 'x', yaxis: 'y',
    showlegend: false, hoverinfo: 'skip', meta: {},
    marker: {
      color: [0], cmin: 0, cmax: 1, showscale: true,
      colorscale: scale.colours.map((colour, i) => [i / last, colour]),
      colorbar: scaleBar(scale, layout, options),
    },
  };
}

function frame(layout, { theme, sheet, drag }) {
  const colours = THEMES[theme];
  return {
    width: layout.width,
    height: layout.height,
    margin: { l: 0, r: 0, t: 0, b: 0, pad: 0 },
    paper_bgcolor: sheet ? colours.ground : 'rgba(0,0,0,0)',
    plot_bgcolor: 'rgba(0,0,0,0)',
    font: { family: FAMILY, size: layout.sizes.tick, color: colours.text },
    showlegend: false,
    barmode: 'overlay',
    hovermode: 'closest',
    hoverdistance: 24,
    hoverlabel: { bgcolor: colours.hover, bordercolor: colours.frame, align: 'left', namelength: -1,
      font: { family: FAMILY, size: 12, color: colours.text } },
    dragmode: drag,
    separators: '.',
  };
}

/**
 * @param {object} spec  a figure without a reason
 * @param {object} options  width: pixels there are; theme: "light" or "dark"; measure: see
 *   textMeasure(); hidden: labels that the legend has switched off; ranges: the reader's zoom;
 *   sheet: as the picture of the program, with title, legend and caption; drag: what
 *   dragging does, "zoom", "pan" or false
 * @returns {{data: object[], layout: object, panels: object[]}} for Plotly. A trace's meta says panel
 *   and layer, its customdata the item that each point stands for. The panels are those drawn, each
 *   with its area in pixels
 */
export function plotOf(spec, { width = 1200, theme = 'light', measure = textMeasure(null),
  hidden = new Set(), ranges = {}, sheet = false, drag = 'zoom' } = {}) {
  const options = { theme, measure, hidden, sheet, drag };
  const seen = zoomed(readFigure(spec), ranges);
  const layout = sheet ? sheetLayout(seen) : pageLayout(seen, width, measure);
  const plot = { data: [], shapes: [], texts: [] };
  const axes = {};
  const titles = [];
  seen.panels.forEach((panel, index) => {
    Object.assign(axes, panelAxes(panel, index, layout, options));
    paintPanel(panel, index, layout, options, plot);
    if (panel.title && !sheet)
      titles.push(panelTitle(panel, index, layout, options));
  });
  if (spec.scale)
    plot.data.push(scaleTrace(spec.scale, layout, options));
  const notes = sheet ? plot.texts.map(({ note }) => note)
    : clearTexts(plot.texts, seen, layout, measure);
  const extra = sheet ? sheetParts(seen, options) : { data: [], axes: {}, shapes: [], notes: [] };
  return {
    panels: seen.panels.map((panel, index) => ({ ...panel, area: layout.places[index].area })),
    data: [...plot.data, ...extra.data],
    layout: { ...frame(layout, options), ...axes, ...extra.axes,
      shapes: [...plot.shapes, ...extra.shapes],
      annotations: [...titles, ...notes, ...extra.notes] },
  };
}

const CONFIG = { displayModeBar: false, displaylogo: false, responsive: false, doubleClick: false,
  scrollZoom: false, showTips: false };

/**
 * Draws into an element, or draws anew what is there; at once where Plotly is there already, for a
 * browser that is about to print does not wait.
 * @returns {Promise<{panels: object[], width: number, height: number}>} see plotOf()
 */
export async function paint(element, spec, options) {
  const Plotly = window.Plotly || await loadPlotly();
  const { data, layout, panels } = plotOf(spec, { theme: currentTheme(), measure: textMeasure(document),
    ...options });
  await Plotly.react(element, data, layout, CONFIG);
  placeHover(element);
  return { panels, width: layout.width, height: layout.height };
}

/** The figure as the program would draw it, with ground, title, legend and caption, as a data URL. @param {"png"|"svg"} format */
export async function picture(spec, format, options = {}) {
  const Plotly = await loadPlotly(), whole = Boolean(spec.texts);
  const given = { theme: 'light', measure: textMeasure(document), ...options, sheet: whole, width: 1200,
    ranges: {} };
  const plot = plotOf(spec, given);
  if (!whole)
    plot.layout = framed(spec, plot.layout, given);
  return Plotly.toImage(plot, { format, width: plot.layout.width, height: plot.layout.height,
    scale: format === 'png' ? 2 : 1 });
}
