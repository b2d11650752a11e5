/* SPDX-License-Identifier: MIT */
/*
 * A figure on the page: title and sentence, legend, the drawing, buttons, how to read it and its
 * numbers as a table. It draws itself when it comes near the screen, follows width and theme, and
 * can be read by keys alone.
 *
 *     const card = figureCard(spec, { how, preset, onConfig });
 *     section.append(card);
 *     updateFigure(card, another);      the same card, other data
 *     forgetFigure(card);               before it is thrown away
 */
import { pointOf, readings, walk } from './a11y.js';
import { button, el, fill, refill, shortText, svg } from './dom.js';
import { saveCsv, savePng, saveSvg } from './download.js';
import { legendOf } from './figure_legend.js';
import { figureTable } from './figure_table.js';
import { rangesOf, scaleRanges } from './figure_zoom.js';
import { figureView, hasView } from './figure_view.js';
import { litShapes } from './lit.js';
import { markOf, withoutGroups } from './marks.js';
import { currentTheme, onThemeChange } from './paint_colours.js';
import { leastWidth } from './paint_layout.js';
import { paint } from './paint.js';
import { loadPlotly } from './plotly.js';

const NEAR = '600px', TABLE_ROWS = 500;
/* Pixels of a sheet between its margins; figure.css makes figures smaller on it where browsers can, so
 * that 28 rows and a caption of three lines fit. */
const PAPER_WIDTH = globalThis.CSS?.supports('zoom', '0.72') ? 920 : 700;
const cards = new WeakMap();
const painted = new Set(); // cards on the page that have been drawn

/**
 * @typedef {object} CardOptions
 * @property {string} [how]  how to read the figure
 * @property {object} [preset]  what draws it again; with onConfig it gets a button
 * @property {function(object, object)} [onConfig]  called with spec and preset
 * @property {function({key: string, uuid: ?string})} [onPoint]  called with what a mark stands for
 *   when that is clicked, or Enter pressed on it
 * @property {string} [heading]  tag of the title, "h3"
 * @property {boolean} [eager]  draw at once
 * @property {function(): Promise<object>} [whole]  all that a figure with a view is a part of
 */

/* The parts of a card that change with its figure. */
function shell(options) {
  return {
    title: el(options.heading || 'h3', { class: 'figure-title' }),
    subtitle: el('p', { class: 'figure-subtitle' }),
    banner: el('p', { class: 'figure-banner' }),
    alt: el('p', { class: 'figure-alt' }),
    legend: el('div', { class: 'figure-legend-place' }),
    plot: el('div', { class: 'figure-plot', role: 'img', tabindex: '0' }),
    drawing: el('div', { class: 'figure-drawing', 'aria-hidden': 'true' }),
    lit: svg('svg', { class: 'figure-lit', 'aria-hidden': 'true' }),
    view: el('div', { class: 'figure-view', hidden: true }),
    reading: el('p', { class: 'figure-reading', 'aria-live': 'polite' }),
    note: el('p', { class: 'figure-note' }),
    tools: el('div', { class: 'figure-tools', role: 'group', 'aria-label': 'This figure' }),
    more: el('div', { class: 'figure-more' }),
  };
}

const say = (element, text) => {
  element.textContent = text || '';
  element.hidden = !text;
};

function tableNode(spec) {
  const { columns, numeric, rows } = figureTable(spec, true);
  const shown = rows.slice(0, TABLE_ROWS);
  const kind = (i) => ({ class: numeric[i] ? 'number' : null });
  const cell = (value, i) => el('td', kind(i), shortText(value ?? '', 160));
  return el('div', { class: 'figure-table', tabindex: '0', role: 'group',
    'aria-label': `Data of ${shortText(spec.title, 80)}` },
  rows.length > shown.length
    ? el('p', {}, `The first ${shown.length} of ${rows.length} rows; the CSV file has all.`) : null,
  el('table', {},
    el('thead', {}, el('tr', {}, columns.map((title, i) =>
      el('th', { scope: 'col', ...kind(i) }, shortText(title, 80))))),
    el('tbody', {}, shown.map((row) => el('tr', {}, row.map(cell))))));
}

const makers = new WeakMap(); // <details> → what makes its content

/** Makes what is folded in a <details> of a card, where that has not been done. */
export function makeFolded(node) {
  const make = makers.get(node);
  makers.delete(node);
  if (make)
    node.append(make());
}

/* Made when it is opened: most never are. */
function details(summary, make, name = null) {
  const node = el('details', { class: name }, el('summary', {}, summary));
  makers.set(node, make);
  node.addEventListener('toggle', () => node.open && makeFolded(node));
  return node;
}

