/* SPDX-License-Identifier: MIT */
/* A figure's numbers as a table: what the page shows under it and what its CSV holds. */
import { unitFor } from './axis.js';
import { hasDates } from './axis_dates.js';
import { itemsOf } from './marks.js';
import { isTable, textTable } from './paint_table.js';
import { axisName, axisText, readFigure, saysItself } from './paint_text.js';

const WITHOUT = new Set(['text']);

/** The unit of the numbers on an axis, which a logarithmic axis of times does not name. Large plain
 * numbers are divided as rates are. */
export function unitOf({ scale, quantity, base, factor = 1 }) {
  if (scale === 'category' || !quantity)
    return '';
  const divided = quantity === 'plain' && factor !== 1;
  return unitFor(divided ? 'rate' : quantity, base || '', factor).name.trim();
}

const named = (axis, otherwise) => axisName(axis) || otherwise;

const head = (axis, otherwise) => {
  const unit = unitOf(axis);
  return named(axis, otherwise) + (unit ? ` (${unit})` : '');
};

const isNumber = (value) => typeof value === 'number';

/* Categories and dates are words, whatever number they have on the axis. */
const isNamed = (axis) => axis.scale === 'category' || hasDates(axis);

/* A category's name, a date; a number as it is, or in words with its unit. */
function cell(axis, value, words) {
  if (!isNumber(value))
    return null;
  return words || isNamed(axis) ? axisText(axis, value) : value;
}

function itemRow(panel, layer, i, words) {
  const of = (name) => (layer[name] || [])[i];
  const along = layer.across ? panel.x : panel.y;
  const end = (name) => (saysItself(layer, i) ? null : cell(along, of(name), words));
  return {
    panel: panel.title || null,
    series: layer.label || null,
    x: cell(panel.x, of('x'), words),
    y: cell(panel.y, of('y'), words),
    low: end('low'),
    high: end('high'),
    text: of('text') || null,
  };
}

const isEmpty = (row) => ['x', 'y', 'low', 'high'].every((name) => row[name] === null);

/* What all panels call their axis; "x" where they differ. */
function common(spec, side, words) {
  const say = words ? named : head;
  const names = new Set(spec.panels.map((panel) => say(panel[side], side)));
  return names.size === 1 ? [...names][0] : side;
}

/* What stands as a table already. */
function tableOf(tables) {
  const [{ columns }] = tables;
  return { columns, numeric: columns.map(() => false), rows: tables.flatMap(({ rows }) => rows) };
}

/**
 * @param {object} spec  a figure with panels
 * @param {boolean} [words]  numbers in words with their units, instead of the specification's in
 *   the unit of the column's title
 * @returns {{columns: string[], numeric: boolean[], rows: Array<Array<string|number|null>>}}
 *   columns that are empty in every row are left out
 */
export function figureTable(spec, words = false) {
  const { panels } = readFigure(spec);
  if (panels.every(isTable))
    return tableOf(panels.map(textTable));
  const rows = panels.flatMap((panel) => panel.layers
    .filter((layer) => !WITHOUT.has(layer.mark))
    .flatMap((layer) => itemsOf(layer).map((i) => itemRow(panel, layer, i, words))))
    .filter((row) => !isEmpty(row));
  const title = { panel: 'panel', series: 'series', x: common(spec, 'x', words),
    y: common(spec, 'y', words), low: 'low', high: 'high', text: 'note' };
  const isNumeric = { low: true, high: true,
    x: panels.some((panel) => !isNamed(panel.x)),
    y: panels.some((panel) => !isNamed(panel.y)) };
  const names = Object.keys(title).filter((name) => rows.some((row) => row[name] !== null));
  return { columns: names.map((name) => title[name]),
    numeric: names.map((name) => Boolean(isNumeric[name])),
    rows: rows.map((row) => names.map((name) => row[name])) };
}
