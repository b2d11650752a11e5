/* SPDX-License-Identifier: MIT */
/*
 * One benchmark lit in a figure that is drawn: shapes over the drawing, at the places of its marks.
 * The drawing itself stays as it is, so that all figures of a page are lit within a frame or two.
 */
import { svg } from './dom.js';
import { lengthOf, placesOf } from './marks.js';
import { panelX, panelY } from './paint_layout.js';

const RING = 5; // pixels around a point
const isNumber = (value) => typeof value === 'number' && Number.isFinite(value);

const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

/* A rectangle within the panel, between two places along each axis. */
function box(panel, x0, x1, y0, y1) {
  const { area } = panel;
  const [left, right] = [x0, x1].map((x) => clamp(x, area.x, area.x + area.width)).sort((a, b) => a - b);
  const [top, bottom] = [y0, y1].map((y) => clamp(y, area.y, area.y + area.height))
    .sort((a, b) => a - b);
  return svg('rect', { class: 'lit-box', x: left - 2, y: top - 2, width: right - left + 4,
    height: bottom - top + 4 });
}

function rowBox(panel, row) {
  const { x, width } = panel.area;
  return box(panel, x, x + width, panelY(panel, row - 0.5), panelY(panel, row + 0.5));
}

function pointRing(panel, layer, i) {
  const x = panelX(panel, layer.x[i]), y = panelY(panel, layer.y[i]), { area } = panel;
  const size = layer.size?.[i] ?? layer.style.size ?? 8;
  const inside = x >= area.x - 1 && x <= area.x + area.width + 1 && y >= area.y - 1
    && y <= area.y + area.height + 1;
  return inside ? svg('circle', { class: 'lit-ring', cx: x, cy: y, r: size / 2 + RING }) : null;
}

function barBox(panel, layer, i) {
  const thick = (layer.thickness || 0.62) / 2, low = layer.low?.[i];
  if (layer.across)
    return box(panel, panelX(panel, isNumber(low) ? low : panel.x.low), panelX(panel, layer.x[i]),
      panelY(panel, layer.y[i] - thick), panelY(panel, layer.y[i] + thick));
  return box(panel, panelX(panel, layer.x[i] - thick), panelX(panel, layer.x[i] + thick),
    panelY(panel, isNumber(low) ? low : panel.y.low), panelY(panel, layer.y[i]));
}

const cellBox = (panel, layer, i) => box(panel, panelX(panel, layer.x[i] - 0.5),
  panelX(panel, layer.x[i] + 0.5), panelY(panel, layer.y[i] - 0.5), panelY(panel, layer.y[i] + 0.5));

/* Along a line, with its gaps. */
function linePath(panel, layer, items) {
  let path = '', last = null;
  for (const i of items) {
    const [x, y] = [layer.x?.[i], layer.y?.[i]];
    if (!isNumber(x) || !isNumber(y)) {
      last = null;
      continue;
    }
    const px = panelX(panel, x).toFixed(1), py = panelY(panel, y).toFixed(1);
    path += last === null || last !== i - 1 ? `M${px},${py}`
      : layer.mark === 'steps' ? `H${px}V${py}` : `L${px},${py}`;
    last = i;
  }
  return path ? svg('path', { class: 'lit-line', d: path }) : null;
}

const ONE = { points: pointRing, bars: barBox, cells: cellBox };

/* Of one layer: a shape for each mark, one for a line; rows say the rest. */
function layerShapes(panel, layer, items) {
  if (layer.mark === 'line' || layer.mark === 'steps')
    return [linePath(panel, layer, items)];
  return ONE[layer.mark] ? items.map((i) => ONE[layer.mark](panel, layer, i)) : [];
}

function litRows(panel, wanted) {
  const column = panel.rows?.benchmark;
  if (column === undefined || panel.y.scale !== 'category')
    return [];
  return panel.y.ticks.map((tick) => tick.at).filter((row) => row >= 0
    && (Array.isArray(column) ? column[row] : column) === wanted);
}

/**
 * @param {object} spec  the figure
 * @param {object[]} panels  as they are drawn: with their `area` and what the reader's zoom shows
 * @param {string} key  of the benchmark
 * @returns {SVGElement[]} none where the figure does not have it, or nothing else
 */
export function litShapes(spec, panels, key) {
  const wanted = (spec.benchmarks || []).indexOf(key);
  if (wanted < 0 || spec.benchmarks.length < 2)
    return []; /* where all is of one, nothing stands out */
  return panels.flatMap((panel) => {
    const rows = litRows(panel, wanted);
    if (rows.length > 0)
      return rows.map((row) => rowBox(panel, row));
    return panel.layers.flatMap((layer) => {
      const items = Array.from({ length: lengthOf(layer) }, (_, i) => i)
        .filter((i) => placesOf(panel, layer, i).benchmark === wanted);
      return items.length ? layerShapes(panel, layer, items) : [];
    });
  }).filter(Boolean);
}
