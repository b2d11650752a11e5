/* SPDX-License-Identifier: MIT */
/* Texts of figures: how wide they are, how they are cut, how they pass through Plotly. */
import { dateText, hasDates } from './axis_dates.js';
import { cleanText } from './dom.js';
import { namesOf as markNames, placesOf } from './marks.js';
import { general, quantityUnitText, shareText } from './words.js';

/** Of drawn figures; the sheet's places are computed for the first of them. */
export const FAMILY = '"DejaVu Sans", Verdana, "Segoe UI", Roboto, sans-serif';

/** A function (text, size, bold) → pixels. Without a canvas it estimates. */
export function textMeasure(document) {
  const context = document?.createElement('canvas').getContext('2d');
  if (!context)
    return (text, size) => text.length * size * 0.6;
  return (text, size, bold = false) => {
    context.font = `${bold ? 'bold ' : ''}${size}px ${FAMILY}`;
    return context.measureText(text).width;
  };
}

/** Cuts the middle out until the text fits into `room` pixels. */
export function elide(text, room, measure, size, bold) {
  const letters = [...text];
  if (letters.length > 400)
    letters.splice(200, letters.length - 400);
  else if (measure(text, size, bold) <= room)
    return text;
  let low = 1, high = letters.length;
  const cut = (keep) => `${letters.slice(0, Math.ceil(keep / 2)).join('')}…${
    letters.slice(letters.length - Math.floor(keep / 2)).join('')}`;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (measure(cut(middle), size, bold) <= room)
      low = middle;
    else
      high = middle - 1;
  }
  return cut(low);
}

/**
 * A text of several parts, "40.5 ms, n 13, p95 at 12×", on as many lines as it needs and there are.
 * What has no room is left out from its end, so that the first, which is the value, stays whole.
 * @param {number} [most]  lines there are
 * @returns {string} lines with a line feed between them
 */
export function curtail(text, room, measure, size, most = 1) {
  const [first, ...rest] = text.split(/(, | · | {2,})/);
  const fits = (line) => measure(line, size) <= room;
  if (!fits(first))
    return elide(first, room, measure, size);
  const lines = [first];
  for (let i = 0; i < rest.length; i += 2) {
    const longer = lines.at(-1) + rest[i] + rest[i + 1];
    if (fits(longer))
      lines[lines.length - 1] = longer;
    else if (lines.length < most && fits(rest[i + 1]))
      lines.push(rest[i + 1]);
    else
      break;
  }
  return lines.join('\n');
}

/** Height of a line, in sizes of its text. */
export const LINE = 1.2;

/* Between dollars Plotly would look for TeX. */
const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', $: '&#36;' };

/** Plotly reads a little markup in texts; a name must come out as it is. */
export function markupText(text) {
  return cleanText(text).replace(/[&<>$]/g, (character) => ENTITIES[character]);
}

/** The label without its unit: "latency" of "latency (ms, log scale)". */
export function axisName(axis) {
  return (axis.label || '').replace(/ \([^()]*\)$/, '');
}

/* Panels side by side share the names of their rows: only the first says them. */
function namesOf(panels, index) {
  const { ticks } = panels[index].y;
  if (panels[index].y.scale !== 'category' || ticks.some((tick) => tick.text))
    return ticks;
  const before = panels.slice(0, index).reverse().map((panel) => panel.y.ticks)
    .find((others) => others.length === ticks.length && others.some((tick) => tick.text));
  return before || ticks;
}

const cleanAll = (texts) => texts && texts.map((text) => (text ? cleanText(text) : text));
const cleanTicks = (ticks) => ticks.map((tick) => ({ ...tick, text: cleanText(tick.text) }));
const cleanAxis = (axis) => ({ ...axis, label: cleanText(axis.label), ticks: cleanTicks(axis.ticks),
  ...(axis.places ? { places: cleanTicks(axis.places) } : {}) });
const cleanLayer = (spec, panel, layer) => ({ ...layer, label: layer.label && cleanText(layer.label),
  text: cleanAll(layer.text),
  names: (i) => markNames(spec, panel, layer, i).map(cleanText) });

/** The figure as it may be shown: names cleaned, and those of the rows in every panel, as `names`
 * of its y axis. The figure itself stays as it is. */
