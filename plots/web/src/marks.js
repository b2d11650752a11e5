/* SPDX-License-Identifier: MIT */
/*
 * What the marks of a figure stand for: benchmarks and runs, as the program has written them into it
 * ("benchmark", "run" and "rows" in harness/figure/figure.h). From this come the names in hover
 * texts, what is lit, and which marks a filter leaves.
 */
import { toNumber, toPlace } from './axis_place.js';
import { axisTicks } from './axis.js';
import { partWords } from './part_words.js';

const COLUMNS = ['x', 'y', 'low', 'high', 'text', 'colour', 'size', 'anchor', 'dx', 'dy', 'angle',
  'benchmark', 'run'];
const SIDES = ['x', 'y'];

const isNumber = (value) => typeof value === 'number' && Number.isFinite(value);
const placeIn = (column, i) => (Array.isArray(column) ? column[i] : column) ?? null;
export const lengthOf = (layer) => Math.max(0, ...['x', 'y', 'low', 'high', 'text']
  .map((name) => (layer[name] || []).length));
export const itemsOf = (layer) => Array.from({ length: lengthOf(layer) }, (_, i) => i);

/* The row of a category axis that a datum stands in. */
const rowOf = (axis, value) => (axis.scale === 'category' && isNumber(value) ? Math.floor(value + 0.5)
  : null);

/* Where a datum stands along an axis; of a span across it, its middle. */
function placeAlong(layer, side, i) {
  if (layer[side] || Boolean(layer.across) !== (side === 'x'))
    return layer[side]?.[i];
  return isNumber(layer.low?.[i]) && isNumber(layer.high?.[i]) ? (layer.low[i] + layer.high[i]) / 2 : null;
}

/**
 * What one mark stands for; null is none, or several.
 * @returns {{benchmark: ?number, run: ?number}} places in the figure's own lists
 */
export function placesOf(panel, layer, i) {
  const row = panel.rows ? rowOf(panel.y, placeAlong(layer, 'y', i)) : null;
  const of = (what) => placeIn(layer[what], i)
    ?? (row === null || row < 0 ? null : placeIn(panel.rows[what], row));
  return { benchmark: of('benchmark'), run: of('run') };
}

/** The same as key and uuid; null for a mark that is of no benchmark. */
export function markOf(spec, panel, layer, i) {
  const { benchmark, run } = placesOf(panel, layer, i);
  return benchmark === null || !spec.benchmarks?.[benchmark] ? null
    : { key: spec.benchmarks[benchmark], uuid: run === null ? null : spec.runs?.[run] ?? null };
}

/** Has it marks that stand for a benchmark? */
export const hasMarks = (spec) => Boolean(spec.benchmarks?.length);

/**
 * The figure with the page's own names for what its marks stand for.
 * @param {function(string): string} benchmark  of a key @param {function(string): string} run  of a uuid
 */
export function withNames(spec, benchmark, run) {
  return { ...spec, names: { benchmarks: (spec.benchmarks || []).map(benchmark),
    runs: (spec.runs || []).map(run) } };
}

/** Names of what a mark stands for: benchmark, and the run where the figure has several. */
export function namesOf(spec, panel, layer, i) {
  const { benchmark, run } = placesOf(panel, layer, i);
  const name = benchmark === null ? null
    : spec.names?.benchmarks[benchmark] ?? spec.benchmarks?.[benchmark];
  const of = run === null || !(spec.runs?.length > 1) ? null : spec.names?.runs[run];
  return [name, of].filter(Boolean);
}

/* ---- what a filter leaves ---- */

/* Does the filter take it? What stands for nothing stays. */
function takesMark(spec, takes, { benchmark, run }) {
  return benchmark === null
    || takes(spec.benchmarks[benchmark], run === null ? null : spec.runs[run]);
}

/* Some items of a layer. */
function pick(layer, kept) {
  const some = { ...layer };
  for (const name of COLUMNS)
    if (Array.isArray(layer[name]))
      some[name] = kept.map((i) => layer[name][i]);
  return some;
}

/* The layer without what is left out; null where nothing of what it is about is left. */
function narrowLayer(spec, panel, layer, takes) {
  const places = itemsOf(layer).map((i) => placesOf(panel, layer, i));
  const kept = places.map((place) => takesMark(spec, takes, place));
  if (kept.every(Boolean))
    return layer;
  const some = itemsOf(layer).filter((i) => kept[i]);
  return some.some((i) => places[i].benchmark !== null) ? pick(layer, some) : null;
}

