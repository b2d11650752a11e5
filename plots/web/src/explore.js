/* SPDX-License-Identifier: MIT */
/* Any metric or parameter over any other: controls, the figure, and its configuration as a file. The
 * figure is the server's; in a file it is made of the numbers there. */
import { button, choice, codeLine, el, fill, refill, tick } from './dom.js';
import { figureCard, forgetFigure, updateFigure } from './figure.js';
import { measureOf } from './data.js';
import { exploreFigure, isDrawn } from './explore_figure.js';
import { TYPES, dimWord, stateOfPreset, titleOf, viewOf } from './preset.js';

const GROUPS = ['kernel', 'variant', 'math', 'device', 'cache', 'fill', 'model', 'run'];
const OWN = '\u0000own';
const SETTINGS = ['type', 'x', 'y', 'group', 'colour', 'size', 'xlog', 'ylog', 'window', 'pareto',
  'legend', 'limit', 'title'];

function namesFor(core, kind) {
  const metrics = core.metrics.filter((metric) => kind !== 'sample' || metric.kind !== 'fact')
    .map((metric) => ({ value: metric.id, text: `${metric.label} (${metric.id})`, group: 'metrics' }));
  const dims = core.parameters.map(({ name }) => ({ text: name, group: 'parameters',
    value: kind === 'dim' ? name : dimWord(core, name) }));
  return kind === 'dim' ? dims : kind === 'sample' ? metrics : [...metrics, ...dims];
}

/* One axis: a list, and where it may be anything a field for an expression. */
function axisControl(app, label, key, kind, value, optional) {
  const options = namesFor(app.core, kind), known = options.some((one) => one.value === value);
  const free = app.source.live && (kind === 'any' || kind === 'value');
  const list = [...(optional ? [{ value: '', text: 'none' }] : []), ...options,
    ...(free ? [{ value: OWN, text: 'an expression …' }] : [])];
  const own = free && value !== '' && !known;
  const field = el('input', { type: 'text', value: own ? value : '', hidden: !own, spellcheck: 'false',
    placeholder: 'p99 / p50', 'aria-label': `${label}: expression`,
    onchange: () => app.state.set({ [key]: field.value.trim() }) });
  const select = choice(label, list, own ? OWN : value, (chosen) => {
    field.hidden = chosen !== OWN;
    if (chosen === OWN)
      field.focus();
    else
      app.state.set({ [key]: chosen });
  });
  return free ? el('div', { class: 'field' }, select, field) : select;
}

/* Why an axis cannot be logarithmic; null where it can, or where the server alone knows. */
function logReason(app, name) {
  const measure = measureOf(app.core, app.table, name);
  const values = measure ? app.rowsNow().map(measure.of).filter(Number.isFinite) : [];
  if (measure && values.length === 0)
    return 'there is no value';
  return values.some((value) => value <= 0) ? 'some values are 0 or less' : null;
}

const WORDS = { scatter: ['x', 'y'], lines: ['x', 'y'] };

function logTicks(app, view, spec) {
  return Object.entries(TYPES[view.type].logs).map(([key, from]) => {
    const reason = logReason(app, view[from]);
    const drawn = spec?.panels?.[0]?.[onScreen(view.type, key)]?.scale === 'log';
    const words = WORDS[view.type]?.[key === 'xlog' ? 0 : 1];
    return tick(words ? `logarithmic ${words}` : 'logarithmic values',
      !reason && (view[key] === '' ? drawn : view[key] === '1'),
      (on) => app.state.set({ [key]: on ? '1' : '0' }), reason);
  });
}

/* Bars, boxes and cumulative lines lie down: their values run along x. */
function onScreen(type, key) {
  return ['bars', 'box', 'violin', 'ecdf'].includes(type) ? 'x' : key === 'xlog' ? 'x' : 'y';
}

function numberField(app, label, key, value, attributes) {
  const box = el('input', { type: 'number', value, ...attributes,
    onchange: () => app.state.set({ [key]: box.value }) });
  return el('label', { class: 'field' }, el('span', {}, label), box);
}

function titleField(app, view) {
  const box = el('input', { type: 'text', value: view.title, maxlength: '120',
    placeholder: titleOf(app.core, view), onchange: () => app.state.set({ title: box.value }) });
  return el('label', { class: 'field wide' }, el('span', {}, 'Title'), box);
}

