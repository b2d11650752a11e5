/* SPDX-License-Identifier: MIT */
/*
 * The exploration's view as a preset (harness/chart/preset.h), and back: what `harness plot
 * --config FILE` draws. Keys that begin with "_" are comments.
 */
import { formatHash, parseHash, picksOf } from './state.js';
import { globText } from './glob.js';
import { quoted } from './filter_words.js';

/** The types, and which of the controls each has. `x` and `y` say what may stand there. */
export const TYPES = {
  scatter: { text: 'scatter', x: 'any', y: 'any', group: true, colour: true, size: true, pareto: true,
    logs: { xlog: 'x', ylog: 'y' } },
  lines: { text: 'line', x: 'dim', y: 'any', logs: { xlog: 'x', ylog: 'y' } },
  bars: { text: 'bar', y: 'any', group: true, logs: { ylog: 'y' } },
  box: { text: 'box', y: 'sample', group: true, logs: { ylog: 'y' } },
  violin: { text: 'violin', y: 'sample', group: true, logs: { ylog: 'y' } },
  ecdf: { text: 'cumulative (ECDF)', y: 'sample', logs: { xlog: 'y' } },
  heatmap: { text: 'heatmap', x: 'dim', y: 'any', logs: {} },
  iterations: { text: 'iterations in order', y: 'sample', window: true, logs: { ylog: 'y' } },
};

const VIEW = ['runs', 'where', 'metric', 'min', 'max'];

/** What the exploration shows before anything is chosen. */
function defaultView(core) {
  const has = (id) => core.metrics.some((metric) => metric.id === id);
  const models = core.benchmarks.every((bench) => bench.model);
  return { type: 'scatter', x: has('p50') ? 'p50' : core.metrics[0]?.id || '',
    y: [...(models ? ['tokens'] : []), 'gflops', 'gbs', 'p95'].find(has) || core.metrics[0]?.id || '' };
}

/* A type's own first choice where the state has none, or one that cannot stand there. */
function axisChoice(core, kind, wanted, otherwise) {
  const metric = core.metrics.find((one) => one.id === wanted);
  const dims = core.parameters.map((one) => one.name);
  if (kind === 'dim')
    return dims.includes(wanted) ? wanted
      : ['batch', 'seq'].find((dim) => dims.includes(dim)) || dims[0] || '';
  if (kind === 'sample')
    return metric && metric.kind !== 'fact' ? wanted : 'p50';
  return wanted || otherwise;
}

/** @returns {object} the view that a state describes: type, x, y and the rest, nothing missing */
export function viewOf(core, state) {
  const first = defaultView(core);
  const type = Object.hasOwn(TYPES, state.type) ? state.type : first.type, kinds = TYPES[type];
  const heat = type === 'heatmap' && state.x === '';
  return {
    type,
    x: kinds.x ? axisChoice(core, kinds.x, heat ? 'seq' : state.x, first.x) : '',
    y: axisChoice(core, kinds.y, state.y, type === 'scatter' ? first.y : 'p50'),
    group: kinds.group ? state.group : '',
    colour: kinds.colour ? state.colour : '',
    size: kinds.size ? state.size : '',
    xlog: kinds.logs.xlog ? state.xlog : '',
    ylog: kinds.logs.ylog ? state.ylog : '',
    window: kinds.window ? state.window || '5' : '',
    pareto: kinds.pareto ? state.pareto : '',
    legend: state.legend,
    limit: state.limit,
    title: state.title,
  };
}

function labelOf(core, name) {
  return core.metrics.find((metric) => metric.id === name)?.label || name;
}

/** A title where the reader gave none. */
export function titleOf(core, view) {
  const y = labelOf(core, view.y);
  const text = { scatter: `${y} over ${labelOf(core, view.x)}`, lines: `${y} over ${view.x}`,
    bars: y, box: `Distribution of ${y}`, violin: `Distribution of ${y}`,
    ecdf: `Cumulative distribution of ${y}`, heatmap: `${y} over batch and ${view.x}`,
    iterations: `${y} in the order measured` }[view.type];
  return view.title || text[0].toUpperCase() + text.slice(1);
}

/* A dim that a metric has the name of: "n" is the number of samples, "dim_n" the dim. */
const DIM = 'dim_';

/** How a dim is written where a metric may stand too. */
export const dimWord = (core, name) => (core.metrics.some((metric) => metric.id === name)
  ? DIM + name : name);

export const dimOf = (word) => (word.startsWith(DIM) ? word.slice(DIM.length) : word);

const scaleWord = { '': undefined, 1: 'log', 0: 'linear' };

