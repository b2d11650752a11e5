/* SPDX-License-Identifier: MIT */
/*
 * Figures without eyes or mouse: every datum as a sentence, walked through by arrow keys and read
 * out by a live region.
 */
import { itemsOf } from './marks.js';
import { isTable, textTable } from './paint_table.js';
import { itemWords, readFigure } from './paint_text.js';

/* What repeats others' values or has none of its own. */
const UNREAD = new Set(['text', 'segments']);

/** A layer has something to say unless it is decoration. */
function isRead(layer) {
  return !UNREAD.has(layer.mark) && (layer.mark !== 'rules' || layer.label);
}

function layerReading(spec, panel, index, layer, number) {
  const items = itemsOf(layer)
    .filter((i) => itemWords(panel, { ...layer, label: '' }, i).length > 0);
  const title = panel.title && spec.panels.length > 1 ? [panel.title] : [];
  return { panel: index, layer: number, items,
    texts: items.map((i) => [...title, ...itemWords(panel, layer, i)].join(', ')) };
}

/* A table is read row by row: "gemm, base 3 ms, head 4 ms". */
function tableReading(panel, index) {
  const { columns, rows } = textTable(panel);
  const words = ([name, ...cells]) => [name, ...cells.map((cell, i) => cell
    && `${columns[i + 1]} ${cell}`)].filter(Boolean).join(', ');
  return { panel: index, layer: -1, items: rows.map((_, i) => i), texts: rows.map(words) };
}

/**
 * @param {object} spec @param {Set<string>} hidden  labels that are switched off
 * @returns {{panel: number, layer: number, items: number[], texts: string[]}[]} the series to walk
 *   through, in reading order, without empty ones; layer -1 for the rows of a table
 */
export function readings(spec, hidden = new Set()) {
  const { panels } = readFigure(spec);
  return panels.flatMap((panel, index) => (isTable(panel) ? [tableReading(panel, index)]
    : panel.layers.flatMap((layer, number) => (isRead(layer) && !hidden.has(layer.label)
      ? [layerReading(spec, panel, index, layer, number)] : []))))
    .filter((series) => series.items.length > 0);
}

const STEPS = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
const clamp = (value, most) => Math.max(0, Math.min(most, value));

/**
 * Where a key leads to. @param {{series: number, at: number}|null} from  null: nowhere yet
 * @returns {{series: number, at: number}|null} null for keys that do not walk
 */
export function walk(list, from, key) {
  if (list.length === 0 || !(key in STEPS || key === 'Home' || key === 'End'))
    return null;
  if (!from)
    return { series: 0, at: 0 };
  const last = (series) => list[series].items.length - 1;
  if (key === 'Home' || key === 'End')
    return { series: from.series, at: key === 'Home' ? 0 : last(from.series) };
  const [down, right] = STEPS[key];
  const series = clamp(from.series + down, list.length - 1);
  return { series, at: clamp(from.at + right, last(series)) };
}

/**
 * Which point of which trace a datum is, for a hover label.
 * @returns {?{curveNumber: number, pointNumber: number}}
 */
export function pointOf(data, panel, layer, item) {
  for (let curveNumber = 0; curveNumber < data.length; curveNumber++) {
    const { meta, customdata } = data[curveNumber];
    if (meta.panel !== panel || meta.layer !== layer)
      continue;
    const pointNumber = customdata.indexOf(item);
    if (pointNumber >= 0)
      return { curveNumber, pointNumber };
  }
  return null;
}
