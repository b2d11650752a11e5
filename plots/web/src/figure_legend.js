/* SPDX-License-Identifier: MIT */
/* The legend above a figure: one button an entry, with a drawn sample; a click hides or shows. */
import { el, shortText, svg } from './dom.js';
import { PALE, themed, THEMES, translucent } from './paint_colours.js';

const DASHES = { long: '12 6', short: '6 5', dot: '2 4' };
const WIDTH = 28, HEIGHT = 14;

/* Outlines around (0, 0) of a shape that is `size` across. */
const OUTLINES = {
  square: (r) => `M${-r},${-r}H${r}V${r}H${-r}Z`,
  diamond: (r) => `M0,${-r * 1.3}L${r * 1.3},0L0,${r * 1.3}L${-r * 1.3},0Z`,
  'triangle-up': (r) => `M0,${-r * 1.15}L${r * 1.15},${r * 0.8}H${-r * 1.15}Z`,
  'triangle-down': (r) => `M0,${r * 1.15}L${r * 1.15},${-r * 0.8}H${-r * 1.15}Z`,
  cross: (r) => `M${-r},${-r}L${r},${r}M${-r},${r}L${r},${-r}`,
};

function pointSample(style, colour, ground) {
  const radius = Math.min(style.size || 8, 11) / 2;
  const outline = OUTLINES[style.shape];
  const paint = style.shape === 'cross' ? { fill: 'none', stroke: colour, 'stroke-width': 1.8 }
    : { fill: style.hollow ? ground : colour, stroke: colour, 'stroke-width': 1.4 };
  return outline
    ? svg('path', { ...paint, d: outline(radius),
      transform: `translate(${WIDTH / 2},${HEIGHT / 2})` })
    : svg('circle', { cx: WIDTH / 2, cy: HEIGHT / 2, r: radius, ...paint });
}

function lineSample(style, colour) {
  return svg('line', { x1: 1, x2: WIDTH - 1, y1: HEIGHT / 2, y2: HEIGHT / 2, stroke: colour,
    'stroke-width': Math.max(1.5, Math.min(style.width || 2, 5)),
    'stroke-dasharray': DASHES[style.dash] });
}

function ends(mark, colour) {
  if (mark === 'whiskers')
    return [1, WIDTH - 1].map((x) => svg('line', { x1: x, x2: x, y1: 3, y2: HEIGHT - 3,
      stroke: colour, 'stroke-width': 1.6 }));
  if (mark === 'arrows')
    return [svg('path', { fill: colour,
      d: `M${WIDTH - 9},3L${WIDTH - 1},${HEIGHT / 2}L${WIDTH - 9},${HEIGHT - 3}Z` })];
  return [];
}

/** @returns {SVGElement} the layer's mark */
function layerSample(layer, theme) {
  const { style, mark } = layer;
  const colour = themed(style.colour, theme);
  const parts = mark === 'points' ? [pointSample(style, colour, THEMES[theme].ground)]
    : ['bars', 'boxes', 'band'].includes(mark)
      ? [svg('rect', { x: 1, y: 1, width: WIDTH - 2, height: HEIGHT - 2,
        ...(style.hollow ? { stroke: colour, 'stroke-width': 1.4 } : {}),
        fill: translucent(colour, (style.hollow ? PALE : 1) * (style.opacity ?? 1)) })]
      : [lineSample(style, colour), ...ends(mark, colour)];
  return svg('g', {}, parts);
}

const isEmpty = (layer) => (layer.x || layer.y || []).length
  < (layer.mark === 'line' || layer.mark === 'steps' ? 2 : 1);

/** Labels in order, each with the layers that it stands for, one a mark. */
export function legendEntries(spec) {
  const entries = new Map();
  for (const layer of spec.legend ? spec.panels.flatMap((panel) => panel.layers) : []) {
    if (!layer.label || isEmpty(layer))
      continue;
    const layers = entries.get(layer.label) || [];
    if (!layers.some((other) => other.mark === layer.mark))
      entries.set(layer.label, [...layers, layer]);
  }
  return [...entries].map(([label, layers]) => ({ label, layers }));
}

/**
 * @param {object} spec @param {Set<string>} hidden  labels that are switched off
 * @param {function(string)} onToggle
 * @returns {?HTMLElement} null where the figure has no legend
 */
export function legendOf(spec, { theme, hidden, onToggle }) {
  const entries = legendEntries(spec);
  if (entries.length === 0)
    return null;
  return el('div', { class: 'figure-legend', role: 'group', 'aria-label': 'Series' },
    entries.map(({ label, layers }) => el('button', {
      type: 'button', class: 'legend-entry', 'aria-pressed': String(!hidden.has(label)),
      title: hidden.has(label) ? 'Show' : 'Hide', onclick: () => onToggle(label),
    }, svg('svg', { width: WIDTH, height: HEIGHT, viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      'aria-hidden': 'true' }, layers.map((layer) => layerSample(layer, theme))),
    el('bdi', {}, shortText(label, 120)))));
}
