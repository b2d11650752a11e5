/* SPDX-License-Identifier: MIT */
/*
 * What stands around a figure that leaves the page as it is seen there, narrowed by a filter or made by
 * the page: ground, title, legend and caption. A whole figure of the program has its own sheet
 * (paint_sheet.js).
 */
import { legendEntries } from './figure_legend.js';
import { THEMES, themed } from './paint_colours.js';
import { LINE, markupText } from './paint_text.js';

const PAD = 24, TITLE = 20, SMALL = 12, GAP = 10;
const SHAPES = { circle: '●', square: '■', diamond: '◆', 'triangle-up': '▲', 'triangle-down': '▼',
  cross: '×' };
const SIGNS = { line: '━', steps: '━', rules: '╌', bars: '■', cells: '■', band: '■',
  arrows: '→' };

/* A text on as many lines as it needs. */
function wrapped(text, room, measure) {
  const lines = [''];
  for (const word of (text || '').split(' ')) {
    const longer = lines.at(-1) ? `${lines.at(-1)} ${word}` : word;
    if (lines.at(-1) && measure(longer, SMALL) > room)
      lines.push(word);
    else
      lines[lines.length - 1] = longer;
  }
  return lines.filter(Boolean);
}

/* Entries from left to right, on as many lines as they need: { text, colour, x, line }. */
function legendTexts(spec, room, measure, { theme, hidden }) {
  const texts = [];
  let x = 0, line = 0;
  for (const { label, layers: [layer] } of legendEntries(spec).filter((one) => !hidden.has(one.label))) {
    const point = layer.style.hollow ? '○' : SHAPES[layer.style.shape] || '●';
    const text = `${layer.mark === 'points' ? point : SIGNS[layer.mark] || '├┤'} ${label}`, wide = measure(text, SMALL) + 2 * GAP;
    if (x > 0 && x + wide > room)
      [x, line] = [0, line + 1];
    texts.push({ text, colour: themed(layer.style.colour, theme), x, line });
    x += wide;
  }
  return texts;
}

const note = (text, { x = 0, up, size = SMALL, colour }) => ({
  xref: 'paper', yref: 'paper', x: 0, xshift: x, y: up > 0 ? 1 : 0, yshift: up, text,
  font: { size, color: colour }, showarrow: false, align: 'left', xanchor: 'left', yanchor: 'top',
  borderpad: 0, borderwidth: 0 });

/**
 * @param {object} layout  of the bare figure, as it is handed to Plotly
 * @returns {object} the same with room and texts around
 */
export function framed(spec, layout, { theme, measure, hidden = new Set() }) {
  const colour = THEMES[theme].text, room = layout.width;
  const heads = wrapped(spec.subtitle, room, measure), legend = legendTexts(spec, room, measure,
    { theme, hidden });
  const feet = wrapped(spec.caption, room, measure), step = SMALL * LINE + 2;
  const lines = legend.length ? legend.at(-1).line + 1 : 0;
  const top = PAD + TITLE * LINE + step * (heads.length + lines) + 2 * GAP;
  const below = (i) => top - PAD - TITLE * LINE - GAP - step * i;
  const notes = [note(`<b>${markupText(spec.title)}</b>`, { up: top - PAD, size: TITLE, colour }),
    ...heads.map((text, i) => note(markupText(text), { up: below(i), colour })),
    ...legend.map((one) => note(markupText(one.text), { x: one.x, up: below(heads.length + one.line),
      colour: one.colour })),
    ...feet.map((text, i) => note(markupText(text), { up: -GAP - step * i, colour }))];
  const bottom = PAD + GAP + step * feet.length;
  return { ...layout, width: layout.width + 2 * PAD, height: layout.height + top + bottom,
    margin: { l: PAD, r: PAD, t: top, b: bottom, pad: 0 }, paper_bgcolor: THEMES[theme].ground,
    annotations: [...layout.annotations, ...notes] };
}
