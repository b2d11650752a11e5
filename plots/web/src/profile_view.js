/* SPDX-License-Identifier: MIT */
/* A profile on the page: cards, figures, bottlenecks, timeline, table. */
import { button, el, fill, nameOf, svg } from './dom.js';
import { figureCard } from './figure.js';
import { card } from './profile_answer.js';
import { styleOf, GREY } from './spec.js';
import { callsFigure, memoryFigure, partsFigure, timeFigure } from './profile_figures.js';
import { profileEntries, summarise } from './profile_data.js';
import { profileLanes } from './trace_data.js';
import { tableView } from './table_view.js';
import { timelineView } from './timeline.js';
import { bytesText, shareText, timeText } from './words.js';

const SLICES = 6, TOP = 5, RADIUS = 90;

function cards(entries, summary) {
  const total = entries.reduce((sum, entry) => sum + entry.duration, 0);
  return el('div', { class: 'cards' }, card('operations', entries.length),
    card('different ones', summary.length), card('total time', timeText(total)),
    card('average time', timeText(total / entries.length)));
}

/* The smallest shares together are one slice. */
function slicesOf(summary) {
  const main = summary.slice(0, SLICES).map((row, nth) => ({ name: row.operation, share: row.share,
    style: styleOf(nth) }));
  const rest = summary.slice(SLICES).reduce((sum, row) => sum + row.share, 0);
  return rest > 0 ? [...main, { name: `${summary.length - SLICES} others`, share: rest,
    style: { colour: GREY } }] : main;
}

function slicePath(from, to) {
  const point = (share) => [RADIUS * Math.sin(2 * Math.PI * share), -RADIUS * Math.cos(2 * Math.PI * share)]
    .map((value) => value.toFixed(2)).join(' ');
  if (to - from > 0.9999)
    return `M0 ${-RADIUS}A${RADIUS} ${RADIUS} 0 1 1 -0.01 ${-RADIUS}Z`;
  return `M0 0L${point(from)}A${RADIUS} ${RADIUS} 0 ${to - from > 0.5 ? 1 : 0} 1 ${point(to)}Z`;
}

function pie(summary) {
  let from = 0;
  const slices = slicesOf(summary), list = el('ol', { class: 'pie-names' });
  const paths = slices.map((slice, nth) => {
    const to = Math.min(1, from + slice.share), middle = (from + to) / 2;
    const path = [svg('path', { d: slicePath(from, to), fill: slice.style.colour,
      'fill-opacity': nth < 4 || slice.style.colour === GREY ? 1 : 0.6, class: 'pie-slice' }),
    slice.share > 0.05 ? svg('text', { class: 'pie-number', 'text-anchor': 'middle',
      x: RADIUS * 0.68 * Math.sin(2 * Math.PI * middle),
      y: -RADIUS * 0.68 * Math.cos(2 * Math.PI * middle) + 4 }, nth + 1) : null];
    list.append(el('li', {}, nameOf(slice.name, 60), ` ${shareText(slice.share)}`));
    from = to;
    return path;
  });
  return el('div', { class: 'pie' }, svg('svg', { viewBox: '-100 -100 200 200', width: 240, height: 240,
    role: 'img', 'aria-label': `Shares of time: ${slices.map((slice) =>
      `${slice.name} ${shareText(slice.share)}`).join(', ')}` }, paths), list);
}

/* Bars by default: lengths are compared better than angles. */
function distribution(summary) {
  const place = el('div'), bars = figureCard(timeFigure(summary), { heading: 'h4' });
  const choose = button('Show as a pie', () => {
    const isPie = choose.getAttribute('aria-pressed') === 'true';
    choose.setAttribute('aria-pressed', String(!isPie));
    fill(place, isPie ? bars : el('div', { class: 'figure' }, pie(summary)));
  }, { 'aria-pressed': 'false' });
  place.append(bars);
  return el('div', {}, el('p', { class: 'buttons' }, choose), place);
}

const PARTS = [['gpu', 'GPU'], ['cpu', 'CPU'], ['transfer', 'transfer'], ['overhead', 'overhead']];

function bottlenecks(summary) {
  return el('ol', { class: 'bottlenecks' }, summary.slice(0, TOP).map((row) => el('li', {},
    el('b', {}, nameOf(row.operation, 80)), ` ${timeText(row.total)}, ${shareText(row.share)} of the time, ${
      row.calls} call${row.calls === 1 ? '' : 's'} of ${timeText(row.average)} on average`,
    PARTS.filter(([part]) => row[part] !== null && row.total > 0).map(([part, label]) =>
      `, ${label} ${shareText(row[part] / row.total)}`).join(''),
    row.peak !== null ? `, peak ${bytesText(row.peak)}` : '')));
}

function time(key, label) {
  return { key, label, number: true, csv: `${key} (ns)`, value: (row) => row[key],
    cell: (row) => (row[key] === null ? '' : row[key] === 0 ? '0' : timeText(row[key])) };
}

function table(summary) {
  const filter = el('input', { type: 'search', 'aria-label': 'Filter operations', placeholder: 'filter',
    oninput: () => show() });
  const view = tableView([
    { key: 'operation', label: 'operation', name: true, value: (row) => row.operation,
      cell: (row) => nameOf(row.operation, 80) },
    { key: 'calls', label: 'calls', number: true, value: (row) => row.calls, cell: (row) => row.calls },
    time('total', 'total'), time('average', 'average'), time('least', 'least'), time('most', 'most'),
    time('deviation', 'sd'),
    { key: 'share', label: 'share', number: true, value: (row) => row.share,
      cell: (row) => shareText(row.share) },
    ...PARTS.map(([part, label]) => time(part, label)),
    { key: 'peak', label: 'peak memory', number: true, csv: 'peak (bytes)', value: (row) => row.peak,
      cell: (row) => (row.peak === null ? '' : bytesText(row.peak)) },
    { key: 'devices', label: 'device', value: (row) => row.devices, cell: (row) => nameOf(row.devices) },
    { key: 'backends', label: 'backend', value: (row) => row.backends,
      cell: (row) => nameOf(row.backends) },
  ], { caption: 'Operations', class: 'results' });
  const show = () => view.setRows(summary.filter((row) => row.operation.toLowerCase()
    .includes(filter.value.trim().toLowerCase())));
  show();
  return el('div', {}, el('p', { class: 'buttons' }, filter, ' ',
    button('Save as CSV', () => view.saveCsv('profile.csv'))), view.element);
}

/** @param {object} json  of a profile @param {string} name  of the file */
export function profileView(json, name) {
  const entries = profileEntries(json), summary = summarise(entries);
  return el('div', { class: 'profile' }, cards(entries, summary), distribution(summary),
    figureCard(callsFigure(summary), { heading: 'h4' }), figureCard(partsFigure(summary), { heading: 'h4' }),
    figureCard(memoryFigure(entries), { heading: 'h4' }),
    el('h4', {}, `Top ${Math.min(TOP, summary.length)}`), bottlenecks(summary),
    el('h4', {}, 'Timeline'), timelineView(profileLanes(entries), name),
    el('h4', {}, 'All operations'), table(summary));
}