/* Rows (columns) of a category axis that had marks of benchmarks, and have none any more. */
function lostRows(spec, panel, side, takes) {
  const had = new Set(), has = new Set();
  for (const layer of panel.layers)
    for (const i of itemsOf(layer)) {
      const place = placesOf(panel, layer, i), row = rowOf(panel[side], placeAlong(layer, side, i));
      if (place.benchmark === null || row === null)
        continue;
      had.add(row);
      if (takesMark(spec, takes, place))
        has.add(row);
    }
  for (const { at: row } of side === 'y' && panel.rows ? panel.y.ticks : []) {
    const place = { benchmark: placeIn(panel.rows.benchmark, row), run: placeIn(panel.rows.run, row) };
    if (row < 0 || place.benchmark === null)
      continue;
    had.add(row);
    if (takesMark(spec, takes, place))
      has.add(row);
  }
  return { had, has };
}

/* Panels of one row of panels name the same rows: one goes from all of them, or from none. */
function gonePlaces(spec, side, takes) {
  const found = spec.panels.map((panel) => lostRows(spec, panel, side, takes));
  return spec.panels.map((panel, index) => {
    const alike = found.filter((_, i) => spec.panels[i][side].scale === 'category'
      && spec.panels[i][side].ticks.length === panel[side].ticks.length
      && (i === index || spec.panels.some((one) => one.rows)));
    return panel[side].scale !== 'category' ? new Set()
      : new Set([...found[index].had].filter((row) => !alike.some(({ has }) => has.has(row))));
  });
}

/* The panel without some rows: those below move up, and it becomes lower. */
function closeUp(panel, side, gone) {
  if (gone.size === 0)
    return panel;
  const axis = panel[side], before = axis.high - axis.low;
  const up = (value) => [...gone].filter((row) => row < Math.floor(value + 0.5)).length;
  const move = (values, places) => values.map((value, i) => (isNumber(value)
    ? value - up(places[i] ?? value) : value));
  const layers = panel.layers.map((layer) => {
    const kept = itemsOf(layer).filter((i) => !gone.has(rowOf(axis, placeAlong(layer, side, i))));
    const some = pick(layer, kept), places = kept.map((i) => placeAlong(layer, side, i));
    for (const name of [side, ...(Boolean(layer.across) === (side === 'x') ? ['low', 'high'] : [])])
      if (some[name])
        some[name] = move(some[name], places);
    return some;
  });
  const closed = { ...axis, high: axis.high - gone.size, ticks: axis.ticks
    .filter((tick) => !gone.has(tick.at)).map((tick) => ({ ...tick, at: tick.at - up(tick.at) })) };
  const rows = panel.rows && side === 'y' ? Object.fromEntries(Object.entries(panel.rows)
    .map(([name, column]) => [name, Array.isArray(column)
      ? column.filter((_, row) => !gone.has(row)) : column])) : panel.rows;
  const area = side === 'y' ? { ...panel.area,
    height: panel.area.height * (closed.high - closed.low) / before } : panel.area;
  return { ...panel, [side]: closed, layers, rows, area };
}

/* From where to where the marks along an axis reach, as places, within what is seen. */
function extentOf(panels, side) {
  let low = Infinity, high = -Infinity;
  for (const panel of panels) {
    const axis = panel[side], inside = (value) => Math.min(Math.max(value, axis.low), axis.high);
    for (const layer of panel.layers.filter((one) => one.mark !== 'text')) {
      const ends = Boolean(layer.across) === (side === 'x') ? [layer.low, layer.high] : [];
      for (const value of [layer[side] || [], ...ends.map((end) => end || [])].flat())
        if (isNumber(value)) {
          low = Math.min(low, toPlace(axis, inside(value)));
          high = Math.max(high, toPlace(axis, inside(value)));
        }
    }
  }
  return { low, high };
}

const MOST_TICKS = { x: 8, y: 6 };

/* What has names along it has those of the places that are seen. */
function placesOver(places, low, high, most) {
  const seen = places.filter(({ at }) => at >= low && at <= high);
  const every = Math.max(1, Math.ceil(seen.length / most));
  return seen.filter((_, i) => i % every === 0);
}

/** An axis that shows other numbers, with ticks for them. */
export function axisOver(axis, low, high, side) {
  const most = MOST_TICKS[side];
  return { ...axis, low, high, ticks: axis.scale === 'category' ? axis.ticks
    : axis.places ? placesOver(axis.places, low, high, most) : axisTicks(axis, low, high, most) };
}

/* The axis around what is left of the marks, with as much room beside them as there was; bars begin
 * where they did. */
function refit(axis, side, before, after) {
  if (axis.scale === 'category' || !(after.low <= after.high) || !(before.low < before.high))
    return axis;
  const [low, high] = [toPlace(axis, axis.low), toPlace(axis, axis.high)];
  const span = Math.max(after.high - after.low, (before.high - before.low) * 1e-3);
  const scale = span / (before.high - before.low);
  const from = before.low <= low && after.low <= low ? low : after.low - (before.low - low) * scale;
  const to = after.high + Math.max(high - before.high, 0) * scale;
  const zero = axis.scale === 'linear' && axis.low === 0 ? 0 : from;
  return to > zero ? axisOver(axis, toNumber(axis, zero), toNumber(axis, to), side) : axis;
}

