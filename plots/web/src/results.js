/* SPDX-License-Identifier: MIT */
/* Every number of the chosen runs: a table to sort, filter and save. */
import { button, el, fill, nameOf, tick } from './dom.js';
import { dimsOf, metricOf } from './data.js';
import { quantityText } from './words.js';
import { formatList, parseList } from './state.js';
import { tableView } from './table_view.js';

const FIRST = ['p50', 'p95', 'p99', 'gflops', 'gbs', 'tokens', 'roof'];

function metricColumn(app, metric) {
  const column = app.table.columns[metric.id] || [];
  const value = (row) => column[row.at] ?? null;
  return { key: metric.id, label: metric.id, title: `${metric.label}, ${metric.unit}`, number: true,
    csv: `${metric.id} (${metric.unit})`, value,
    cell: (row) => (value(row) === null ? ''
      : quantityText(metric.quantity, metric.base, value(row) * (metric.factor || 1))) };
}

/* What the label says already stands in the file alone. */
function hiddenColumns(app) {
  const { core } = app, bench = (row) => core.benchmarks[row.benchmark];
  return [...['kernel', 'variant', 'math', 'device', 'cache', 'fill'].map((field) => ({ key: field,
    label: field, hidden: true, value: (row) => bench(row)[field] })),
  ...dimsOf(core).map((dim) => ({ key: dim, label: dim, hidden: true,
    value: (row) => bench(row).dims[dim] ?? null }))];
}

function factColumns(app, several) {
  const { core } = app, bench = (row) => core.benchmarks[row.benchmark];
  return [
    { key: 'run', label: 'run', hidden: !several, value: (row) => core.runs[row.run].name,
      cell: (row) => el('span', { class: 'nowrap' }, nameOf(core.runs[row.run].name, 32)) },
    { key: 'benchmark', label: 'benchmark', name: true, value: (row) => bench(row).key,
      cell: (row) => button(nameOf(bench(row).label, 70),
        () => app.drill(row.benchmark, row.run), { class: 'link' }) },
    ...hiddenColumns(app),
    { key: 'outcome', label: 'outcome', value: (row) => row.outcome,
      cell: (row) => (row.outcome === 'OK' ? 'OK' : el('b', { class: 'bad' }, row.outcome)) },
    { key: 'launches', label: 'launches', number: true, value: (row) => row.launches,
      cell: (row) => row.launches },
  ];
}

function chosenColumns(app) {
  const wanted = parseList(app.state.get('columns'));
  const ids = wanted.length ? wanted : FIRST;
  return ids.map((id) => metricOf(app.core, id)).filter(Boolean);
}

function columnPicker(app) {
  const chosen = new Set(chosenColumns(app).map((metric) => metric.id));
  return app.core.metrics.map((metric) => tick(`${metric.id}: ${metric.label}`, chosen.has(metric.id),
    (on) => {
      chosen[on ? 'add' : 'delete'](metric.id);
      app.state.set({ columns: formatList(app.core.metrics.map((one) => one.id)
        .filter((id) => chosen.has(id))) });
    }));
}

function sortOf(app) {
  const text = app.state.get('sort');
  return { key: text.replace(/^-/, ''), down: text.startsWith('-') };
}

/** @returns {{element: Element, update: function}} */
export function resultsTable(app) {
  const picker = el('div', { class: 'facets' }), count = el('p', { class: 'muted', role: 'status' });
  const view = tableView([], { caption: 'Results, a row a benchmark and run', class: 'results', sort: sortOf(app),
    rowClass: (row) => (row.outcome === 'OK' ? null : 'failed'),
    keyOf: (row) => app.core.benchmarks[row.benchmark].key, lit: () => app.litKey(),
    onRow: (row) => app.choose({ key: app.core.benchmarks[row.benchmark].key,
      uuid: app.core.runs[row.run].uuid }),
    onSort: ({ key, down }) => app.state.set({ sort: `${down ? '-' : ''}${key}` }) });
  const element = el('div', {}, el('details', { class: 'picker' }, el('summary', {}, 'Columns'), picker),
    el('p', { class: 'buttons' }, button('Save as CSV', () => view.saveCsv('results.csv'))), count,
    view.element);
  const update = async (changed) => {
    await app.ready;
    const rows = app.rowsNow(), all = app.rowsOfRuns(app.chosenRuns()).length;
    if (!changed || !changed.has('columns') || picker.childElementCount === 0)
      fill(picker, columnPicker(app));
    view.sort = sortOf(app);
    view.setColumns([...factColumns(app, app.chosenRuns().length > 1),
      ...chosenColumns(app).map((metric) => metricColumn(app, metric))]);
    if (!changed || [...changed].some((key) => !['sort', 'columns'].includes(key)))
      view.setRows(rows);
    fill(count, `${rows.length} of ${all} results of ${app.chosenRuns().length} run${
      app.chosenRuns().length === 1 ? '' : 's'}.`);
  };
  return { element, update };
}
