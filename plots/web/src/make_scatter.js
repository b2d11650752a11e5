/* SPDX-License-Identifier: MIT */
/* Anything over anything, a point a benchmark; the same choice as harness/chart/types/build_scatter.c. */
import { absentItems, captionOf, distinct, figureFor, groupOf, itemsOf, measure, scaleOf, several,
  styleNr, subtitleOf } from './chart.js';
import { absent, addLayer, addPanel, finish, scaleBar, scaleColour, setAxis, styleOf,
  DARK, GREY } from './spec.js';

const NAMED_MAX = 14, GROUPS_MAX = 8, POINT = 10, SIZE_LEAST = 7, SIZE_MOST = 30;

const better = (of, a, b) => (of.direction === 'lower' ? b - a : a - b);

/* There is a front where both have a better and a worse. */
const hasFront = (x, y) => x.direction !== 'none' && y.direction !== 'none';

/** Those that no other of their model beats in both. @param {{x, y, model}[]} points
 * @returns {boolean[]} */
function frontOf(points, x, y) {
  return points.map((one) => hasFront(x, y) && !points.some((other) => {
    if (other.model !== one.model)
      return false;
    const dx = better(x, other.x, one.x), dy = better(y, other.y, one.y);
    return dx >= 0 && dy >= 0 && dx + dy > 0;
  }));
}

/* By run where there are several, by kernel where there are few, else by variant. */
function groupingOf(chart, items) {
  if (chart.preset.group)
    return chart.preset.group;
  if (several(chart))
    return 'run';
  const kernels = distinct(items, (item) => item.bench.kernel).length;
  return kernels > 1 && kernels <= GROUPS_MAX ? 'kernel' : 'variant';
}

function addFront(panel, points, front) {
  const models = distinct(points, (one) => one.model);
  const line = models.flatMap((model) => [...points.filter((one, i) => front[i] && one.model === model)
    .sort((a, b) => a.x - b.x), { x: null, y: null }]);
  addLayer(panel, 'line', 'nothing is better in both', { colour: DARK, dash: 'short', width: 1.4 },
    { x: line.map((one) => one.x), y: line.map((one) => one.y), items: line.map((one) => one.item) });
}

/* Where colours mean a number, shapes alone tell groups apart. */
function addGroup(panel, points, nth, label, coloured) {
  const data = { x: points.map((one) => one.x), y: points.map((one) => one.y),
    items: points.map((one) => one.item), text: points.map((one) => one.item.label) };
  for (const key of ['colour', 'size'])
    if (points.some((one) => one[key] !== undefined))
      data[key] = points.map((one) => one[key] ?? null);
  addLayer(panel, 'points', label, { ...styleOf(nth), size: POINT,
    ...(coloured ? { colour: GREY } : {}) }, data);
}

const rangeOf = (values) => {
  const real = values.filter(Number.isFinite);
  return { low: Math.min(...real), high: Math.max(...real) };
};

/* The colour of each point, and what colours mean. */
function addColours(chart, figure, points) {
  const of = measure(chart, chart.preset.colour), values = points.map((one) => of.of(one.item.row));
  const { low, high } = rangeOf(values), log = scaleOf('auto', values) === 'log';
  if (!Number.isFinite(low))
    return of.label;
  const at = (value) => (log ? Math.log(value) : value);
  values.forEach((value, i) => {
    if (Number.isFinite(value))
      points[i].colour = scaleColour(high > low ? (at(value) - at(low)) / (at(high) - at(low)) : 0.5);
  });
  figure.scale = scaleBar(of, low, high > low ? high : low + Math.abs(low) + 1, log);
  return of.label;
}

/* Areas are read, not widths: the square root. */
function addSizes(chart, points) {
  const of = measure(chart, chart.preset.size), values = points.map((one) => of.of(one.item.row));
  const { high } = rangeOf(values);
  values.forEach((value, i) => {
    if (Number.isFinite(value) && high > 0)
      points[i].size = Math.max(SIZE_LEAST, SIZE_MOST * Math.sqrt(Math.max(value, 0) / high));
  });
  return of.label;
}

function addNames(panel, points) {
  addLayer(panel, 'text', '', { colour: DARK }, { x: points.map((one) => one.x),
    y: points.map((one) => one.y), text: points.map((one) => one.item.label),
    items: points.map((one) => one.item), anchor: points.map(() => 'left'), dx: points.map(() => 9), dy: points.map(() => -9) });
}

function addWords(chart, figure, x, y, { points, front, marked, size, colour }) {
  const runs = several(chart), best = front.filter(Boolean).length;
  const how = [runs ? 'One point a benchmark and run.' : 'One point a benchmark.',
    marked ? 'Dotted: those that no other of the same model beats in both metrics.' : '',
    marked && points.length > NAMED_MAX ? 'Named: those alone.' : '',
    size ? `Area of a point: ${size}.` : '', colour ? `Colour: ${colour}.` : '']
    .filter(Boolean).join(' ');
  figure.subtitle = subtitleOf(chart, points.map((one) => one.item));
  figure.caption = captionOf(chart, how, points.length, points.length, '');
  figure.alt = `Points of ${y.label} over ${x.label} for ${points.length} benchmarks${
    runs ? ' in several runs' : ''}${hasFront(x, y)
    ? `; ${best} ${best === 1 ? 'is' : 'are'} beaten by none of the same model in both` : ''}.`;
}

function draw(chart, x, y, points) {
  const { preset } = chart, figure = figureFor(chart), panel = addPanel(figure, { height: 500 });
  const items = points.map((one) => one.item), front = frontOf(points, x, y);
  const marked = Boolean(preset.highlight_pareto) && hasFront(x, y);
  setAxis(panel.x, preset.x_label || x.label, x, scaleOf(preset.x_scale, points.map((p) => p.x)));
  setAxis(panel.y, preset.y_label || y.label, y, scaleOf(preset.y_scale, points.map((p) => p.y)));
  const size = preset.size ? addSizes(chart, points) : '';
  const colour = preset.colour ? addColours(chart, figure, points) : '';
  if (marked)
    addFront(panel, points, front);
  const group = groupingOf(chart, items), textOf = (item) => groupOf(chart, group, item);
  distinct(items, textOf).forEach((name, nth) =>
    addGroup(panel, points.filter((one) => textOf(one.item) === name),
      styleNr(chart, group, name, nth), name, Boolean(colour)));
  addNames(panel, points.filter((_, i) => points.length <= NAMED_MAX || front[i]));
  addWords(chart, figure, x, y, { points, front, marked, size, colour });
  return finish(figure);
}

/** @returns {object} a figure */
export function makeScatter(chart) {
  const x = measure(chart, chart.preset.x || 'p50'), y = measure(chart, chart.preset.y || 'p50');
  const items = itemsOf(chart);
  const points = items.map((item) => ({ item, x: x.of(item.row), y: y.of(item.row),
    model: groupOf(chart, 'model', item) }))
    .filter((one) => Number.isFinite(one.x + one.y));
  if (items.length === 0)
    return absentItems(chart);
  if (points.length < 2)
    return absent(figureFor(chart), `Fewer than two benchmarks have both ${x.label} and ${y.label}.`);
  if (chart.preset.highlight_pareto && hasFront(x, y)
    && distinct(points, (one) => one.model).length === points.length)
    return absent(figureFor(chart), `Each model was measured at one size: none has a choice between ${
      x.label} and ${y.label}.`);
  return draw(chart, x, y, points);
}