function fillMore(card) {
  const { how } = card.options;
  const parts = [];
  if (how)
    parts.push(details('How to read it', () => el('p', {}, how)));
  if (!card.spec.reason)
    parts.push(details('Data table', () => tableNode(card.spec), 'figure-numbers'));
  fill(card.parts.more, parts);
}

/* A failure to draw or save is said where the reader looks. */
async function attempt(card, what, action) {
  try {
    await action();
  } catch (error) {
    say(card.parts.banner, `${what}: ${error.message}`);
  }
}

function fillTools(card) {
  const { spec, options, parts } = card;
  const named = (label, words, action) => button(label, action,
    { 'aria-label': `${words}: ${shortText(spec.title, 80)}`, title: words });
  const save = (how) => () => attempt(card, 'Not saved', () => how(card.seen, { hidden: card.hidden }));
  const zoomBy = (factor) => () => setRanges(card, scaleRanges(card.seen, card.ranges, factor));
  fill(parts.tools,
    hasView(spec) ? null : el('span', { class: 'zoom' },
      named('+', 'Zoom in', zoomBy(0.5)),
      named('−', 'Zoom out', zoomBy(2)),
      named('Reset', 'Reset the zoom', () => setRanges(card, {})),
      card.panButton),
    el('span', { class: 'save' },
      named('PNG', 'Save as PNG', save(savePng)),
      named('SVG', 'Save as SVG', save(saveSvg)),
      named('CSV', 'Save the numbers as CSV', save(saveCsv)),
      options.onConfig && options.preset
        ? named('Configuration', 'Save the configuration that draws this figure',
          () => options.onConfig(spec, options.preset)) : null));
}

const themeOf = (card) => (card.paper ? 'light' : currentTheme());

function fillLegend(card) {
  const legend = legendOf(card.spec, { theme: themeOf(card), hidden: card.hidden,
    onToggle: (label) => toggle(card, label) });
  refill(card.parts.legend, legend);
}

function toggle(card, label) {
  if (!card.hidden.delete(label))
    card.hidden.add(label);
  card.place = null;
  fillLegend(card);
  draw(card);
}

function setRanges(card, ranges) {
  card.ranges = ranges;
  draw(card);
}

/* Height before it is drawn, so that the page does not jump much. */
function likelyHeight(spec) {
  const columns = spec.columns || 1;
  const row = (panel) => panel.area.height + 70;
  return spec.panels.reduce((sum, panel, i) => sum + (i % columns === 0 ? row(panel) : 0), 0);
}

/* In words around the drawing and for who cannot see it, what is drawn. */
function sayWords({ parts }, spec) {
  say(parts.title, shortText(spec.title, 200));
  say(parts.subtitle, spec.subtitle && shortText(spec.subtitle, 600));
  say(parts.alt, shortText(spec.reason ? `Not drawn: ${spec.reason}` : spec.alt, 1200));
  say(parts.note, spec.caption && shortText(spec.caption, 2000));
  parts.plot.setAttribute('aria-label', shortText(spec.alt || spec.title, 1000)
    + (hasView(spec) ? '' : ' Arrow keys read the values.'));
}

function fillCard(card) {
  const { spec, parts, element } = card;
  element.id = `figure-${spec.id}`;
  element.classList.toggle('is-absent', Boolean(spec.reason));
  say(parts.banner, spec.banner && shortText(spec.banner, 600));
  sayWords(card, spec);
  for (const part of ['plot', 'legend', 'tools', 'reading'])
    parts[part].hidden = Boolean(spec.reason);
  fillMore(card);
  if (spec.reason)
    return;
  if (hasView(spec)) /* its own controls are what is reached and read */
    for (const [name, value] of [['role', 'group'], ['tabindex', '-1']])
      parts.plot.setAttribute(name, value);
  parts.plot.style.minHeight = `${likelyHeight(spec)}px`;
  fillTools(card);
  fillLegend(card);
}

/* Width of the drawing: the card's, or the paper's. */
const widthOf = (card) => Math.max(leastWidth(card.spec),
  Math.floor(card.paper ? PAPER_WIDTH : card.parts.plot.clientWidth));

/* A finger that drags scrolls the page, unless it was told to move the figure. */
const dragOf = (card) => (card.pans ? 'pan' : card.coarse ? false : 'zoom');

/* The next frame, or soon where nobody looks and there are none. */
const frame = () => new Promise((resolve) => {
  requestAnimationFrame(() => setTimeout(resolve));
  setTimeout(resolve, 100);
});

const waiting = new Map(); // card → who waits for it
let working = false;