/* Panels of one range keep one. */
function refitPanels(before, after) {
  return after.map((panel, index) => {
    const fitted = { ...panel };
    for (const side of SIDES) {
      const alike = after.map((_, i) => i).filter((i) => before[i][side].low === before[index][side].low
        && before[i][side].high === before[index][side].high
        && before[i][side].scale === panel[side].scale);
      const changed = alike.some((i) => before[i].layers !== after[i].layers);
      if (changed)
        fitted[side] = refit(panel[side], side, extentOf(alike.map((i) => before[i]), side),
          extentOf(alike.map((i) => after[i]), side));
    }
    return fitted;
  });
}

/* A panel of which nothing is left goes. */
function narrowPanel(spec, panel, takes, gone) {
  const layers = panel.layers.map((layer) => narrowLayer(spec, panel, layer, takes));
  if (layers.every((layer, i) => layer === panel.layers[i]))
    return panel;
  const left = { ...panel, layers: layers.filter(Boolean) };
  const isAbout = (one) => one.layers.some((layer) => layer.mark !== 'text'
    && itemsOf(layer).some((i) => placesOf(one, layer, i).benchmark !== null));
  return isAbout(left) ? closeUp(closeUp(left, 'y', gone.y), 'x', gone.x) : null;
}

/* How many benchmarks and runs its marks stand for. */
function shownIn(panels) {
  const benchmarks = new Set(), runs = new Set();
  for (const panel of panels)
    for (const layer of panel.layers)
      for (const i of itemsOf(layer)) {
        const { benchmark, run } = placesOf(panel, layer, i);
        benchmarks.add(benchmark);
        runs.add(run);
      }
  const count = (places) => places.size - places.has(null);
  return { benchmarks: count(benchmarks), runs: count(runs) };
}

/**
 * The figure with those marks alone that a filter takes; axes close up around them, and it says that it
 * is a part.
 * @param {function(string, ?string): boolean} takes  of the key of a benchmark and the uuid of a run,
 *   null where a mark is of several runs
 * @param {object} [about]  for what is said of the part, see partWords()
 * @returns {object} the same figure where nothing is left out; one with a reason where nothing is left
 */
export function narrowed(spec, takes, about) {
  if (spec.reason || !hasMarks(spec))
    return spec;
  const [x, y] = SIDES.map((side) => gonePlaces(spec, side, takes));
  const panels = spec.panels.map((panel, i) => narrowPanel(spec, panel, takes, { x: x[i], y: y[i] }));
  if (panels.every((panel, i) => panel === spec.panels[i]))
    return spec;
  const kept = spec.panels.map((_, i) => i).filter((i) => panels[i]);
  if (kept.length === 0)
    return { ...spec, panels: [], reason: 'the filter leaves none of its benchmarks' };
  const { texts, samples, ...rest } = spec; /* places on the sheet are those of the whole figure */
  const left = kept.map((i) => panels[i]);
  return { ...rest, ...partWords(spec, shownIn(spec.panels), shownIn(left), about),
    panels: refitPanels(kept.map((i) => spec.panels[i]), left) };
}

/* What is no group's colour: inks of harness/text/palette.h. */
const INKS = ['#222222', '#6b6b6b', '#d9d9d9'];

/**
 * The figure without the rows of groups that are switched off: their names would stand there for
 * nothing. A group has a colour, and some of the rows.
 * @param {Set<string>} hidden  labels @param {string} [title]  the figure's without a conclusion
 */
export function withoutGroups(spec, hidden, title) {
  const gone = new Set(), nameOf = ({ benchmark, run }) => `${spec.benchmarks[benchmark]} ${spec.runs?.[run] ?? null}`;
  for (const panel of spec.panels.filter((one) => one.rows && hasMarks(spec)))
    for (const layer of panel.layers.filter(({ label, style }) => hidden.has(label)
      && !INKS.includes(style.colour))) {
      const own = itemsOf(layer).map((i) => placesOf(panel, layer, i)).filter(({ benchmark }) => benchmark !== null);
      const names = new Set(own.map(nameOf));
      if (names.size < panel.y.ticks.filter(({ at }) => at >= 0).length)
        names.forEach((name) => gone.add(name));
    }
  const left = gone.size ? narrowed(spec, (key, uuid) => !gone.has(`${key} ${uuid}`),
    { title, why: 'legend' }) : spec;
  return left.reason ? spec : left;
}
