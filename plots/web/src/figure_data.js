/* SPDX-License-Identifier: MIT */
/* What stands in a figure of blocks (a timeline, a flame graph), read back for views that let it be
 * explored. Times are ns. */
import { cleanText } from './dom.js';
import { bytesText, quantityText, timeText } from './words.js';
import { TraceColumns } from './trace_columns.js';
import { currentTheme, mixed, textOn, THEMES, themed } from './paint_colours.js';

/* The colour that a layer has on the page's ground, and black or white for texts on it. */
function toneOf({ style }) {
  const theme = currentTheme();
  const fill = mixed(themed(style.colour, theme), THEMES[theme].ground, style.opacity ?? 1);
  const dark = textOn(fill) !== '#000000';
  return { fill, text: dark ? 'on-dark' : 'on-light', ink: dark ? '#ffffff' : '#14171a' };
}

/**
 * The blocks of one panel, in the order of their start, the longer first.
 * @param {object} panel @param {Set<string>} hidden  labels that are switched off
 * @returns {object[]} { name, words, row, start, duration, tone, label }
 */
function blocksOf(panel, hidden = new Set()) {
  const factor = panel.x.factor ?? 1;
  return panel.layers.filter((layer) => layer.mark === 'bars' && !hidden.has(layer.label))
    .map((layer) => ({ layer, tone: toneOf(layer) }))
    .flatMap(({ layer, tone }) => (layer.x || []).map((end, i) => {
      const [name, ...words] = (layer.text?.[i] || '').split('\n');
      return { name, words: words.join(', '), row: layer.y[i], start: layer.low[i] * factor,
        duration: (end - layer.low[i]) * factor, tone, label: layer.label || '' };
    }))
    .sort((a, b) => a.start - b.start || b.duration - a.duration);
}

/* The rows from one named row to before the next are a lane. */
function lanesOf(panel) {
  const ticks = [...panel.y.ticks].sort((a, b) => a.at - b.at);
  return ticks.filter((tick, i) => tick.text || i === 0).map(({ at, text }) => ({ key: String(at),
    process: '', thread: cleanText(text), first: at }));
}

/** A figure of lanes as timelineView() takes it; times are µs there. */
export function figureTrace(spec, hidden) {
  const [panel] = spec.panels, lanes = lanesOf(panel), blocks = blocksOf(panel, hidden);
  const columns = new TraceColumns(lanes, blocks.length), factor = (panel.x.factor ?? 1) / 1e3;
  for (const block of blocks)
    columns.add(lanes.findLastIndex((one) => one.first <= block.row), block.name, block.label,
      block.start / 1e3, block.duration / 1e3);
  const trace = columns.finish(), blockOf = (i) => blocks[trace.places[i]];
  return Object.assign(trace, { from: panel.x.low * factor, to: panel.x.high * factor, tone: (i) => blockOf(i).tone,
    args: (i) => (blockOf(i).words ? { '': blockOf(i).words } : {}) });
}

/* Of each kind the two colours of neighbours, as the figure has them. */
function kindTones(kinds, spec) {
  return kinds.map((kind) => spec.panels[0].layers.filter((layer) => layer.mark === 'bars'
    && layer.label === kind).map(toneOf));
}

/* The slices of one lane, but those that are switched off; `kept` says where they stand in the file. */
function addLane({ columns, kept, json, hidden }, lane, from) {
  let start = 0;
  for (let i = from; i < from + json.lanes[lane].slices; i++) {
    const kind = json.kind?.[i] ?? 0;
    start += json.start?.[i] ?? 0;
    if (hidden.has(json.kinds[kind]))
      continue;
    kept[columns.nr] = i;
    columns.addNumbers(lane, json.name[i], json.names.length + kind, start / 1e3,
      (json.duration?.[i] ?? 0) / 1e3);
  }
  return from + json.lanes[lane].slices;
}

/* Of each slice the one that started it, by places in the file's columns. */
function launchOf(trace, json) {
  const launch = new Int32Array(trace.nr).fill(-1), here = new Int32Array(json.name.length).fill(-1);
  const places = new Int32Array(json.name.length).fill(-1);
  let last = -1;
  (json.launch || []).forEach((step, i) => {
    if (step !== 0)
      places[i] = last += step;
  });
  trace.source.forEach((i, nth) => { here[i] = nth; });
  trace.source.forEach((i, nth) => { launch[nth] = places[i] >= 0 ? here[places[i]] : -1; });
  return launch;
}

function argsOf(json, i) {
  const ns = json.duration?.[i] ?? 0, flops = json.flops?.[i], bytes = json.bytes?.[i];
  const backend = json.backends[json.backend[i]];
  return { ...(backend ? { backend } : {}), ...(bytes ? { bytes: bytesText(bytes) } : {}),
    ...(flops && ns ? { rate: quantityText('rate', 'FLOP/s', flops / ns * 1e9) } : {}) };
}

/**
 * The trace that a figure of lanes shows a part of, as timelineView() takes it.
 * @param {object} json  docs/formats/page.md, "trace"
 */
export function wholeTrace(json, spec, hidden) {
  const columns = new TraceColumns(json.lanes.map((lane, i) => ({ ...lane, key: String(i),
    thread: cleanText(lane.thread) || `${lane.stream ? 'stream' : 'thread'} ${lane.number}` })),
  json.name.length);
  columns.texts = [...json.names, ...json.kinds];
  const kept = new Uint32Array(json.name.length), adding = { columns, kept, json, hidden };
  json.lanes.reduce((from, _, lane) => addLane(adding, lane, from), 0);
  const trace = columns.finish((a, b) => a.rank - b.rank), tones = kindTones(json.kinds, spec);
  trace.source = trace.places.map((at) => kept[at]);
  return Object.assign(trace, { shown: json.shown, launch: launchOf(trace, json), window: json.window.map((ns) => ns / 1e3),
    tone: (i) => tones[trace.category[i] - json.names.length][i % 2],
    args: (i) => argsOf(json, trace.source[i]),
    note: json.left_out ? `Outside what is shown first the ${json.left_out} shortest calls, of ${timeText(
      json.shortest)} or less, have no room here: harness serve, and the trace dropped on this page, show them.` : '' });
}

/** The panels of a flame graph as frames, each with the one that it is in. */
export function figureFrames(spec, hidden) {
  return spec.panels.map((panel) => {
    const frames = blocksOf(panel, hidden), last = [];
    for (const frame of frames.sort((a, b) => a.start - b.start || a.row - b.row)) {
      const over = last[frame.row - 1];
      frame.parent = over && frame.start < over.start + over.duration ? over : null;
      frame.children = [];
      frame.parent?.children.push(frame);
      last[frame.row] = frame;
    }
    return { title: cleanText(panel.title), frames, all: panel.x.high * (panel.x.factor ?? 1),
      depth: frames.reduce((most, frame) => Math.max(most, frame.row + 1), 1) };
  });
}
