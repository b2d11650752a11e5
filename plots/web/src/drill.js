/* SPDX-License-Identifier: MIT */
/* One benchmark to the bottom: both sides' samples, facts, and what to type to see them elsewhere. */
import { button, choice, codeLine, el, fill, nameOf, shortText } from './dom.js';
import { figureCard, forgetFigure, updateFigure } from './figure.js';
import { iterationsFigure, orderFigure, shapeFigure, sharesFigure } from './sample_figures.js';
import { bytesText, plainText, quantityUnitText, rateText, shareText, timestampText } from './words.js';
import { changeText, hasMachines, intervalText, launchesText, signOf, toneOf, visibleText,
  wordOf } from './verdict_words.js';
import { fillCommand } from './shell.js';

const WINDOWS = ['0', '5', '15', '31', '63'], WINDOW = '15';
const FIGURES = [
  { make: sharesFigure, how: 'A curve further left is faster. A gap of even width is a change of every '
    + 'sample; curves that part only at the top differ in the tail.' },
  { make: shapeFigure, how: 'Two humps are two modes: two clock states, two placements.' },
  { make: iterationsFigure, how: 'Warm-up that never ended, drift and outliers are seen here. Each '
    + 'launch is a fresh process.' },
  { make: orderFigure, how: 'Both sides in one row of time: a slope over all is the machine.' },
];

/* The two runs that are put beside each other. */
function sidesOf(app, run) {
  const { core } = app, wanted = run ?? core.head;
  const others = [core.base, core.head].filter((one) => one !== null && one !== undefined && one >= 0);
  const sides = [...new Set(wanted === core.head ? others : [wanted, core.head])];
  return sides.filter((one) => one >= 0);
}

/* "median latency", and its value on each side. */
function metricRows(app, rows) {
  return app.core.metrics.map((metric) => {
    const values = rows.map((row) => (row ? app.table.columns[metric.id]?.[row.at] ?? null : null));
    if (values.every((value) => value === null))
      return null;
    return el('tr', {}, el('th', { scope: 'row' }, metric.label, ' ',
      el('small', { class: 'muted' }, metric.id)),
    values.map((value) => el('td', { class: 'number' }, value === null ? ''
      : quantityUnitText(metric.quantity, metric.base, value * (metric.factor || 1)))));
  }).filter(Boolean);
}

const SAMPLE_FACTS = [
  ['launches', (samples) => samples.launches.length],
  ['samples', (samples) => (samples.of > samples.kept ? `${samples.of}, ${samples.kept} of them here`
    : samples.of)],
  ['kernel launches in a sample', (samples) => samples.batch],
  ['clock', (samples) => samples.clock],
  ['measured', (samples) => timestampText(samples.started_ms?.[0] ?? NaN)],
];

/* What is known of the first launch's measurement. */
const FACTS = [
  ['stop', 'ended by', String],
  ['warmups', 'warm-up launches', plainText],
  ['max_error', 'largest error, of the rms', plainText],
  ['tolerance', 'tolerance', plainText],
  ['checked', 'elements checked', shareText],
  ['flops', 'work', (value) => rateText(value, 'FLOP')],
  ['bytes', 'compulsory traffic', bytesText],
  ['footprint', 'size of the tensors', bytesText],
];

function sampleRows(samples) {
  const row = (name, of) => el('tr', {}, el('th', { scope: 'row' }, name),
    samples.map((one) => el('td', { class: 'number' }, one ? shortText(of(one) ?? '', 60) : '')));
  const facts = FACTS.filter(([key]) => samples.some((one) => (one?.facts?.[key] ?? null) !== null));
  return [...SAMPLE_FACTS.map(([name, of]) => row(name, of)), ...facts.map(([key, name, text]) =>
    row(name, ({ facts: own }) => ((own?.[key] ?? null) === null ? '' : text(own[key]))))];
}

function factsTable(app, benchmark, sides, samples) {
  const rows = sides.map((run) => app.rowOf(run, benchmark));
  const outcome = el('tr', {}, el('th', { scope: 'row' }, 'outcome'),
    rows.map((row) => el('td', { class: 'number' }, row ? row.outcome : 'not measured')));
  return el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Facts' },
    el('table', { class: 'facts' }, el('caption', { class: 'unseen' }, 'Facts of both sides'),
      el('thead', {}, el('tr', {}, el('td'), sides.map((run) => el('th', { scope: 'col' },
        nameOf(app.core.runs[run].name, 40), ' ', el('small', { class: 'muted' }, sideName(app, run)))))),
      el('tbody', {}, outcome, metricRows(app, rows), sampleRows(samples))));
}

function sideName(app, run) {
  return run === app.core.base ? 'base' : run === app.core.head ? 'head' : '';
}

/* What was decided about it. */
function verdictLine(app, bench) {
  const rows = app.core.comparison?.rows.filter((row) => row.key === bench.key) || [];
  const machines = hasMachines(rows);
  return rows.map((row) => el('p', { class: `answer ${toneOf(row.verdict)}` },
    el('b', {}, `${signOf(row.verdict)} ${wordOf(row.verdict, row.metric)}`),
    ` ${[machines && row.machine, row.metric, changeText(row), intervalText(row.interval)
      && `90 % interval ${intervalText(row.interval)}`, `launches ${launchesText(row)}`,
    Number.isFinite(row.q ?? NaN) ? `q ${row.q.toPrecision(2)}` : '',
    visibleText(row) && `could have seen ${visibleText(row)}`, row.why, row.accepted]
      .filter(Boolean).map((text) => shortText(text, 200)).join(' · ')}`));
}