function controls(app, view, spec) {
  const { core, state } = app, { live } = app.source, kinds = TYPES[view.type];
  const groups = [...GROUPS, ...core.parameters.map(({ name }) => name)];
  return [
    choice('Type', Object.entries(TYPES).filter(([type]) => live || isDrawn(type) || type === view.type)
      .map(([value, { text }]) => ({ value, text })), view.type,
      (type) => state.set({ type, xlog: '', ylog: '' })),
    kinds.x ? axisControl(app, 'X', 'x', kinds.x, view.x) : null,
    axisControl(app, kinds.x ? 'Y' : 'Value', 'y', kinds.y, view.y),
    kinds.group ? choice('Told apart by', [{ value: '', text: 'what fits' },
      ...groups.map((value) => ({ value, text: value }))], view.group,
    (group) => state.set({ group })) : null,
    live && kinds.colour ? axisControl(app, 'Colour', 'colour', 'value', view.colour, true) : null,
    live && kinds.size ? axisControl(app, 'Size', 'size', 'value', view.size, true) : null,
    kinds.window ? numberField(app, 'Moving median of', 'window', view.window,
      { min: '0', max: '64', step: '1' }) : null,
    numberField(app, 'At most', 'limit', view.limit, { min: '0', max: '64', placeholder: 'auto' }),
    titleField(app, view),
    el('div', { class: 'ticks' }, logTicks(app, view, spec),
      live && kinds.pareto ? tick('join what nothing beats', view.pareto === '1',
        (on) => state.set({ pareto: on })) : null,
      tick('legend', view.legend !== '0', (on) => state.set({ legend: on ? '' : '0' }))),
  ];
}

/* A file that was saved before. */
function loadButton(app, say) {
  const input = el('input', { type: 'file', accept: '.json,application/json', class: 'unseen',
    tabindex: '-1', 'aria-label': 'Configuration file', onchange: async () => {
      const [file] = input.files;
      input.value = '';
      try {
        app.state.set({ ...app.noFilters(), ...stateOfPreset(JSON.parse(await file.text())) });
        say('');
      } catch (error) {
        say(error instanceof SyntaxError ? `${file.name} is no JSON: ${error.message}` : error.message);
      }
    } });
  return [button('Load configuration', () => input.click()), input];
}

class Explore {
  constructor(app) {
    this.app = app;
    this.form = el('div', { class: 'controls', role: 'group', 'aria-label': 'What the figure shows' });
    this.place = el('div');
    this.command = el('div', { class: 'explore-command' });
    this.error = el('p', { class: 'error', role: 'alert' });
    const say = (text) => fill(this.error, text);
    this.element = el('div', { class: 'explore' }, this.form,
      el('p', { class: 'buttons' }, button('Save configuration', () => this.save()), ' ',
        loadButton(app, say), ' ', button('Start over', () => app.state.set(
          Object.fromEntries(SETTINGS.map((key) => [key, '']))))), this.error, this.place, this.command);
    this.asked = 0;
  }

  async figure(preset) {
    const { app } = this;
    if (app.source.live)
      return app.source.explore(preset, app.exploreChoice());
    return exploreFigure(app.chart(preset));
  }

  /* Busy until the figure is the one that the state describes. */
  async update() {
    const mine = ++this.asked;
    this.place.setAttribute('aria-busy', 'true');
    try {
      await this.show(mine);
    } finally {
      if (mine === this.asked)
        this.place.removeAttribute('aria-busy');
    }
  }

  async show(mine) {
    const { app } = this;
    await app.ready;
    const view = viewOf(app.core, app.state.all()), preset = app.explorePreset(view);
    const spec = await this.figure(preset).catch((error) => (error.name === 'AbortError' ? null
      : { id: 'view', title: preset.title, alt: error.message, reason: error.message }));
    if (!spec || mine !== this.asked)
      return;
    this.preset = preset;
    await this.draw(view, spec);
  }

  draw(view, spec) {
    const { app } = this;
    refill(this.form, controls(app, view, spec));
    const options = { preset: this.preset, onConfig: () => this.save(),
      onPoint: (mark) => app.choose(mark), how: 'Every control changes what is drawn; the '
      + 'address keeps it, so that a link shows the same.' };
    fill(this.command, el('p', { class: 'muted' }, 'The same as a picture, from the saved configuration:'),
      codeLine(app.plotCommand('view.json'), 'command that draws this figure'));
    if (this.card)
      return updateFigure(this.card, app.named(spec), options);
    this.card = figureCard(app.named(spec), options);
    this.place.append(this.card);
    return Promise.resolve();
  }

  save() {
    const { app } = this;
    app.state.settle(); /* what was typed a moment ago belongs to it */
    const view = viewOf(app.core, app.state.all());
    app.saveView(app.explorePreset(view, true));
  }

  forget() {
    this.asked++;
    if (this.card)
      forgetFigure(this.card);
  }
}

/** @returns {{element: Element, update: function, forget: function}} */
export function explorePanel(app) {
  return new Explore(app);
}

export { SETTINGS };
