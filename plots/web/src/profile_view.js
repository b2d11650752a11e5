/* SPDX-License-Identifier: MIT */
/* A profile on the page: cards, figures, bottlenecks, timeline, table. */
import { button, el, fill, nameOf, svg } from './dom.js';
import { figureCard } from './figure.js';
import { operationsTable } from './operations_table.js';
import { card, profileHeadline, profileSummary } from './profile_answer.js';
import { styleOf, GREY } from './spec.js';
import { callsFigure, memoryFigure, partsFigure, timeFigure } from './profile_figures.js';
import { profileEntries, summarise } from './profile_data.js';
import { profileLanes } from './trace_data.js';
import { tablesAnswer } from './tables_answer.js';
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

/** The profile of tables: what profile.json and summaries of the scopes library have. */
export function tablesView({ rows, json }, name) {
  const host = rows.filter((row) => !row.onDevice), shown = host.length ? host : rows;
  const answer = tablesAnswer(rows, json, name);
  return el('div', { class: 'profile' }, profileHeadline(answer), profileSummary(answer), breakdowns(shown),
    el('h4', {}, 'All operations'), operationsTable(rows, 'profile.csv'));
}

const PARTS = [['gpu', 'GPU'], ['cpu', 'CPU'], ['transfer', 'transfer'], ['overhead', 'overhead']];

function bottlenecks(summary) {
  return el('ol', { class: 'bottlenecks' }, summary.slice(0, TOP).map((row) => el('li', {},
    el('b', {}, nameOf(row.operation, 80)), ` ${timeText(row.total)}, ${shareText(row.share)} of the time, ${
      row.calls} call${row.calls === 1 ? '' : 's'} of ${timeText(row.average)} on average`,
    PARTS.filter(([part]) => row[part] !== null && row[part] !== undefined && row.total > 0).map(([part, label]) =>
      `, ${label} ${shareText(row[part] / row.total)}`).join(''),
    row.peak !== null ? `, peak ${bytesText(row.peak)}` : '')));
}

/** Bars or a pie, calls, parts: what the rows of summarise() show. */
export function breakdowns(summary) {
  return [distribution(summary), figureCard(callsFigure(summary), { heading: 'h4' }),
    figureCard(partsFigure(summary), { heading: 'h4' })];
}

/** @param {object} json  of a profile @param {string} name  of the file */
export function profileView(json, name) {
  const entries = profileEntries(json), summary = summarise(entries);
  return el('div', { class: 'profile' }, cards(entries, summary), breakdowns(summary),
    figureCard(memoryFigure(entries), { heading: 'h4' }),
    el('h4', {}, `Top ${Math.min(TOP, summary.length)}`), bottlenecks(summary),
    el('h4', {}, 'Timeline'), timelineView(profileLanes(entries), name),
    el('h4', {}, 'All operations'), operationsTable(summary, 'profile.csv'));
}
