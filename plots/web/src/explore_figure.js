/* SPDX-License-Identifier: MIT */
/*
 * The exploration of a file: any metric or parameter over any other, as points, lines, bars or boxes of
 * the numbers in the page. It shows what the reader's filters leave and chooses nothing. A server
 * answers the same preset with the program's own figure, and so does `harness plot --config`.
 */
import { nameAxis } from './axis.js';
import { measureOf, quantileOf } from './data.js';
import { gathered, leastOf, mostOf } from './lists.js';
import { dimOf } from './preset.js';
import { absent, addAmounts, addLayer, addOutside, addPanel, figureOf, finish, setAxis, styleOf,
  DARK } from './spec.js';
import { quantityUnitText } from './words.js';

const ROWS = 64, LINES = 12, GROUPS = 8, NAMED = 14; /* more than that nobody reads */
const ROW_HEIGHT = 27, BOX = 0.58, WIDE = 50;
const FIELDS = ['kernel', 'variant', 'math', 'device', 'cache', 'fill'];

/**
 * What tells each benchmark from the others. @param {string} [without]  a dim that is not said
 * @returns {string[]} the kernel's name where all are alike
 */
export function namesOf(benches, without = '') {
  const parts = benches.map((bench) => [...FIELDS.map((field) => [field, bench[field]]),
    ...Object.entries(bench.dims).filter(([dim]) => dim !== without)
      .map(([dim, value]) => [dim, `${dim}=${value}`])]);
  const all = gathered(parts.flat(), ([name]) => name);
  const differ = new Set([...all.keys()].filter((name) => all.get(name).length < benches.length
    || all.get(name).some(([, value]) => value !== all.get(name)[0][1])));
  return parts.map((own, i) => own.filter(([name, value]) => differ.has(name) && value)
    .map(([, value]) => value).join(' ') || benches[i].kernel);
}

/* The chosen rows that have a time and a value, with names. */
function itemsOf({ core, rows, runs }, y) {
  const timed = gathered(rows.filter((row) => row.n > 0 && Number.isFinite(y.of(row))), (row) => row.run);
  const items = runs.flatMap((run) => (timed.get(run) ?? []).map((row) => ({ row, run: core.runs[run],
    uuid: core.runs[run].uuid, bench: core.benchmarks[row.benchmark] })));
  namesOf(items.map((item) => item.bench)).forEach((name, i) => {
    items[i].name = runs.length > 1 ? `${name} · ${items[i].run.name}` : name;
  });
  return items;
}

/** The text by which a preset's "group" tells items apart. */
function groupOf(group, { bench, run }) {
  if (group === 'run')
    return run.name;
  if (group === 'model')
    return bench.model ?? bench.kernel;
  return bench[group] ?? (group in bench.dims ? `${group}=${bench.dims[group]}` : `${group} n/a`);
}

/* Items with one style each; one group without a name where there are too many to tell apart. */
function groupsOf({ preset, runs }, items) {
  const group = preset.group || (runs.length > 1 ? 'run' : 'variant');
  const groups = [...gathered(items, (item) => groupOf(group, item))];
  return (groups.length > 1 && groups.length <= GROUPS ? groups : [['', items]])
    .map(([name, own], nth) => ({ name, items: own, style: styleOf(nth) }));
}

/* As the preset says, or logarithmic where values span much. */
function scaleOf(wanted, values) {
  const real = values.filter(Number.isFinite), low = leastOf(real), high = mostOf(real);
  return wanted !== 'linear' && low > 0 && (wanted === 'log' || high > WIDE * low) ? 'log' : 'linear';
}

const limitOf = (chart, most) => Math.min(chart.preset.limit || most, most);

function captionOf(how, shown, all) {
  return shown < all ? `${how} Showing the first ${shown} of ${all}: a filter leaves others.` : how;
}

function figureFor({ preset }) {
  const figure = figureOf(preset.name, preset.title);
  figure.legend = preset.show_legend !== false;
  return figure;
}

/* ---- the four types; one that has nothing to draw says why ---- */

