/* SPDX-License-Identifier: MIT */
/* The figures of a profile: where time went, calls, parts of time, memory. */
import { absent, addLayer, addOutside, addPanel, figureOf, finish, setAxis,
  styleOf } from './spec.js';
import { nameAxis } from './axis.js';
import { bytesText, shareText, timeText } from './words.js';

const ROWS_MAX = 24, ROW_HEIGHT = 27;
const PARTS = [['gpu', 'GPU'], ['cpu', 'CPU'], ['transfer', 'transfer'], ['overhead', 'overhead']];
const has = (value) => value !== null && value !== undefined;
const TIME = { quantity: 'time' }, BYTES = { quantity: 'bytes' };

function rowPanel(figure, rows, title, first = true) {
  const panel = addPanel(figure, { title, height: ROW_HEIGHT * rows.length + 12 });
  nameAxis(panel.y, rows.map((row) => (first ? row.operation : '')), true);
  return panel;
}

const at = (rows) => rows.map((_, i) => i);

function shownText(rows, all) {
  return all > rows.length ? ` Showing the ${rows.length} longest of ${all} operations.` : '';
}

/* Of scopes in each other the own time: totals would count what is inside twice. */
const mainTime = (row) => row.self ?? row.total;

/** Time of each operation, the longest on top. */
export function timeFigure(summary) {
  const figure = figureOf('profile-time', 'Where the time went'), rows = summary.slice(0, ROWS_MAX);
  const panel = rowPanel(figure, rows);
  const own = rows.some((row) => row.self !== undefined);
  setAxis(panel.x, own ? 'own time' : 'total time', TIME);
  addLayer(panel, 'bars', '', { colour: styleOf(0).colour }, { across: true,
    x: rows.map(mainTime), y: at(rows) });
  addOutside(panel, rows.map((row) => `${timeText(mainTime(row))}, ${shareText(row.share)}`));
  figure.caption = `${own ? 'Own time, without the operations inside,' : 'Time'} of all calls of an operation.${shownText(rows, summary.length)}`;
  figure.alt = `Bars of ${own ? 'own' : 'total'} time for ${rows.length} operations; ${rows[0].operation} took most, ${
    timeText(mainTime(rows[0]))}, ${shareText(rows[0].share)} of all.`;
  return finish(figure);
}

/** Average time, and how often it was called. */
export function callsFigure(summary) {
  const figure = figureOf('profile-calls', 'Average time and calls'), rows = summary.slice(0, ROWS_MAX);
  figure.columns = 2;
  const time = rowPanel(figure, rows, 'average time of a call'), calls = rowPanel(figure, rows, 'calls',
    false);
  setAxis(time.x, 'average time', TIME);
  addLayer(time, 'bars', '', { colour: styleOf(0).colour }, { across: true,
    x: rows.map((row) => row.average), y: at(rows) });
  addOutside(time, rows.map((row) => timeText(row.average)));
  setAxis(calls.x, 'calls');
  addLayer(calls, 'bars', '', { colour: styleOf(2).colour }, { across: true,
    x: rows.map((row) => row.calls), y: at(rows) });
  addOutside(calls, rows.map((row) => String(row.calls)));
  figure.alt = `Average time and number of calls of ${rows.length} operations.`;
  figure.caption = `Left and right are the same rows.${shownText(rows, summary.length)}`;
  return finish(figure);
}

/** GPU, CPU, transfer and overhead of each operation, one after the other. */
export function partsFigure(summary) {
  const figure = figureOf('profile-parts', 'GPU, CPU, transfer and overhead');
  const rows = summary.filter((row) => PARTS.some(([part]) => has(row[part]))).slice(0, ROWS_MAX);
  if (rows.length === 0)
    return absent(figure, 'No entry says how its time is parted between GPU, CPU, transfer and overhead.');
  const panel = rowPanel(figure, rows), ends = rows.map(() => 0);
  setAxis(panel.x, 'time', TIME);
  PARTS.forEach(([part, label], nth) => {
    const mine = rows.map((row, i) => ({ i, low: ends[i], value: row[part] ?? 0 }))
      .filter((one) => one.value > 0);
    mine.forEach((one) => { ends[one.i] += one.value; });
    addLayer(panel, 'bars', label, { colour: styleOf(nth).colour }, { across: true,
      y: mine.map((one) => one.i), low: mine.map((one) => one.low),
      x: mine.map((one) => one.low + one.value) });
  });
  figure.alt = `Bars of GPU, CPU, transfer and overhead time for ${rows.length} operations.`;
  figure.caption = 'Parts of all calls of an operation, laid end to end.';
  return finish(figure);
}

/** Allocated and peak memory over time. */
export function memoryFigure(entries) {
  const figure = figureOf('profile-memory', 'Memory over time');
  const known = entries.filter((entry) => entry.allocated !== null || entry.peak !== null)
    .sort((a, b) => a.start - b.start);
  if (known.length === 0)
    return absent(figure, 'No entry says how much memory was allocated.');
  const panel = addPanel(figure, { height: 260 });
  setAxis(panel.x, 'time since the first entry', TIME);
  setAxis(panel.y, 'memory', BYTES);
  ['allocated', 'peak'].forEach((key, nth) => {
    const mine = known.filter((entry) => entry[key] !== null);
    addLayer(panel, mine.length > 1 ? 'steps' : 'points', key, { ...styleOf(nth), size: 7 },
      { x: mine.map((entry) => entry.start), y: mine.map((entry) => entry[key]) });
  });
  const peak = known.reduce((most, entry) => Math.max(most, entry.peak ?? entry.allocated), 0);
  figure.alt = `Lines of allocated and peak memory over ${known.length} entries; at most ${
    bytesText(peak)}.`;
  figure.caption = 'As each entry found it when it ended.';
  return finish(figure);
}