/** @param {string[]} [filter]  globs over keys @returns {object} the preset without comments */
export function presetOf(core, view, several, filter) {
  const preset = {
    name: 'view', title: titleOf(core, view), type: view.type, mode: several ? 'multi' : 'single',
    section: 'speed', x: view.type === 'lines' ? dimWord(core, view.x) : view.x, y: view.y, group: view.group, colour: view.colour, size: view.size,
    x_scale: scaleWord[view.xlog], y_scale: scaleWord[view.ylog], filter,
    limit: Number(view.limit) || undefined, rolling_window: Number(view.window) || undefined,
    highlight_pareto: view.pareto === '1' || undefined,
    show_legend: view.legend === '0' ? false : undefined,
  };
  return Object.fromEntries(Object.entries(preset)
    .filter(([, value]) => value !== undefined && value !== '' && value !== null));
}

/** Keys as a preset's filter. */
export const keyFilter = (keys) => keys.map((key) => globText(key.replaceAll('\\', '\\\\')));

function whyOf(core, preset) {
  const unit = (name) => core.metrics.find((metric) => metric.id === name)?.unit;
  const word = (name) => (core.metrics.some((metric) => metric.id === name)
    ? `${labelOf(core, name)}, ${unit(name)}` : `the parameter or expression ${name}`);
  const why = {
    x: (value) => `across: ${word(value)}`,
    y: (value) => `the value: ${word(value)}`,
    group: (value) => `told apart by ${value}`,
    colour: (value) => `colour of points: ${word(value)}`,
    size: (value) => `size of points: ${word(value)}`,
    x_scale: () => 'leave it out and the axis is logarithmic where values span more than 50 times',
    y_scale: () => 'leave it out and the axis is logarithmic where values span more than 50 times',
    filter: (value) => `the ${value.length} that the filter of the view left`,
    rolling_window: () => 'samples under the moving median',
    highlight_pareto: () => 'joins what nothing beats in both',
  };
  return (key) => (why[key] ? why[key](preset[key]) : null);
}

/**
 * The file that "save configuration" writes.
 * @param {object} preset  see presetOf(); one of the program's own is fine too
 * @param {{command: string, hash: string, note: string}} from  what draws it, and the view
 */
export function configText(core, preset, { command, hash, note }) {
  const why = whyOf(core, preset);
  const lines = { _why: [`Saved from "${core.title}".`, `Draw it again: ${command}`, note]
    .filter(Boolean) };
  for (const [key, value] of Object.entries(preset)) {
    if (why(key))
      lines[`_why_${key}`] = why(key);
    lines[key] = value;
  }
  if (hash)
    lines._view = hash;
  return `${JSON.stringify(lines, null, 2)}\n`;
}

/* Globs of a preset as a condition. */
function filterText(filter) {
  const values = (globs) => globs.flatMap((glob) => (glob.endsWith('*') ? [glob] : [glob, `${glob}/*`]))
    .map(quoted).join(', ');
  const wanted = filter.filter((glob) => !glob.startsWith('!'));
  const unwanted = filter.filter((glob) => glob.startsWith('!')).map((glob) => glob.slice(1));
  return [wanted.length ? `key = ${values(wanted)}` : '',
    unwanted.length ? `key != ${values(unwanted)}` : ''].filter(Boolean).join(' and ');
}

/* Where the file has the view's own filter, that is better than the globs made of it. */
function filterState(json) {
  if (typeof json._view === 'string') {
    const view = parseHash(json._view);
    const picks = Object.fromEntries(Object.keys(picksOf(view))
      .map((key) => [`pick.${key}`, view[`pick.${key}`]]));
    return { ...Object.fromEntries(VIEW.map((key) => [key, view[key]])), ...picks };
  }
  return { where: filterText([].concat(json.filter ?? [])) };
}

/**
 * Reads a saved configuration.
 * @param {object} json
 * @returns {object} changes of the state
 * @throws {Error} with a sentence for what is none
 */
export function stateOfPreset(json) {
  const preset = json?.type ? json : json?.presets?.find((one) => one && typeof one === 'object');
  if (!preset?.type)
    throw new Error('This is no configuration: it has neither a "type" nor "presets".');
  if (!Object.hasOwn(TYPES, preset.type))
    throw new Error(`The page cannot draw the type "${String(preset.type).slice(0, 40)}"; it can draw ${
      Object.keys(TYPES).join(', ')}.`);
  const text = (key) => (typeof preset[key] === 'string' ? preset[key] : '');
  const scale = (key) => ({ log: '1', linear: '0' }[preset[key]] ?? '');
  return {
    type: preset.type, x: preset.type === 'lines' ? dimOf(text('x')) : text('x'), y: text('y'), group: text('group'), colour: text('colour'),
    size: text('size'), title: text('title'), xlog: scale('x_scale'), ylog: scale('y_scale'),
    window: preset.rolling_window ? String(preset.rolling_window) : '',
    pareto: preset.highlight_pareto === true ? '1' : '',
    legend: preset.show_legend === false ? '0' : '', limit: preset.limit ? String(preset.limit) : '',
    ...filterState(preset),
  };
}

/** The hash of those parts of a state that a saved view is restored from. */
export function viewHash(state) {
  return formatHash(Object.fromEntries(Object.entries(state)
    .filter(([key]) => VIEW.includes(key) || key.startsWith('pick.'))));
}
