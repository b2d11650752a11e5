/* SPDX-License-Identifier: MIT */
/* The comparison row by row: what wants attention first, the rest behind a button. */
import { causesView } from './causes.js';
import { button, el, fill, nameOf } from './dom.js';
import { barReach, intervalBar } from './interval_bar.js';
import { metricOf } from './data.js';
import { quantityText } from './words.js';
import { changeText, hasMachines, intervalText, launchesText, rankOf, signOf, toneOf, visibleText,
  wantsAttention, wordOf } from './verdict_words.js';
import { tableView } from './table_view.js';

const NAME_LONGEST = 70, SHOWN = 8; /* rows before somebody asks for all */

function verdictCell(row) {
  return el('span', { class: `verdict ${toneOf(row.verdict)}` },
    el('span', { class: 'sign', 'aria-hidden': 'true' }, signOf(row.verdict)), ' ',
    wordOf(row.verdict, row.metric), row.accepted ? ' (accepted)' : '',
    el('span', { class: 'when-narrow', 'aria-hidden': 'true' }, changeText(row)));
}

function sideText(core, row, side) {
  const value = row[side]?.value, metric = metricOf(core, row.metric);
  if (!Number.isFinite(value ?? NaN))
    return row[side]?.outcome && row[side].outcome !== 'OK' ? row[side].outcome : '';
  return metric ? quantityText(metric.quantity, metric.base, value * (metric.factor || 1))
    : String(value);
}

function whyLine(row) {
  const why = row.accepted ? `accepted: ${row.accepted}` : row.why;
  return why ? el('div', { class: 'muted' }, nameOf(why, 200)) : null;
}

function columnsOf(app, rows) {
  const { core } = app, reach = barReach(rows, core.comparison.delta);
  const several = core.comparison.metrics?.length > 1;
  return [
    { key: 'verdict', label: 'Verdict', value: (row) => rankOf(row.verdict), cell: verdictCell },
    { key: 'name', label: 'Benchmark', name: true, value: (row) => row.label,
      cell: (row) => [button(nameOf(row.label, NAME_LONGEST), () => app.drill(row.benchmark),
        { class: 'link', disabled: row.benchmark < 0 }), whyLine(row)] },
    several ? { key: 'metric', label: 'Metric', value: (row) => row.metric,
      cell: (row) => row.metric } : null,
    hasMachines(rows) ? { key: 'machine', label: 'Machine', value: (row) => row.machine,
      cell: (row) => nameOf(row.machine ?? '', 40) } : null,
    { key: 'base', label: 'Base', number: true, value: (row) => row.base?.value,
      cell: (row) => sideText(core, row, 'base') },
    { key: 'head', label: 'Head', number: true, value: (row) => row.head?.value,
      cell: (row) => sideText(core, row, 'head') },
    { key: 'change', label: 'Change', number: true, value: (row) => row.change, cell: changeText },
    { key: 'interval', label: `90 % interval (bars ±${Math.round(reach * 100)} %)`,
      title: 'Bars have one scale; an arrow stands for what goes beyond it',
      cell: (row) => el('span', { class: 'with-bar' }, intervalBar(row, reach),
        el('span', { class: 'nowrap' }, intervalText(row.interval))) },
    { key: 'launches', label: 'Launches', number: true, value: (row) => row.head?.launches,
      cell: launchesText },
    { key: 'visible', label: 'Could see', number: true, value: (row) => row.detectable,
      cell: visibleText, title: 'The smallest change for the worse that would have been found 4 times in 5' },
  ].filter(Boolean);
}

/* Rows with the place of their benchmark on the page, in the order of attention. */
function rowsOf(core) {
  const place = new Map(core.benchmarks.map((bench, i) => [bench.key, i]));
  return core.comparison.rows.map((row, at) => {
    const benchmark = place.get(row.key) ?? -1;
    return { ...row, at, benchmark, label: core.benchmarks[benchmark]?.label || row.key };
  }).sort((a, b) => rankOf(a.verdict) - rankOf(b.verdict)
    || Math.abs(b.change ?? 0) - Math.abs(a.change ?? 0) || a.at - b.at);
}

/** @returns {{element: Element, update: function}} the section's contents */
export function verdictTable(app) {
  const { core } = app;
  if (!core.comparison && core.no_base)
    return { element: el('p', { class: 'absent' }, `Nothing is compared: ${core.no_base}.`), update: () => {} };
  if (!core.comparison)
    return { element: el('p', { class: 'absent' }, core.runs.length > 1
      ? `Nothing is compared: no base was named. ${app.source.live
        ? 'Choose a base at the top of the page.'
        : 'Write the report with --baseline, or with two runs.'}`
      : 'There is one run, and nothing to compare it with.'), update: () => {} };
  const rows = rowsOf(core);
  let all = false;
  const view = tableView(columnsOf(app, rows), { caption: 'Verdicts', class: 'verdicts',
    empty: 'No row wants attention.', keyOf: (row) => row.key, lit: () => app.litKey(),
    onRow: (row) => row.benchmark >= 0 && app.choose({ key: row.key, uuid: null }) });
  const more = el('p', { class: 'more' }), causes = el('div');
  const { compare } = core.commands ?? {};
  const labelOf = (key) => {
    const { benchmark, label } = rows.find((row) => row.key === key) ?? { benchmark: -1, label: key };
    return benchmark < 0 || app.takesBenchmark(benchmark) ? label : null;
  };
  const update = () => {
    fill(causes, causesView(core.comparison, labelOf, compare ?? null));
    const taken = rows.filter((row) => row.benchmark < 0 || app.takesBenchmark(row.benchmark));
    const wanting = rows.some(wantsAttention) ? taken.filter(wantsAttention) : taken;
    const shown = all ? taken : wanting.slice(0, SHOWN);
    view.setRows(shown);
    fill(more, shown.length < taken.length ? button(`Show all ${taken.length} rows`, () => {
      all = true;
      update();
      view.focusRow(shown.length); /* the button is gone; the first that came reads on */
    }) : null, taken.length < rows.length
      ? el('span', {}, ` The filter leaves out ${rows.length - taken.length} of ${rows.length}.`) : null);
  };
  return { element: el('div', {}, core.comparison.notes?.length
    ? el('ul', { class: 'notes' }, core.comparison.notes.map((note) => el('li', {}, nameOf(note, 600))))
    : null, view.element, more, causes), update, showAll: () => { all = true; update(); } };
}