export function readFigure(spec) {
  const panels = spec.panels.map((panel) => ({ ...panel, title: cleanText(panel.title),
    x: cleanAxis(panel.x), y: cleanAxis(panel.y),
    layers: panel.layers.map((layer) => cleanLayer(spec, panel, layer)) }));
  panels.forEach((panel, index) => { panel.y.names = namesOf(panels, index); });
  return { ...spec, panels };
}

/* A share near to everything keeps the digits in which it differs: "99.97 %". */
function ninesText(share) {
  const left = 100 - share * 100;
  if (!(left > 0) || left >= 0.0995)
    return shareText(share);
  return `${general(100 - Number(left.toPrecision(2)), 9)} %`;
}

/** A number of an axis as people read it, with its unit; the name on a category axis. */
export function axisText(axis, value) {
  if (hasDates(axis))
    return dateText(axis, value);
  if (axis.scale === 'nines')
    return ninesText(value * (axis.factor ?? 1));
  if (axis.scale === 'category')
    return (axis.names || axis.ticks).find((tick) => Math.abs(tick.at - value) < 0.5)?.text
      ?? general(value, 4);
  return quantityUnitText(axis.quantity, axis.base, value * (axis.factor ?? 1));
}

/* Places that only count, as runs in their order: the mark's names say more. */
const onlyCounts = (axis) => !axisName(axis) && axis.scale !== 'category'
  && (axis.quantity ?? 'plain') === 'plain' && !axis.base;

/* "latency 3.1 ms" */
const member = (axis, value) => [axisName(axis), axisText(axis, value)].filter(Boolean).join(' ');

const at = (column, i) => (column && column[i] !== null && column[i] !== undefined
  ? column[i] : null);

/**
 * Does a text say a span's numbers? It does where the span ends at the frame but goes on beyond it.
 */
export const saysItself = (layer, i) => layer.mark !== 'text' && layer.mark !== 'cells'
  && Boolean(layer.text?.[i]) && Boolean(layer.low);

/* Values of a panel's points and bars, by benchmark, run and place across: made once a panel. */
const middles = new WeakMap();
const PLACED = ['points', 'bars'];

function middlesOf(panel) {
  if (middles.has(panel))
    return middles.get(panel);
  const found = new Map();
  for (const layer of panel.layers.filter((one) => PLACED.includes(one.mark)))
    (layer.x || []).forEach((x, i) => {
      const { benchmark, run } = placesOf(panel, layer, i);
      for (const [side, place, value] of [['x', layer.y?.[i], x], ['y', x, layer.y?.[i]]]) {
        const name = `${side} ${benchmark} ${run} ${Math.round(place * 8)}`;
        if (benchmark !== null && !found.has(name))
          found.set(name, value);
      }
    });
  middles.set(panel, found);
  return found;
}

/* A span says from where to where; of the same benchmark there is a point that says the median. */
function middleOf(panel, layer, i) {
  const [side, place] = layer.across ? ['x', layer.y?.[i]] : ['y', layer.x?.[i]];
  const { benchmark, run } = placesOf(panel, layer, i);
  return at(layer[side], i) === null && benchmark !== null
    ? middlesOf(panel).get(`${side} ${benchmark} ${run} ${Math.round(place * 8)}`) ?? null : null;
}

/**
 * One datum in words: of which benchmark, whose it is, where it is, from where to where it goes.
 * @returns {string[]} parts for lines of a hover text, or joined by commas for a screen reader
 */
export function itemWords(panel, layer, i) {
  const words = [];
  const along = layer.across ? panel.x : panel.y;
  const x = at(layer.x, i), y = at(layer.y, i), low = at(layer.low, i), high = at(layer.high, i);
  const names = layer.names?.(i) || [];
  words.push(...names);
  if (layer.label && !names.some((name) => `${name} · `.startsWith(`${layer.label} · `)))
    words.push(layer.label);
  if (at(layer.text, i) !== null && layer.mark !== 'text' && !names.includes(layer.text[i]))
    words.push(layer.text[i]);
  if (y !== null && panel.y.scale === 'category' && !(panel.rows && names.length))
    words.push(member(panel.y, y));
  if (x !== null && !(names.length && onlyCounts(panel.x)))
    words.push(member(panel.x, x));
  if (y !== null && panel.y.scale !== 'category')
    words.push(member(panel.y, y));
  if (low !== null && high !== null && !saysItself(layer, i)) {
    const middle = middleOf(panel, layer, i);
    if (middle !== null)
      words.push(member(along, middle));
    words.push(`${axisText(along, low)} to ${axisText(along, high)}`);
  }
  return words;
}