/* Pixels between the screen's top and a card; below the screen is nearer than above it. */
function distance(card) {
  const { top, bottom } = card.parts.plot.getBoundingClientRect();
  return bottom < 0 ? window.innerHeight - bottom : top;
}

const nearest = () => [...waiting.keys()].reduce((best, card) =>
  (distance(card) < distance(best) ? card : best));

/* What is not seen yet is drawn one a frame, the nearest first: it is looked at while the others
 * are made. */
async function work() {
  if (working)
    return;
  working = true;
  await loadPlotly().catch(() => {}); // each card says what went wrong
  await new Promise((resolve) => setTimeout(resolve)); // all that came near at once are here
  while (waiting.size > 0) {
    const card = nearest(), drawn = waiting.get(card);
    waiting.delete(card);
    await drawNow(card);
    drawn.resolve();
    await frame();
  }
  working = false;
}

function inTurn(card) {
  if (!waiting.has(card)) {
    const drawn = {};
    drawn.promise = new Promise((resolve) => { drawn.resolve = resolve; });
    waiting.set(card, drawn);
    work();
  }
  return waiting.get(card)?.promise;
}

function draw(card) {
  if (card.spec.reason || !card.isNear)
    return Promise.resolve();
  return painted.has(card) ? drawNow(card) : inTurn(card);
}

/* A view stays as it is while the reader explores it. */
async function showView(card) {
  const key = [currentTheme(), ...card.hidden].join('\n');
  if (card.viewed?.spec !== card.spec || card.viewed.key !== key) {
    card.viewed = { spec: card.spec, key };
    fill(card.parts.view, figureView(card.spec, card.hidden, await card.options.whole?.()));
  }
  card.parts.plot.style.minHeight = '';
  painted.add(card);
  card.element.dataset.painted = 'true';
}

async function drawNow(card) {
  if (card.spec.reason || card.parts.plot.clientWidth < 40)
    return;
  const explored = hasView(card.spec) && !card.paper;
  card.parts.view.hidden = !explored;
  card.parts.drawing.hidden = explored;
  if (explored) {
    await attempt(card, 'Not drawn', () => showView(card));
    return;
  }
  const width = widthOf(card);
  card.width = width;
  await attempt(card, 'Not drawn', async () => {
    card.seen = withoutGroups(card.spec, card.hidden, card.options.preset?.title);
    sayWords(card, card.seen);
    card.drawn = await paint(card.parts.drawing, card.seen, {
      width, hidden: card.hidden, ranges: card.ranges, drag: dragOf(card),
      theme: themeOf(card),
    });
    lightCard(card);
    card.parts.plot.style.minHeight = '';
    listen(card);
    painted.add(card);
    card.element.dataset.painted = 'true';
  });
}

/* Plotly's own events, once there is a graph. */
function listen(card) {
  if (card.listens)
    return;
  card.listens = true;
  const graph = card.parts.drawing;
  graph.on('plotly_relayout', (change) => {
    const ranges = rangesOf(card.seen, change);
    if (ranges)
      setRanges(card, { ...card.ranges, ...ranges });
  });
  graph.on('plotly_doubleclick', () => setRanges(card, {}));
  graph.on('plotly_click', ({ points: [point] }) =>
    choose(card, point.data.meta, point.customdata));
}

function choose(card, { panel: index, layer }, item) {
  const panel = card.seen.panels[index];
  if (!card.options.onPoint || !panel?.layers[layer] || item === null)
    return;
  const mark = markOf(card.seen, panel, panel.layers[layer], item);
  if (mark)
    card.options.onPoint(mark);
}

let litKey = '';

/* Shapes over the drawing, at the marks of the benchmark that is lit. */
function lightCard(card) {
  const { lit } = card.parts, shapes = litKey && card.drawn && !card.paper
    ? litShapes(card.seen, card.drawn.panels, litKey) : [];
  if (shapes.length === 0 && !lit.childElementCount)
    return;
  if (card.drawn)
    for (const [name, value] of [['width', card.drawn.width], ['height', card.drawn.height]])
      lit.setAttribute(name, value);
  fill(lit, shapes);
  card.element.classList.toggle('has-lit', shapes.length > 0);
}

/** Lights a benchmark in every figure that is drawn, and in those that will be. @param {string} key
 * "" puts all out */
export function lightFigures(key) {
  litKey = key;
  painted.forEach(lightCard);
}

