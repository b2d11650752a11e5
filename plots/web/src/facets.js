/* SPDX-License-Identifier: MIT */
/* Filters: a condition to type, checkboxes for what benchmarks differ in, a range of a metric. */
import { button, choice, el, fill, refill, shortText } from './dom.js';
import { formatList } from './state.js';
import { dimsOf, metricOf } from './data.js';
import { unitFor } from './axis.js';

const FIELDS = ['kernel', 'variant', 'math', 'device', 'cache', 'fill'];
const VALUES_MAX = 24;

/* Values that at least two benchmarks tell apart. */
function facetsOf(benchmarks) {
  const facet = (name, valueOf) => ({ name, values: [...new Set(benchmarks.map(valueOf))]
    .filter((value) => value !== undefined).sort((a, b) => (a > b) - (a < b)) });
  return [...FIELDS.map((name) => facet(name, (bench) => bench[name])),
    ...dimsOf({ benchmarks }).map((name) => facet(name, (bench) => bench.dims[name]))]
    .filter(({ values }) => values.length > 1);
}

function facetBox(state, { name, values }) {
  const picked = () => new Set((state.picks()[name] || []).map(String));
  const change = (value, on) => {
    const next = picked();
    next[on ? 'add' : 'delete'](String(value));
    state.set({ [`pick.${name}`]: formatList(values.map(String).filter((one) => next.has(one))) });
  };
  const chosen = picked();
  const boxes = values.slice(0, VALUES_MAX).map((value) => {
    const box = el('input', { type: 'checkbox', checked: chosen.has(String(value)),
      onchange: () => change(value, box.checked) });
    return el('label', { class: 'tick' }, box, el('span', {}, shortText(value, 40)));
  });
  return el('fieldset', { class: 'facet' }, el('legend', {}, name), boxes,
    values.length > VALUES_MAX ? el('small', { class: 'muted' },
      `${values.length - VALUES_MAX} more: type ${name} = …`) : null);
}

/* The unit in which a range of a metric is typed: that of its median value. */
function rangeUnit(metric, values) {
  const real = values.filter(Number.isFinite).map(Math.abs).sort((a, b) => a - b);
  return unitFor(metric.quantity, metric.base, real[Math.floor(real.length / 2)] || 1);
}

function rangeBox(app) {
  const { state, core } = app, id = state.get('metric'), metric = metricOf(core, id);
  const metrics = core.metrics.map((one) => ({ value: one.id, text: `${one.id}: ${one.label}` }));
  const unit = metric ? rangeUnit(metric, app.metricValues(id)) : null;
  const input = (key, label) => {
    const value = state.get(key) === '' ? '' : String(Number((Number(state.get(key))
      / unit.factor).toPrecision(6)));
    const box = el('input', { type: 'number', step: 'any', value, 'aria-label': label,
      onchange: () => state.set({ [key]: box.value === '' ? '' : Number(box.value) * unit.factor }) });
    return el('label', { class: 'field' }, el('span', {}, label), box);
  };
  return el('fieldset', { class: 'facet range' }, el('legend', {}, 'metric'),
    choice('Metric', [{ value: '', text: 'any' }, ...metrics], id,
      (value) => state.set({ metric: value, min: '', max: '' })),
    metric ? [input('min', `from${unit.name ? ` (${unit.name})` : ''}`),
      input('max', `to${unit.name ? ` (${unit.name})` : ''}`)] : null);
}

/** The field for conditions and words, with the error of what is no condition. */
export function searchBox(app) {
  const { state } = app;
  const error = el('p', { class: 'error', role: 'alert', id: 'where-error' });
  const input = el('input', { type: 'search', value: state.get('where'), id: 'where',
    'aria-describedby': 'where-error', autocomplete: 'off', spellcheck: 'false',
    placeholder: 'words of a name, or: batch >= 4 and variant = simd',
    oninput: () => state.soon({ where: input.value }, 200) });
  /* What is being typed stays; all else may have come from the address or a configuration. */
  const follow = () => {
    if (!state.waits('where') && input.value !== state.get('where'))
      input.value = state.get('where');
  };
  const update = (problem) => {
    follow();
    input.setAttribute('aria-invalid', String(Boolean(problem)));
    fill(error, problem);
  };
  return { element: el('div', { class: 'search' }, el('label', { for: 'where' }, 'Filter'), input,
    error), update, follow };
}

/** All checkboxes, and a button that undoes them. */
export function facetPanel(app) {
  const { state } = app;
  const body = el('div', { class: 'facets' }), summary = el('summary', {}, 'Filters');
  const element = el('details', { class: 'picker' }, summary, body);
  const update = () => {
    const picks = Object.keys(state.picks()).length + (state.get('metric') ? 1 : 0);
    summary.textContent = picks ? `Filters: ${picks} set` : 'Filters';
    refill(body, facetsOf(app.knownBenchmarks()).map((facet) => facetBox(state, facet)), rangeBox(app),
      el('p', { class: 'buttons' }, button('Clear filters', () => app.clearFilters())));
  };
  return { element, update };
}
