/* SPDX-License-Identifier: MIT */
/*
 * The program finds free places for texts on its own sheet. On a narrower page some would lie over
 * each other: of two that touch the later one goes to the other side of its point (one at the end of
 * a line to its point only back into the page), and where that is taken too it is left out. The point still tells its name to the pointer, the arrow keys and
 * the table.
 */
import { toNumber } from './axis_place.js';
import { panelX, panelY } from './paint_layout.js';

const SIDE = { left: 0, center: 0.5, right: 1 };

/* The anchor of a text in pixels. */
function anchorOf(note, panel, place) {
  const placed = { ...panel, area: place.area };
  const x = note.xref.endsWith('domain') ? place.area.x + place.area.width
    : panelX(placed, toNumber(panel.x, note.x));
  return { x: x + note.xshift, y: panelY(placed, toNumber(panel.y, note.y)) - note.yshift };
}

/* A text as boxes of about its own height, so that turned texts can lie close together. */
function boxesOf(note, panel, place, measure) {
  const { x, y } = anchorOf(note, panel, place);
  const size = note.font.size, radians = -note.textangle * Math.PI / 180;
  const lines = note.text.replace(/&[a-z0-9#]+;/g, 'x').split('<br>');
  const width = Math.max(...lines.map((line) => measure(line, size))), height = size * lines.length;
  const from = -SIDE[note.xanchor] * width, count = Math.max(1, Math.ceil(width / size));
  return Array.from({ length: count }, (_, i) => {
    const along = from + (i + 0.5) * width / count;
    return { x: x + along * Math.cos(radians) - width / count / 2,
      y: y - along * Math.sin(radians) - height / 2, width: width / count, height };
  });
}

const OTHER = { left: 'right', right: 'left' };

const BESIDE = 24; // pixels from a point; what is further off has a line to it

/* The text, and another place for it. */
function places(note, beyond) {
  if (note.textangle !== 0 || note.xref.endsWith('domain') || note.xanchor === 'center')
    return [note];
  if (Math.abs(note.xshift) > BESIDE)
    return [note, { ...note, xshift: note.xshift - Math.max(0, beyond) }];
  return [note, { ...note, xanchor: OTHER[note.xanchor], xshift: -note.xshift }];
}

const touch = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width
  && a.y < b.y + b.height && b.y < a.y + a.height;

/**
 * @param {{note: object, panel: number}[]} texts  annotations and the panels that they are in
 * @returns {object[]} the annotations that stay
 */
export function clearTexts(texts, spec, layout, measure) {
  const taken = [];
  const isFree = (box) => box.x >= -2 && box.x + box.width <= layout.width + 2
    && !taken.some((other) => touch(box, other));
  return texts.flatMap(({ note, panel }) => {
    const boxesAt = (place) => boxesOf(place, spec.panels[panel], layout.places[panel], measure);
    const last = boxesAt(note).at(-1);
    for (const place of places(note, last.x + last.width - layout.width)) {
      const boxes = boxesAt(place);
      if (boxes.every(isFree)) {
        taken.push(...boxes);
        return [place];
      }
    }
    return [];
  });
}
