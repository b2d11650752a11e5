/* SPDX-License-Identifier: MIT */
/* Figures that can be explored in ways of their own ("view" of the figure's JSON): a timeline, a flame
 * graph, a table that sorts. On paper they are drawn as any other figure. */
import { button, el, nameOf } from './dom.js';
import { figureTrace, wholeTrace } from './figure_data.js';
import { flameView } from './flame.js';
import { tableView } from './table_view.js';
import { timelineView } from './timeline.js';

/* A layer with its head one row above the first is a column (harness/chart/profile/build_profile_table.c). */
function columnsOf(panel) {
  const texts = panel.layers.filter((layer) => layer.mark === 'text');
  return texts.filter((layer) => layer.y[0] >= 0).map((layer, nth) => {
    const head = texts.find((one) => one.y[0] < 0 && one.x[0] === layer.x[0])?.text[0] || '';
    const at = (row) => layer.y.indexOf(row.at);
    return { key: `c${nth}`, label: head, number: true,
      csv: layer.unit ? `${head} (${layer.unit})` : head,
      value: (row) => layer.low?.[at(row)] ?? null, cell: (row) => layer.text[at(row)] ?? '' };
  });
}

function operationsView(spec) {
  const [panel] = spec.panels;
  const rows = panel.y.ticks.filter((tick) => tick.at >= 0).map(({ at, text }) => ({ at, name: text }));
  const name = { key: 'name', label: 'operation', name: true, value: (row) => row.name,
    cell: (row) => nameOf(row.name, 80) };
  const view = tableView([name, ...columnsOf(panel)], { caption: spec.title });
  const filter = el('input', { type: 'search', 'aria-label': 'Filter operations', placeholder: 'filter',
    oninput: () => show() });
  const show = () => view.setRows(rows.filter((row) =>
    row.name.toLowerCase().includes(filter.value.trim().toLowerCase())));
  show();
  return el('div', {}, el('p', { class: 'buttons' }, filter, ' ',
    button('Save as CSV', () => view.saveCsv(`${spec.id}.csv`))), view.element);
}

const VIEWS = {
  flame: flameView,
  timeline: (spec, hidden, whole) => timelineView(whole ? wholeTrace(whole, spec, hidden)
    : figureTrace(spec, hidden), spec.title),
  table: operationsView,
};

/** Has the figure a view of its own? */
export const hasView = (spec) => Boolean(VIEWS[spec.view]);

/**
 * @param {object} spec @param {Set<string>} hidden  labels that the legend has switched off
 * @param {?object} whole  the trace that a timeline shows a part of, where the page has it
 */
export const figureView = (spec, hidden, whole) => VIEWS[spec.view](spec, hidden, whole);
