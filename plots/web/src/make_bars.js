/* SPDX-License-Identifier: MIT */
/* One horizontal bar a benchmark, with whiskers; the same choice as harness/chart/types/build_bars.c. */
import { absentItems, captionOf, distinct, figureFor, groupOf, itemsOf, limitItems, limitOf, measure,
  scaleOf, several, styleNr, subtitleOf, valueOf, valueText, workOf } from './chart.js';
import { absent, addAmounts, addLayer, addPanel, finish, setAxis, styleOf, DARK } from './spec.js';
import { nameAxis } from './axis.js';

const LIMIT = 24, ROW_HEIGHT = 27, GROUPS_MAX = 4, P99_NEEDS = 299;

/* Runs of one benchmark stand together. */
function gathered(items) {
  const benches = [...new Set(items.map((item) => item.bench))];
  return benches.flatMap((bench) => items.filter((item) => item.bench === bench));
}

function groupsOf(chart, rows) {
  const group = chart.preset.group || (several(chart) ? 'run' : 'variant');
  const names = distinct(rows, (row) => groupOf(chart, group, row.item));
  return { group, names, apart: names.length > 1 && names.length <= GROUPS_MAX };
}

function addBars(chart, panel, rows, label) {
  const { group, names, apart } = groupsOf(chart, rows);
  const one = (name, mine, nth) => addAmounts(panel, apart ? name : label,
    styleOf(styleNr(chart, group, name, nth)).colour,
    { x: mine.map((row) => row.value), y: mine.map((row) => row.at) });
  if (apart)
    names.forEach((name, nth) => one(name,
      rows.filter((row) => groupOf(chart, group, row.item) === name), nth));
  else
    one(names[0], rows, 0);
}

function addWhiskers(panel, rows) {
  const real = rows.filter((row) => Number.isFinite(row.low + row.high));
  addLayer(panel, 'whiskers', 'p5 to p95', { colour: DARK, width: 1.4 }, { across: true,
    y: real.map((row) => row.at), low: real.map((row) => row.low),
    high: real.map((row) => row.high) });
}

/* p99 of times, where there are samples enough to carry it. */
function addTails(chart, panel, rows) {
  const p99 = (row) => chart.table.columns.p99?.[row.item.row.at] ?? NaN;
  const real = rows.filter((row) => row.item.row.n >= P99_NEEDS && Number.isFinite(p99(row)));
  addLayer(panel, 'points', 'p99', { colour: DARK, shape: 'cross', size: 7 },
    { x: real.map(p99), y: real.map((row) => row.at) });
  return real.length > 0;
}

function addTexts(panel, of, rows) {
  const layer = addLayer(panel, 'text', '', { colour: DARK }, { x: rows.map(() => 0),
    y: rows.map((row) => row.at), text: rows.map((row) => valueText(of, row.value)) });
  layer.outside = true;
}

function howText(of, tails, log) {
  return [`${log ? 'Dots' : 'Bars'} and numbers: ${of.label}${of.kind === 'rate' ? ', computed from the median time' : ''}.`,
    of.kind === 'fact' ? '' : 'Whiskers: p5 to p95 of the samples.', tails ? 'Cross: p99.' : '',
    log ? 'The axis is logarithmic.' : ''].filter(Boolean).join(' ');
}

function draw(chart, of, rows, all) {
  const { preset } = chart, figure = figureFor(chart);
  const panel = addPanel(figure, { height: ROW_HEIGHT * rows.length + 12 });
  nameAxis(panel.y, rows.map((row) => row.item.label), true);
  panel.items = rows.map((row) => row.item);
  setAxis(panel.x, preset.y_label || of.label, of, scaleOf(preset.y_scale,
    rows.flatMap((row) => [row.value, row.low, row.high])));
  const spread = of.kind === 'latency' || of.kind === 'rate', dots = panel.x.scale === 'log';
  if (spread && dots) /* dots lie on short whiskers, and bars under them */
    addWhiskers(panel, rows);
  addBars(chart, panel, rows, of.label);
  if (spread && !dots)
    addWhiskers(panel, rows);
  const tails = of.kind === 'latency' && addTails(chart, panel, rows);
  addTexts(panel, of, rows);
  const order = [...rows].sort((a, b) => a.value - b.value);
  const [least, most] = [order[0], order[order.length - 1]];
  figure.subtitle = subtitleOf(chart, rows.map((row) => row.item));
  figure.caption = captionOf(chart, howText(of, tails, panel.x.scale === 'log'), rows.length, all,
    'of each kernel the largest');
  figure.alt = `${panel.x.scale === 'log' ? 'Dots' : 'Bars'} of ${of.label} for ${rows.length} benchmark${rows.length === 1 ? '' : 's'}, from ${
    valueText(of, least.value)} (${least.item.label}) to ${valueText(of, most.value)} (${
    most.item.label}).`;
  return finish(figure);
}

/** @returns {object} a figure */
export function makeBars(chart) {
  const of = measure(chart, chart.preset.y || 'p50'), timed = itemsOf(chart);
  const usable = timed.filter((item) => Number.isFinite(of.of(item.row)));
  const items = limitItems(chart, gathered(usable), limitOf(chart, LIMIT), workOf(chart));
  if (timed.length === 0)
    return absentItems(chart);
  if (items.length === 0)
    return absent(figureFor(chart), `${of.label} does not apply to any of the ${timed.length} `
      + 'benchmarks with a time.');
  const rows = items.map((item, at) => ({ item, at, ...valueOf(chart, of, item) }));
  return draw(chart, of, rows, usable.length);
}
