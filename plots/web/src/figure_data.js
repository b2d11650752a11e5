/* SPDX-License-Identifier: MIT */
/* What stands in a figure of blocks (a timeline, a flame graph), read back for views that let it be
 * explored. Times are ns. */
import { cleanText } from './dom.js';
import { currentTheme, mixed, textOn, THEMES, themed } from './paint_colours.js';

/* The colour that a layer has on the page's ground, and black or white for texts on it. */
function toneOf({ style }) {
  const theme = currentTheme();
  const fill = mixed(themed(style.colour, theme), THEMES[theme].ground, style.opacity ?? 1);
  return { fill, text: textOn(fill) === '#000000' ? 'on-light' : 'on-dark' };
}

/**
 * The blocks of one panel, in the order of their start, the longer first.
 * @param {object} panel @param {Set<string>} hidden  labels that are switched off
 * @returns {object[]} { name, words, row, start, duration, tone, label }
 */
export function blocksOf(panel, hidden = new Set()) {
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
  const lanes = [];
  for (const tick of ticks) {
    if (tick.text || lanes.length === 0)
      lanes.push({ key: String(tick.at), process: '', thread: cleanText(tick.text), first: tick.at,
        depth: 0, slices: [], order: lanes.length });
    lanes.at(-1).depth++;
  }
  return lanes;
}

/** A figure of lanes as timelineView() takes it; times are µs there. */
export function figureTrace(spec, hidden) {
  const [panel] = spec.panels, lanes = lanesOf(panel);
  const slices = blocksOf(panel, hidden).map((block) => {
    const lane = lanes.findLast((one) => one.first <= block.row);
    const slice = { name: block.name, category: block.label, start: block.start / 1e3,
      duration: block.duration / 1e3, depth: block.row - lane.first, tone: block.tone,
      args: block.words ? { '': block.words } : {} };
    lane.slices.push(slice);
    return slice;
  });
  const factor = (panel.x.factor ?? 1) / 1e3;
  return { lanes: lanes.filter((lane) => lane.slices.length > 0), slices,
    start: panel.x.low * factor, end: panel.x.high * factor };
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
