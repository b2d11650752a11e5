/* SPDX-License-Identifier: MIT */
/* Files of others on the page: records, a comparison, a figure, a profile, a trace. Nothing leaves
 * the page. */
import { button, el, fill, nameOf, shortText } from './dom.js';
import { figureCard } from './figure.js';
import { demoProfile } from './demo.js';
import { readDropped } from './drop_kinds.js';
import { droppedText } from './drop_text.js';
import { exploreFigure } from './explore_figure.js';
import { profileHeadline, profileSummary } from './profile_answer.js';
import { operationsTable } from './operations_table.js';
import { profileTables } from './profile_data.js';
import { breakdowns, profileView, tablesView } from './profile_view.js';
import { recordsData } from './records_data.js';
import { rowsOf } from './data.js';
import { tableView } from './table_view.js';
import { timelineView } from './timeline.js';
import { traceAnswer } from './trace_answer.js';
import { quantityText } from './words.js';
import { verdictTable } from './verdicts.js';
import { foundText, isTime } from './verdict_words.js';

function figureView(json) {
  return figureCard(json, { heading: 'h4' });
}

/* A foreign comparison has no runs here: nothing to drill into. */
function comparisonView(json) {
  const core = { comparison: { metrics: [], notes: [], ...json }, runs: [], benchmarks: [],
    metrics: [{ id: json.metric, quantity: isTime(json.metric) ? 'time' : 'plain', base: '', factor: 1 }] };
  const table = verdictTable({ core, drill: () => {}, choose: () => {}, litKey: () => '',
    takesBenchmark: () => true });
  table.update();
  return el('div', {}, el('p', {}, foundText(core.comparison)), el('p', {}, 'Base ', nameOf(json.base, 120),
    ', head ', nameOf(json.head, 120)), table.element);
}

function traceView(trace, name) {
  const found = traceAnswer(trace, name);
  return el('div', {}, found ? [profileHeadline(found.answer), profileSummary(found.answer),
    breakdowns(found.rows), el('h4', {}, 'Timeline')] : null, timelineView(trace, name),
  found ? [el('h4', {}, 'All operations'), operationsTable(found.rows, 'trace.csv')] : null);
}

function recordsTable({ core, table }, rows) {
  const metric = (one) => ({ key: one.id, label: one.id, number: true, csv: `${one.id} (${one.unit})`,
    value: (row) => table.columns[one.id][row.at],
    cell: (row) => (table.columns[one.id][row.at] === null ? ''
      : quantityText(one.quantity, one.base, table.columns[one.id][row.at] * one.factor)) });
  const view = tableView([
    { key: 'run', label: 'run', value: (row) => row.run, cell: (row) => nameOf(core.runs[row.run].name, 40) },
    { key: 'benchmark', label: 'benchmark', name: true, value: (row) => core.benchmarks[row.benchmark].key,
      cell: (row) => nameOf(core.benchmarks[row.benchmark].label, 60) },
    { key: 'outcome', label: 'outcome', value: (row) => row.outcome, cell: (row) => row.outcome },
    ...core.metrics.map(metric)], { caption: 'Results of the file', class: 'results' });
  view.setRows(rows);
  return el('div', {}, el('p', { class: 'buttons' },
    button('Save as CSV', () => view.saveCsv('records.csv'))), view.element);
}

function recordsView(json) {
  const data = recordsData(json), rows = rowsOf(data.core, data.table);
  const chart = (preset) => ({ preset, ...data, rows, runs: data.core.selected });
  const figures = [['bars', 'Median latency'], ['box', 'Distributions']].map(([type, title]) =>
    exploreFigure(chart({ name: `dropped-${type}`, title, type, y: 'p50' })));
  const { runs, benchmarks } = data.core, samples = data.table.n.reduce((sum, n) => sum + n, 0);
  return el('div', {}, el('p', {}, `${runs.length} run${runs.length === 1 ? '' : 's'}, ${
    benchmarks.length} benchmarks, ${samples} samples.`),
  figures.map((spec) => figureCard(spec, { heading: 'h4' })), recordsTable(data, rows));
}

const VIEWS = { trace: traceView, records: recordsView, comparison: comparisonView,
  figure: figureView, profile: profileView,
  tables: (json, name) => tablesView(profileTables(json), name) };
const KINDS = { trace: 'trace', records: 'records', comparison: 'comparison', figure: 'figure',
  profile: 'profile', tables: 'profile' };

class DropZone {
  constructor() {
    this.error = el('p', { class: 'error', role: 'alert' });
    this.shown = el('div', { class: 'dropped' });
    const input = el('input', { type: 'file', multiple: true, accept: '.json,.gz,application/json,application/gzip',
      id: 'drop-file', onchange: async () => {
        const files = [...input.files];
        input.value = '';
        await this.openAll(files);
      } });
    this.element = el('div', { class: 'drop' }, el('div', { class: 'zone' },
      el('p', {}, el('label', { for: 'drop-file' }, 'Drop JSON files anywhere on this page, or choose them: '),
        input), el('p', { class: 'muted' }, 'Records, a comparison, a figure, a profile or a Trace '
        + 'Event file, packed by gzip or not. They are read by this page alone.'), el('p', { class: 'buttons' },
        button('Show a profile made up for trying', () => this.show('profile', demoProfile(),
          'demo profile')))), this.error, this.shown);
  }

  async openAll(files) {
    fill(this.error);
    for (const file of files)
      await this.open(file);
  }

  async open(file) {
    try {
      const { kind, json } = readDropped(await droppedText(file));
      await this.show(kind, json, file.name);
    } catch (error) {
      this.error.append(el('span', {}, `${shortText(file.name, 80)}: ${error.message} `));
      this.element.scrollIntoView({ block: 'nearest' });
    }
  }

  async show(kind, json, name) {
    const view = await VIEWS[kind](json, name);
    const section = el('section', { class: 'opened', 'aria-label': `Opened: ${shortText(name, 80)}`,
      tabindex: '-1' }, el('div', { class: 'opened-head' },
      el('h3', {}, `${KINDS[kind]}: `, nameOf(name, 80)),
      button('Close', () => section.remove())), view);
    this.shown.prepend(section);
    section.focus({ preventScroll: true });
    section.scrollIntoView({ block: 'start' });
  }

  /* Anywhere on the page will do. */
  listen(target) {
    let depth = 0;
    const mark = (on) => document.documentElement.classList.toggle('dragging', on);
    const carriesFiles = (event) => [...(event.dataTransfer?.types || [])].includes('Files');
    target.addEventListener('dragenter', (event) => carriesFiles(event) && mark(++depth > 0));
    target.addEventListener('dragleave', (event) => carriesFiles(event) && mark(--depth > 0));
    target.addEventListener('dragover', (event) => carriesFiles(event) && event.preventDefault());
    target.addEventListener('drop', async (event) => {
      if (!carriesFiles(event))
        return;
      event.preventDefault();
      depth = 0;
      mark(false);
      await this.openAll([...event.dataTransfer.files]);
    });
  }
}

/** @returns {{element: Element, listen: function(EventTarget)}} */
export function dropZone() {
  return new DropZone();
}