const COMMANDS = [
  ['run_one', 'Measure it again'],
  ['compare', 'Compare it alone'],
  ['show', 'The run, with all samples, as JSON'],
  ['samples', 'Its raw samples, by SQL from the history'],
];

function commandLines(app, bench, sides) {
  const run = app.core.runs[sides[sides.length - 1]];
  const values = { key: bench.key, run: run.id, uuid: run.uuid };
  const lines = COMMANDS.filter(([id]) => app.core.commands?.[id]).map(([id, what]) => [
    el('h4', {}, what), codeLine(fillCommand(app.core.commands[id], values, id === 'samples'), what)]);
  return lines.length ? el('div', { class: 'commands' }, lines) : null;
}

class Drill {
  constructor(app) {
    this.app = app;
    this.cards = [];
    this.body = el('div', { class: 'drill-body' });
    this.title = el('h2', { id: 'drill-title' });
    this.dialog = el('dialog', { class: 'drill', 'aria-labelledby': 'drill-title',
      onclose: () => this.closed(), onclick: (event) => event.target === this.dialog
        && this.dialog.close() }, el('div', { class: 'drill-head' }, this.title,
      button('Close', () => this.dialog.close(), { class: 'close' })), this.body);
    this.asked = 0;
  }

  /** @param {number} benchmark @param {number} [run]  index; the head where there is none */
  async open(benchmark, run) {
    const mine = ++this.asked, { app } = this, bench = app.core.benchmarks[benchmark];
    const uuid = app.core.runs[run]?.uuid;
    this.forget();
    fill(this.title, nameOf(bench.label, 120));
    fill(this.body, el('p', { class: 'key' }, nameOf(bench.key, 1000)), verdictLine(app, bench),
      el('p', { role: 'status' }, 'Reading the samples …'));
    if (!this.dialog.open)
      this.dialog.showModal();
    try {
      await app.numbers();
      const at = app.benchmarkOf(bench.key), there = app.runOfUuid(uuid); /* in what is here by now */
      if (at < 0)
        throw new Error('the filter leaves it out');
      const sides = sidesOf(app, there < 0 ? undefined : there);
      const samples = await Promise.all(sides.map((side) => app.samples(side, at)));
      if (mine === this.asked && this.dialog.open)
        this.fill(bench, at, sides, samples, mine);
    } catch (error) {
      if (error.name !== 'AbortError' && mine === this.asked)
        fill(this.body, el('p', { class: 'error' }, `The samples could not be read: ${error.message}`));
    }
  }

  fill(bench, benchmark, sides, samples, mine) {
    const { app } = this, places = FIGURES.map(() => el('div', { class: 'slot' }));
    this.sides = sides.map((run, i) => ({ name: app.core.runs[run].name, uuid: app.core.runs[run].uuid,
      bench, samples: samples[i], live: app.source.live }));
    fill(this.body, el('p', { class: 'key' }, nameOf(bench.key, 1000)), verdictLine(app, bench),
      el('div', { class: 'two' }, places.slice(0, 2)), this.windowChoice(places[2]),
      places.slice(2), el('h3', {}, 'Facts'), factsTable(app, benchmark, sides, samples),
      el('h3', {}, 'Elsewhere'), commandLines(app, bench, sides)
        || el('p', { class: 'muted' }, 'There is no history that commands could read.'));
    FIGURES.forEach((info, i) => fill(places[i], this.card(info)));
    if (app.source.live && app.core.metrics.length > 0)
      this.addHistory(bench, mine);
  }

  card({ make, how }) {
    const card = figureCard(this.app.named(make(this.sides, Number(WINDOW))), { how, heading: 'h3', eager: true });
    this.cards.push(card);
    return card;
  }

  /* Any metric over the whole history, in front of the rest, which does not move when it comes: its place
   * is kept. Where it cannot be had the rest stays, and the place goes. */
  addHistory(bench, mine) {
    const place = el('div', { class: 'slot is-kept' }), problem = el('p', { class: 'error', role: 'alert' });
    const fail = ({ name, message }) => {
      if (name === 'AbortError')
        return;
      fill(problem, `The history could not be read: ${message}`);
      place.classList.remove('is-kept');
    };
    const show = (metric) => this.showHistory(place, bench, metric, mine).then(() => fill(problem), fail);
    const metrics = this.app.core.metrics.map(({ id, label }) => ({ value: id, text: `${label} (${id})` }));
    const first = metrics.some(({ value }) => value === 'p50') ? 'p50' : metrics[0].value;
    this.body.querySelector('.two').before(choice('Over all runs', metrics, first, show), problem, place);
    show(first);
  }

  async showHistory(place, bench, metric, mine) {
    const { app } = this, spec = app.named(await app.source.history(bench.key, metric));
    if (mine !== this.asked)
      return;
    if (spec.reason) /* a line that says why there is no figure */
      place.classList.remove('is-kept');
    if (place.firstElementChild) {
      await updateFigure(place.firstElementChild, spec);
      return;
    }
    const card = figureCard(spec, { heading: 'h3', eager: true });
    this.cards.push(card);
    place.append(card);
  }

  windowChoice(place) {
    return choice('Moving median of', WINDOWS.map((value) => ({ value, text: value === '0' ? 'none'
      : `${value} samples` })), WINDOW, (window) => updateFigure(place.firstElementChild,
      this.app.named(iterationsFigure(this.sides, Number(window)))));
  }

  forget() {
    this.cards.forEach(forgetFigure);
    this.cards = [];
  }

  closed() {
    this.asked++;
    this.forget();
    fill(this.body);
    this.app.drillClosed();
  }
}

/** @returns {{dialog: Element, open: function(number, number)}} */
export function drillDialog(app) {
  return new Drill(app);
}