function drawPoints(chart, figure, y, items) {
  const { preset } = chart, x = measureOf(chart.core, chart.table, preset.x);
  const all = items.map((item) => ({ ...item, x: x.of(item.row), y: y.of(item.row) }))
    .filter((one) => Number.isFinite(one.x + one.y));
  const points = all.slice(0, limitOf(chart, Infinity));
  const panel = addPanel(figure, { height: 500 });
  const column = (list, name) => list.map((one) => one[name]);
  setAxis(panel.x, x.label, x, scaleOf(preset.x_scale, column(points, 'x')));
  setAxis(panel.y, y.label, y, scaleOf(preset.y_scale, column(points, 'y')));
  const add = (mark, label, style, list, more) => addLayer(panel, mark, label, style, { items: list,
    x: column(list, 'x'), y: column(list, 'y'), text: column(list, 'name'), ...more });
  for (const { name, style, items: list } of groupsOf(chart, points))
    add('points', name, { ...style, size: 10 }, list);
  const named = points.length <= NAMED ? points : [];
  add('text', '', { colour: DARK }, named, { anchor: named.map(() => 'left'), dx: named.map(() => 9),
    dy: named.map(() => -9) });
  figure.caption = captionOf('One point a benchmark and run.', points.length, all.length);
  figure.alt = `${points.length} points of ${y.label} over ${x.label}.`;
  return '';
}

/* Benchmarks of a run that differ in one dim alone, those with most sizes first; the same ones of other
 * runs beside each other. */
function familiesOf(items, dim) {
  const families = [...gathered(items, ({ bench, uuid }) => JSON.stringify([uuid, ...FIELDS.map((field) =>
    bench[field]), { ...bench.dims, [dim]: 0 }])).values()].filter((list) => list.length > 1)
    .sort((a, b) => b.length - a.length);
  const names = namesOf(families.map(([first]) => first.bench), dim);
  return families.map((list, i) => ({ name: names[i], nth: names.indexOf(names[i]), run: list[0].run,
    items: list.sort((a, b) => a.bench.dims[dim] - b.bench.dims[dim]) })).sort((a, b) => a.nth - b.nth);
}

function drawLines(chart, figure, y, items) {
  const { preset, core, table } = chart, dim = dimOf(preset.x);
  const all = familiesOf(items.filter(({ bench }) => dim in bench.dims), dim);
  if (all.length === 0)
    return `nothing that was chosen was measured at two or more values of ${dim}`;
  const shown = all.slice(0, limitOf(chart, LINES)), panel = addPanel(figure, { height: 440 });
  const sizes = [...new Set(shown.flatMap((one) => one.items.map(({ bench }) => bench.dims[dim])))];
  const least = leastOf(sizes), wide = mostOf(sizes) >= 8 * least && least > 0;
  setAxis(panel.x, measureOf(core, table, `dim_${dim}`).label, {}, preset.x_scale || (wide ? 'log' : 'linear'));
  panel.x.ticks = sizes.sort((a, b) => a - b).map((at) => ({ at, text: String(at) }));
  setAxis(panel.y, y.label, y, scaleOf(preset.y_scale, shown.flatMap((one) =>
    one.items.map(({ row }) => y.of(row)))));
  const order = [...new Set(shown.map((one) => one.nth))];
  shown.forEach((one) => {
    const data = { items: one.items, x: one.items.map(({ bench }) => bench.dims[dim]),
      y: one.items.map(({ row }) => y.of(row)) };
    const name = chart.runs.length > 1 ? `${one.name} · ${one.run.name}` : one.name;
    const style = styleOf(order.indexOf(one.nth), chart.runs.findIndex((run) => core.runs[run] === one.run));
    addLayer(panel, 'line', name, style, data);
    addLayer(panel, 'points', name, { ...style, size: 7 }, data);
  });
  figure.caption = captionOf('Lines join benchmarks of a run that differ in this alone.', shown.length,
    all.length);
  figure.alt = `${shown.length} lines of ${y.label} over ${dim}.`;
  return '';
}

