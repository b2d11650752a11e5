/* SPDX-License-Identifier: MIT */
/*
 * The table of all operations, whatever they were read from: sorted by its heads, filtered, saved as
 * CSV, PAGE rows at a time. Rows are objects, times in ns; what no row has is no column.
 */
import { button, cleanText, el, nameOf } from './dom.js';
import { tableView } from './table_view.js';
import { bytesText, quantityText, shareText, timeText } from './words.js';

const PAGE = 40;

const has = (value) => value !== null && value !== undefined && value !== '';

function number(key, label, text, unit, title) {
  return { key, label, number: true, title, csv: unit ? `${label} (${unit})` : label,
    value: (row) => row[key] ?? null, cell: (row) => (has(row[key]) ? text(row[key]) : '') };
}

const time = (key, label, title) =>
  number(key, label, (value) => (value === 0 ? '0' : timeText(value)), 'ns', title);
const rate = (key, label, base) => number(key, label, (value) => quantityText('rate', base, value), base);
const text = (key, label) => ({ key, label, value: (row) => row[key] ?? '',
  cell: (row) => nameOf(row[key] || '', 80) });

/* A kernel's name is shown cut short; the file, the filter and the tooltip have the whole of it. */
const nameCell = (row) => (row.shown ? el('bdi', { title: cleanText(row.operation).slice(0, 4000) },
  cleanText(row.shown)) : nameOf(row.operation, 80));

/* A median and its interval are one cell; the file has all three numbers. */
function medianOf(row) {
  if (!has(row.median))
    return '';
  return has(row.low) ? `${timeText(row.median)} (${timeText(row.low)} to ${timeText(row.high)})`
    : timeText(row.median);
}

const hidden = (column) => ({ ...column, hidden: true });

const COLUMNS = [
  { ...text('operation', 'operation'), name: true, cell: nameCell }, text('side', 'side'),
  number('calls', 'calls', String), time('total', 'total', 'of all calls, each once'),
  time('self', 'self', 'without the operations inside'),
  number('share', 'share', shareText, '', 'of all own times'),
  { ...time('median', 'median iteration', 'own time in the median iteration, with its 95 % interval'),
    cell: medianOf },
  hidden(time('low', 'median, low')), hidden(time('high', 'median, high')),
  time('meanIteration', 'mean iteration', 'own time of an iteration, on average'),
  time('average', 'mean', 'of a call'), time('deviation', 'sd', 'of a call'), time('least', 'min'),
  time('p50', 'p50'), time('p95', 'p95'), time('most', 'max'),
  time('gpu', 'GPU'), time('cpu', 'CPU'), time('transfer', 'transfer'), time('overhead', 'overhead'),
  number('utilization', 'GPU used (estimate)', (value) => `${Math.round(value)} %`, '%',
    'time of the kernels that it started over its own'),
  rate('flops', 'computes', 'FLOP/s'), rate('bytes', 'moves', 'B/s'),
  number('allocated', 'mean memory', bytesText, 'bytes'),
  number('peak', 'peak memory', bytesText, 'bytes'),
  text('devices', 'device'), text('backends', 'backend'),
];

/**
 * @param {object[]} rows  the longest first @param {string} file  of the CSV
 * @param {string} [note]  below it
 */
export function operationsTable(rows, file, note = '') {
  const columns = COLUMNS.filter(({ key }) => rows.some((row) => has(row[key])));
  const filter = el('input', { type: 'search', 'aria-label': 'Filter operations', placeholder: 'filter',
    oninput: () => show() });
  const view = tableView(columns, { caption: 'Operations', class: 'results', page: PAGE });
  const show = () => view.setRows(rows.filter((row) => row.operation.toLowerCase()
    .includes(filter.value.trim().toLowerCase())));
  show();
  return el('div', { class: 'operations' }, el('p', { class: 'buttons' }, filter, ' ',
    button('Save as CSV', () => view.saveCsv(file))), view.element,
  note ? el('p', { class: 'muted' }, note) : null);
}

const SIDES = ['host', 'device'];
const NAMES = { name: 'operation', mean: 'average', sd: 'deviation', min: 'least', max: 'most',
  launch: 'overhead', memory_peak: 'peak', memory_mean: 'allocated', backend: 'backends',
  mean_iteration: 'meanIteration' };

/**
 * Rows of lists ("columns", "rows": of core.profile.operations, or of a summary of the scopes library)
 * as objects; the side in words where there are both.
 */
export function operationRows({ columns, rows }) {
  const objects = rows.map((row) => Object.fromEntries(columns.map((column, nth) =>
    [NAMES[column] || column, row[nth]])));
  const both = new Set(objects.map((row) => row.side)).size > 1;
  return objects.map((row) => ({ ...row, operation: String(row.operation ?? ''),
    side: both ? SIDES[row.side] : '' }));
}