/* Shows and says the datum that the arrow keys have reached. */
function visit(card, list) {
  const series = list[card.place.series];
  const item = series.items[card.place.at];
  say(card.parts.reading, shortText(series.texts[card.place.at], 600));
  const graph = card.parts.drawing;
  const point = graph.data && pointOf(graph.data, series.panel, series.layer, item);
  if (point) {
    const { xaxis, yaxis } = graph.data[point.curveNumber];
    window.Plotly.Fx.hover(graph, [point], xaxis + yaxis);
  }
  return { ...series, item };
}

function onKey(card, event) {
  if (event.target !== card.parts.plot || event.ctrlKey || event.metaKey || event.altKey)
    return;
  const list = readings(card.seen, card.hidden);
  const next = walk(list, card.place, event.key);
  if (next) {
    card.place = next;
    visit(card, list);
  } else if (event.key === 'Enter' && card.place) {
    const { panel, layer, item } = visit(card, list);
    choose(card, { panel, layer }, item);
  } else if (event.key === '+' || event.key === '-') {
    setRanges(card, scaleRanges(card.seen, card.ranges, event.key === '+' ? 0.5 : 2));
  } else if (event.key === '0') {
    setRanges(card, {});
  } else {
    return;
  }
  event.preventDefault();
}

function panButton(card) {
  const node = button('Pan', () => {
    card.pans = !card.pans;
    node.setAttribute('aria-pressed', String(card.pans));
    draw(card);
  }, { 'aria-pressed': 'false', title: 'Dragging moves the figure instead of zooming into it' });
  return node;
}

/* Near the screen it is drawn; when its width changes it is drawn anew. */
function watch(card) {
  const { plot } = card.parts;
  card.observers = [
    new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting) || card.isNear)
        return;
      card.isNear = true;
      draw(card);
    }, { rootMargin: NEAR }),
    new ResizeObserver(() => {
      const changed = !card.spec.reason && Math.abs(widthOf(card) - (card.width || 0)) > 1;
      if (card.isNear && changed)
        requestAnimationFrame(() => draw(card));
    }),
  ];
  card.observers.forEach((observer) => observer.observe(plot));
}

/**
 * @param {object} spec  a figure; with a reason the card says it
 * @param {CardOptions} options
 * @returns {HTMLElement} a <figure>
 */
export function figureCard(spec, options = {}) {
  const parts = shell(options);
  parts.plot.append(parts.drawing, parts.lit, parts.view);
  const element = el('figure', { class: 'figure' },
    el('figcaption', {}, parts.title, parts.subtitle, parts.banner, parts.alt),
    el('div', { class: 'figure-bar' }, parts.legend, parts.tools),
    parts.plot, parts.reading, parts.note, parts.more);
  const card = { spec, seen: spec, options, parts, element, hidden: new Set(), ranges: {}, place: null,
    isNear: Boolean(options.eager), coarse: window.matchMedia('(pointer: coarse)').matches };
  card.panButton = panButton(card);
  cards.set(element, card);
  parts.plot.addEventListener('keydown', (event) => onKey(card, event));
  fillCard(card);
  watch(card);
  return element;
}

/** Shows another figure in the same card; the reader's zoom goes, switched off series stay so. */
export function updateFigure(element, spec, options) {
  const card = cards.get(element);
  Object.assign(card.options, options);
  card.spec = card.seen = spec;
  card.ranges = {};
  card.place = null;
  fillCard(card);
  return draw(card);
}

/** Lets go of a card that is taken off the page. */
export function forgetFigure(element) {
  const card = cards.get(element);
  card?.observers.forEach((observer) => observer.disconnect());
  if (card && painted.delete(card))
    window.Plotly.purge(card.parts.drawing);
}

/** Draws a card wherever it stands. @returns {Promise<void>} when that is done */
export function drawFigure(element) {
  const card = cards.get(element);
  card.isNear = true;
  return painted.has(card) ? Promise.resolve() : draw(card) || Promise.resolve();
}

/** Draws the cards of a part of the page for paper, or for the screen again; those that were not drawn
 * yet too. Nothing is waited for: it is done when this returns. */
export function drawOnPaper(within, paper) {
  for (const element of within.querySelectorAll('figure.figure:not(.is-absent)')) {
    const card = cards.get(element);
    if (!card || (!paper && !card.paper) || !window.Plotly)
      continue;
    card.paper = paper;
    card.isNear = true;
    fillLegend(card);
    waiting.get(card)?.resolve();
    waiting.delete(card);
    drawNow(card);
  }
}

function drawAll() {
  for (const card of painted) {
    fillLegend(card);
    draw(card);
  }
}

if (typeof window !== 'undefined') {
  loadPlotly().catch(() => {}); // while the page is made; each card says what went wrong
  onThemeChange(drawAll);
}
