/* SPDX-License-Identifier: MIT */
/* Anything over one dim, a line for each family of benchmarks that differ in that dim alone; of
 * several runs a panel a family, a line a run (harness/chart/types/build_lines.c). */
import { absentItems, captionOf, figureFor, itemsOf, limitOf, measure, scaleOf, several, subtitleOf,
  valueOf, valueText } from './chart.js';
import { absent, addLayer, addPanel, finish, setAxis, styleOf } from './spec.js';
import { dimOf } from './preset.js';
import { dimValues, familiesOf, leads } from './families.js';

const LINES = 8, PANELS = 6, LINES_IN_PANEL = 12;

/* The points of a family from left to right. */
function pointsOf(chart, of, family, dim) {
  return [...family.items].sort((a, b) => a.bench.dims[dim] - b.bench.dims[dim])
    .map((item) => ({ item, x: item.bench.dims[dim], ...valueOf(chart, of, item) }));
}

const touch = (a, b) => a.points.some((one) => b.points.some((other) => one.x === other.x
  && one.low <= other.high && other.low <= one.high));

/* Pixels by which the bars of a line stand beside those of others, where some lie on others
 * (chart_lines_apart() in harness/chart/base/chart_base.c). */
function apart(lines, at) {
  const last = lines.length - 1;
  return lines.some((one, i) => lines.some((other, k) => k < i && touch(one, other)))
    ? (at - last / 2) * Math.min(5, 24 / last) : 0;
}

function addLine(panel, label, nth, points, shift) {
  const x = points.map((one) => one.x), y = points.map((one) => one.value), style = styleOf(nth);
  const spread = points.filter((one) => Number.isFinite(one.low + one.high));
  addLayer(panel, 'whiskers', '', { ...style, dash: 'solid', width: 1 }, { shift,
    x: spread.map((one) => one.x), low: spread.map((one) => one.low),
    high: spread.map((one) => one.high), items: spread.map((one) => one.item) });
  const items = points.map((one) => one.item);
  addLayer(panel, 'line', label, style, { x, y, items });
  addLayer(panel, 'points', label, { ...style, size: 7 }, { x, y, items });
}

/* Ticks stand at the sizes that were measured; sizes double more often than not. */
function sizeAxis(panel, label, sizes, choice) {
  const [least, most] = [sizes[0], sizes[sizes.length - 1]];
  const log = choice ? scaleOf(choice, sizes) === 'log' : least > 0 && most >= 8 * least;
  setAxis(panel.x, label, {}, log ? 'log' : 'linear');
  panel.x.ticks = sizes.filter((size) => size > 0 || !log).map((at) => ({ at, text: String(at) }));
}

/* In a crowd of each kernel the family with most sizes, or the best. */
function chosenOf(families, shown, of, limit) {
  const leading = shown.length <= limit ? shown
    : shown.filter((family) => leads(families, families.indexOf(family), of));
  return leading.slice(0, limit);
}

function linesOf(chart, of, families) {
  const shown = chosenOf(families, families, of, limitOf(chart, LINES));
  return { panels: [{ lines: shown.map((family, nth) => ({ family, nth, label: family.label })) }],
    all: families.length, shown: shown.length };
}

/* Families of one benchmark in several runs share a panel. */
function panelsOf(chart, of, families) {
  const firsts = families.filter((family, i) =>
    families.findIndex((other) => other.bench.key === family.bench.key) === i);
  const shown = chosenOf(families, firsts, of, limitOf(chart, PANELS));
  const late = chart.runs.slice(-LINES_IN_PANEL);
  const panels = shown.map((first) => ({ title: first.own, lines: families
    .filter((family) => family.bench.key === first.bench.key && late.includes(family.run))
    .map((family) => ({ family, nth: chart.runs.indexOf(family.run),
      label: chart.core.runs[family.run].name })) }));
  return { panels, all: firsts.length, shown: shown.length };
}

function addWords(chart, figure, of, dim, { values, items, choice }) {
  const real = values.filter(Number.isFinite), runs = several(chart);
  const how = `${runs ? 'A line a run. ' : ''}Points: ${of.label}${of.kind === 'rate'
    ? ' at the median time' : ''}${of.kind === 'fact' ? '' : '; bars p5 to p95'}.`;
  figure.subtitle = subtitleOf(chart, items);
  figure.caption = captionOf(chart, how, choice.shown, choice.all,
    'of each kernel the one with most sizes, or the best');
  figure.alt = `Lines of ${of.label} over ${dim} for ${choice.shown} benchmark${
    choice.shown === 1 ? '' : 's'}${runs ? ' in several runs' : ''}, from ${
    valueText(of, Math.min(...real))} to ${valueText(of, Math.max(...real))}.`;
}

function draw(chart, of, dim, { families, usable }) {
  const { preset } = chart, figure = figureFor(chart);
  const choice = several(chart) ? panelsOf(chart, of, families) : linesOf(chart, of, families);
  const drawn = choice.panels.flatMap((panel) => panel.lines);
  drawn.forEach((line) => { line.points = pointsOf(chart, of, line.family, dim); });
  const values = drawn.flatMap((line) => line.points.map((one) => one.value));
  const items = drawn.flatMap((line) => line.family.items);
  const nr = choice.panels.length;
  figure.columns = nr > 4 ? 3 : nr > 1 ? 2 : 1;
  for (const { title, lines } of choice.panels) {
    const panel = addPanel(figure, { title, height: several(chart) ? 260 : 440 });
    sizeAxis(panel, preset.x_label || measure(chart, `dim_${dim}`).label, dimValues(items, dim), preset.x_scale);
    setAxis(panel.y, preset.y_label || of.label, of, scaleOf(preset.y_scale, values));
    lines.forEach((line, at) => addLine(panel, line.label, line.nth, line.points,
      apart(lines, at)));
  }
  addWords(chart, figure, of, dim, { values, items: usable, choice });
  return finish(figure);
}

/** @returns {object} a figure */
export function makeLines(chart) {
  const of = measure(chart, chart.preset.y || 'p50'), dim = dimOf(chart.preset.x || 'batch');
  const items = itemsOf(chart), usable = items.filter((item) => Number.isFinite(of.of(item.row)));
  const families = familiesOf(chart, usable, [dim])
    .filter((family) => dimValues(family.items, dim).length > 1);
  if (items.length === 0)
    return absentItems(chart);
  if (families.length === 0)
    return absent(figureFor(chart), `No benchmark was measured at two or more values of ${dim}, `
      + `with ${of.label}.`);
  return draw(chart, of, dim, { families, usable });
}
