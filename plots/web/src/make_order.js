/* SPDX-License-Identifier: MIT */
/* Medians of launches in the order they were measured: what drifts with time hits both sides. */
import { absentItems, captionOf, figureFor, itemsOf, subtitleOf } from './chart.js';
import { absent, addLayer, addPanel, finish, setAxis, styleOf } from './spec.js';
import { median, quantile, sorted } from './stats.js';

/* One point a launch: when, and its median with p5 to p95. */
function launchesOf(item, samples) {
  return samples.launches.map((launch, seq) => {
    const ordered = sorted(launch);
    return { item, seq, at: samples.started_ms?.[seq] ?? NaN, value: median(launch),
      low: quantile(ordered, 0.05), high: quantile(ordered, 0.95) };
  }).filter((one) => Number.isFinite(one.value));
}

function addSide(panel, label, nth, launches) {
  const style = styleOf(nth), x = launches.map((one) => one.place);
  const items = launches.map((one) => one.item);
  addLayer(panel, 'whiskers', '', { ...style, width: 1, dash: 'solid' },
    { x, low: launches.map((one) => one.low), high: launches.map((one) => one.high), items });
  addLayer(panel, 'points', label, { ...style, size: 9 }, { x, y: launches.map((one) => one.value),
    items });
}

/** @returns {Promise<object>} a figure */
export async function makeOrder(chart) {
  const items = itemsOf(chart), all = [];
  for (const item of items) {
    const samples = await chart.samples(item.run, item.row.benchmark);
    all.push(...(samples ? launchesOf(item, samples) : []));
  }
  if (items.length === 0)
    return absentItems(chart);
  if (all.length < 2)
    return absent(figureFor(chart), 'Fewer than two launches have samples here.');
  all.sort((a, b) => a.at - b.at || a.seq - b.seq);
  all.forEach((one, i) => { one.place = i + 1; });
  const figure = figureFor(chart), panel = addPanel(figure, { height: 300 });
  setAxis(panel.x, 'launch, in the order measured');
  panel.x.ticks = all.length <= 24 ? all.map(({ place }) => ({ at: place, text: String(place) })) : [];
  setAxis(panel.y, 'median latency', { quantity: 'time' });
  items.forEach((item, nth) => addSide(panel, item.label, nth,
    all.filter((one) => one.item === item)));
  figure.subtitle = subtitleOf(chart, items);
  figure.caption = captionOf(chart, 'Each point is the median of one fresh process, bars p5 to p95. '
    + 'A slope over all points is the machine, not the code; sides that part are the code.', 1, 1, '');
  figure.alt = `Medians of ${all.length} launches in the order measured, of ${items.map((one) =>
    one.label).join(' and ')}.`;
  return finish(figure);
}
