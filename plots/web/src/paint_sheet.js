/* SPDX-License-Identifier: MIT */
/*
 * What stands around the plot areas when a figure leaves the page as a picture: title, legend,
 * labels and caption at the places that the program has found, on axes that count pixels.
 */
import { themed, translucent } from './paint_colours.js';
import { paintLayer } from './paint_marks.js';
import { markupText } from './paint_text.js';

const SIDES = { left: 'left', centre: 'center', right: 'right' };

function textNote(text, spec, theme) {
  const words = markupText(text.text);
  return {
    xref: 'paper', yref: 'paper', x: text.x / spec.width, y: 1 - text.y / spec.height,
    text: text.bold ? `<b>${words}</b>` : words,
    font: { size: text.size, color: themed(text.colour, theme) },
    showarrow: false, borderpad: 0, borderwidth: 0,
    xanchor: SIDES[text.anchor || 'left'], yanchor: 'middle', textangle: -(text.angle || 0),
  };
}

/* The layer's mark with one datum in the middle of the sample's box. */
function sampleLayer(layer, box) {
  const middle = box.y + box.height / 2, left = box.x, right = box.x + box.width;
  const bare = { mark: layer.mark, style: layer.style, across: true };
  if (layer.mark === 'points')
    return { ...bare, x: [left + box.width / 2], y: [middle] };
  if (layer.mark === 'line' || layer.mark === 'steps' || layer.mark === 'rules')
    return { ...bare, mark: 'line', x: [left, right], y: [middle, middle] };
  return { ...bare, y: [middle], low: [left], high: [right] };
}

function sampleBox(layer, box, theme) {
  const colour = translucent(themed(layer.style.colour, theme), layer.style.opacity ?? 1);
  return { type: 'rect', xref: 'x99', yref: 'y99', x0: box.x, x1: box.x + box.width, y0: box.y,
    y1: box.y + box.height, fillcolor: colour, line: { width: 0 } };
}

const bareAxis = (range) => ({ range, domain: [0, 1], visible: false, fixedrange: true });

/** @returns {{data: object[], axes: object, shapes: object[], notes: object[]}} */
export function sheetParts(spec, { theme, measure }) {
  const ctx = {
    panel: { x: { scale: 'linear' }, y: { scale: 'linear' } }, place: null, theme, measure,
    sizes: { tick: 12 }, x: 'x99', y: 'y99', over: true,
  };
  const samples = (spec.samples || []).map((box) => ({ box,
    layer: spec.panels[box.panel].layers[box.layer] }));
  const filled = ({ layer }) => ['bars', 'boxes', 'band'].includes(layer.mark);
  return {
    data: samples.filter((one) => !filled(one))
      .flatMap(({ layer, box }) => paintLayer(sampleLayer(layer, box), ctx).traces)
      .map((trace) => ({ ...trace, hoverinfo: 'skip', hovertext: undefined, meta: {} })),
    shapes: samples.filter(filled).map(({ layer, box }) => sampleBox(layer, box, theme)),
    axes: {
      xaxis99: { ...bareAxis([0, spec.width]), anchor: 'y99' },
      yaxis99: { ...bareAxis([spec.height, 0]), anchor: 'x99' },
    },
    notes: (spec.texts || []).map((text) => textNote(text, spec, theme)),
  };
}