/* A row each, those of a benchmark together. */
function addRows(chart, figure, y, items) {
  const all = items.sort((a, b) => a.row.benchmark - b.row.benchmark);
  const rows = all.slice(0, limitOf(chart, ROWS)).map((item, at) => ({ ...item, at,
    value: y.of(item.row), of: (name) => quantileOf(chart.table, y, item.row, name) }));
  const panel = addPanel(figure, { height: ROW_HEIGHT * rows.length + 12 });
  nameAxis(panel.y, rows.map((row) => row.name), true);
  panel.items = rows;
  setAxis(panel.x, y.label, y, scaleOf(chart.preset.y_scale, rows.flatMap((row) =>
    [row.value, row.of('p5'), row.of('p95')])));
  addOutside(panel, rows.map((row) => quantityUnitText(y.quantity, y.base, row.value)));
  figure.alt = `${rows.length} rows of ${y.label}.`;
  return { panel, rows, of: all.length };
}

function addSpread(panel, rows) {
  const spread = rows.filter((row) => Number.isFinite(row.of('p5') + row.of('p95')));
  addLayer(panel, 'whiskers', spread.length ? 'p5 to p95' : '', { colour: DARK, width: 1.4 },
    { across: true, y: spread.map((row) => row.at), low: spread.map((row) => row.of('p5')),
      high: spread.map((row) => row.of('p95')) });
}

function drawBars(chart, figure, y, items) {
  const { panel, rows, of } = addRows(chart, figure, y, items);
  for (const group of groupsOf(chart, rows))
    addAmounts(panel, group.name || y.label, group.style.colour, { x: group.items.map((row) => row.value),
      y: group.items.map((row) => row.at) });
  addSpread(panel, rows);
  figure.caption = captionOf(`${panel.x.scale === 'log' ? 'Dots' : 'Bars'} and numbers: ${y.label}.`,
    rows.length, of);
  return '';
}

function drawBoxes(chart, figure, y, items) {
  const { panel, rows, of } = addRows(chart, figure, y, items);
  addSpread(panel, rows);
  for (const group of groupsOf(chart, rows))
    addLayer(panel, 'boxes', group.name || 'p25 to p75', { colour: group.style.colour }, { across: true,
      thickness: BOX, y: group.items.map((row) => row.at), low: group.items.map((row) => row.of('p25')),
      x: group.items.map((row) => row.of('p75')) });
  addLayer(panel, 'segments', 'median', { colour: DARK, width: 2.4 }, { x: rows.map((row) => row.value),
    low: rows.map((row) => row.at - BOX / 2), high: rows.map((row) => row.at + BOX / 2) });
  figure.caption = captionOf('Box p25 to p75, stroke median, whiskers p5 to p95.', rows.length, of);
  return '';
}

const DRAWN = { scatter: drawPoints, lines: drawLines, bars: drawBars, box: drawBoxes };

/** Can the numbers of a file be drawn so? */
export const isDrawn = (type) => Object.hasOwn(DRAWN, type);

/**
 * @param {object} chart  { preset, core, table, rows, runs }: `rows` those that the filter takes,
 *   `runs` places in core.runs
 * @returns {object} a figure
 */
export function exploreFigure(chart) {
  const { preset, core, table } = chart, figure = figureFor(chart);
  if (!isDrawn(preset.type))
    return absent(figure, 'a file draws points, lines, bars and boxes of its numbers; the command below, '
      + 'or harness serve, draws this');
  const across = { scatter: preset.x, lines: `dim_${dimOf(preset.x ?? '')}` }[preset.type];
  const missing = [preset.y, across ?? preset.y].find((name) => measureOf(core, table, name) === null);
  if (missing !== undefined)
    return absent(figure, `a file has no "${missing}": expressions are computed by the command below, or `
      + 'harness serve');
  const y = measureOf(core, table, preset.y);
  const items = itemsOf(chart, y);
  if (preset.type === 'box' && y.kind === 'fact')
    return absent(figure, `${y.label} is neither a latency nor a rate of samples`);
  if (items.length === 0)
    return absent(figure, 'nothing that was chosen has this value');
  const reason = DRAWN[preset.type](chart, figure, y, items);
  return reason ? absent(figure, reason) : finish(figure);
}
