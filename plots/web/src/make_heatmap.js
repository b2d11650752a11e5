/* SPDX-License-Identifier: MIT */
/* One dim against another, a map a family; the value sets the colour of each cell
 * (harness/chart/types/build_heatmap.c). */
import { absentItems, captionOf, figureFor, itemsOf, limitOf, measure, subtitleOf,
  valueText } from './chart.js';
import { absent, addLayer, addPanel, finish, scaleBar, scaleColour, DARK } from './spec.js';
import { nameAxis, unitFor } from './axis.js';
import { dimValues, familiesOf, leads, named } from './families.js';
import { fixed } from './words.js';

const LIMIT = 6, CELL_HEIGHT = 46;
/* The whole range of colours for 15.6 to 18.9 would make a large difference of a small one. */
const LEAST_SPAN = 2;
/* Below this share of measured cells there is no map. */
const FULL = 0.6;

function cellText(value, factor) {
  const scaled = value / factor;
  if (scaled < 0.1) /* two decimals would leave nothing of it */
    return String(Number(scaled.toPrecision(2)));
  return fixed(scaled, scaled < 10 ? 2 : scaled < 100 ? 1 : 0);
}

function addMap(figure, of, family, dims, range) {
  const columns = dimValues(family.items, dims.x), rows = dimValues(family.items, dims.y);
  const panel = addPanel(figure, { title: family.label,
    height: Math.max(CELL_HEIGHT * rows.length, 110) });
  const cells = rows.flatMap((y, row) => columns.map((x, column) => {
    const item = family.items.find((one) => one.bench.dims[dims.x] === x
      && one.bench.dims[dims.y] === y);
    return { row, column, item: item || null, value: item ? of.of(item.row) : NaN };
  }));
  const shareOf = (value) => (range.high > range.low
    ? Math.log(value / range.low) / Math.log(range.high / range.low) : 0.5);
  nameAxis(panel.x, columns.map(String));
  nameAxis(panel.y, rows.map(String), true);
  panel.x.label = dims.x;
  panel.y.label = dims.y;
  addLayer(panel, 'cells', '', { colour: DARK }, { x: cells.map((cell) => cell.column),
    y: cells.map((cell) => cell.row), items: cells.map((cell) => cell.item),
    text: cells.map(({ value }) => (value > 0 ? cellText(value, range.unit.factor) : 'n/a')),
    colour: cells.map(({ value }) => scaleColour(value > 0 ? shareOf(value) : NaN)) });
}

function rangeOf(of, families) {
  const values = families.flatMap((one) => one.items.map((item) => of.of(item.row)))
    .filter((value) => value > 0 && Number.isFinite(value));
  const low = Math.min(...values), high = Math.max(...values);
  const middle = Math.sqrt(low * high), unit = unitFor(of.quantity, of.base, middle);
  return high >= LEAST_SPAN * low ? { low, high, unit, seen: [low, high] }
    : { low: middle / Math.sqrt(LEAST_SPAN), high: middle * Math.sqrt(LEAST_SPAN), unit,
      seen: [low, high] };
}

function draw(chart, of, dims, { families, items, all }) {
  const figure = figureFor(chart), range = rangeOf(of, families), nr = families.length;
  if (!(range.high > 0))
    return absent(figure, `${of.label} does not apply to these benchmarks.`);
  figure.scale = scaleBar(of, range.low, range.high, true);
  figure.columns = nr > 4 ? 3 : nr > 1 ? 2 : 1;
  families.forEach((family) => addMap(figure, of, family, dims, range));
  const holes = figure.panels.some((panel) => panel.layers.some(({ text }) => text?.includes('n/a')));
  const [low, high] = range.seen.map((value) => valueText(of, value));
  figure.subtitle = `${of.label} in ${range.unit.name || 'its unit'}  ·  ${subtitleOf(chart, items)}`;
  figure.caption = captionOf(chart, `Each cell is ${of.label}${of.kind === 'rate'
    ? ' at the median time' : ''}, from ${low} to ${high}; colour runs logarithmically ${
    ''}from dark to bright over all maps.${holes ? ' Grey n/a: not measured.' : ''}`, nr, all,
  'first of each kernel the one with most sizes, or the best');
  figure.alt = `Maps of ${of.label} over ${dims.y} and ${dims.x}, ${nr} map${nr === 1 ? '' : 's'
  }, from ${low} to ${high}.`;
  return finish(figure);
}

/** @returns {object} a figure */
export function makeHeatmap(chart) {
  const of = measure(chart, chart.preset.y || 'p50');
  const dims = { x: chart.preset.x || 'seq', y: 'batch' };
  const items = itemsOf(chart), limit = limitOf(chart, LIMIT);
  const maps = familiesOf(chart, items, [dims.x, dims.y]).filter((family) => {
    const [columns, rows] = [dims.x, dims.y].map((dim) => dimValues(family.items, dim).length);
    return columns > 1 && rows > 1 && family.items.length >= FULL * columns * rows;
  });
  if (items.length === 0)
    return absentItems(chart);
  if (maps.length === 0)
    return absent(figureFor(chart), 'No benchmark was measured at most pairs of two or more values of '
      + `${dims.y} and ${dims.x}.`);
  const leading = maps.filter((_, nth) => maps.length > limit && leads(maps, nth, of));
  const chosen = [...leading, ...maps.filter((one) => !leading.includes(one))].slice(0, limit);
  const shown = maps.filter((one) => chosen.includes(one));
  return draw(chart, of, dims, { families: named(chart, shown), items, all: maps.length });
}
