/* SPDX-License-Identifier: MIT */
/*
 * Specifications as graphs: every mark, ranges, ticks and labels as the program computed them, in
 * every figure type that has a golden file.
 * Covers: S0-20, S1-28.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { pointOf, readings, walk } from '../../plots/web/src/a11y.js';
import { toData, toNumber } from '../../plots/web/src/axis_place.js';
import { csvText } from '../../plots/web/src/csv.js';
import { legendEntries } from '../../plots/web/src/figure_legend.js';
import { figureTable } from '../../plots/web/src/figure_table.js';
import { rangesOf, scaleRanges } from '../../plots/web/src/figure_zoom.js';
import { freePlace } from '../../plots/web/src/hover_place.js';
import { leastWidth } from '../../plots/web/src/paint_layout.js';
import { plotOf } from '../../plots/web/src/paint.js';
import { curtail, elide, itemWords, markupText } from '../../plots/web/src/paint_text.js';

const folder = new URL('../fixtures/figures/', import.meta.url);
const golden = readdirSync(folder).filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')))
  .filter((spec) => !spec.reason);

const style = { colour: '#0072b2', width: 2, dash: 'solid' };

/** A figure of one panel with one layer. */
function figure(layer, x = {}, y = {}) {
  const axis = { scale: 'linear', quantity: 'plain', factor: 1, low: 0, high: 10,
    ticks: [{ at: 0, text: '0' }, { at: 5, minor: true }, { at: 10, text: '10' }] };
  return { schema_version: 1, id: 'one', title: 'One', legend: true, width: 1200, height: 500,
    columns: 1, texts: [], samples: [], panels: [{
      area: { x: 80, y: 60, width: 1000, height: 400 },
      x: { ...axis, label: 'size', ...x }, y: { ...axis, label: 'time (ms)', quantity: 'time',
        factor: 1e6, ...y }, layers: [{ style, ...layer }] }] };
}

const only = (spec, options) => plotOf(spec, options).data[0];

test('a line keeps its data and its gap', () => {
  const trace = only(figure({ mark: 'line', label: 'a', x: [1, 2, 3], y: [4, null, 6] }));
  assert.deepEqual([trace.x, trace.y], [[1, 2, 3], [4, null, 6]]);
  assert.equal(trace.mode, 'lines');
  assert.equal(trace.connectgaps, false);
  assert.equal(trace.line.shape, 'linear');
});

test('steps go across first', () => {
  assert.equal(only(figure({ mark: 'steps', x: [1, 2], y: [4, 5] })).line.shape, 'hv');
});

test('points have shape, size and colour of their own', () => {
  const trace = only(figure({ mark: 'points', x: [1, 2], y: [4, 5], size: [null, 20],
    colour: [null, '#fde725'], style: { ...style, shape: 'triangle-up', size: 12 } }));
  assert.deepEqual([trace.x, trace.y], [[1, 2], [4, 5]]);
  assert.equal(trace.marker.symbol, 'triangle-up');
  assert.deepEqual(trace.marker.size, [12, 20]);
  assert.deepEqual(trace.marker.color, ['#0072b2', '#fde725']);
});

test('hollow points show the ground inside', () => {
  const { marker } = only(figure({ mark: 'points', x: [1], y: [4],
    style: { ...style, shape: 'circle', hollow: true } }));
  assert.equal(marker.color, '#ffffff');
  assert.equal(marker.line.color, '#0072b2');
});

test('hollow bars are pale inside an outline', () => {
  const { marker } = only(figure({ mark: 'bars', x: [1], y: [4], style: { ...style, hollow: true } }));
  assert.equal(marker.color, 'rgba(0,114,178,0.25)');
  assert.deepEqual(marker.line, { color: '#0072b2', width: 1.4 });
});

test('bars go from their low, or 0', () => {
  const bar = (layer) => only(figure({ mark: 'bars', x: [0, 1], y: [4, 8], ...layer }));
  assert.deepEqual([bar({}).base, bar({}).y], [[0, 0], [4, 8]]);
  assert.deepEqual([bar({ low: [1, null] }).base, bar({ low: [1, null] }).y], [[1, 0], [3, 8]]);
  assert.equal(bar({ thickness: 0.3 }).width, 0.3);
});

test('bars across lie', () => {
  const trace = only(figure({ mark: 'bars', across: true, x: [4, 8], y: [0, 1] }));
  assert.deepEqual([trace.orientation, trace.x, trace.y, trace.base],
    ['h', [4, 8], [0, 1], [0, 0]]);
});

test('whiskers, segments and arrows go from low to high, with gaps between', () => {
  for (const mark of ['whiskers', 'segments', 'arrows']) {
    const up = only(figure({ mark, x: [1, 2], low: [3, 5], high: [4, 6] }));
    assert.deepEqual([up.x, up.y], [[1, 1, null, 2, 2, null], [3, 4, null, 5, 6, null]]);
    assert.deepEqual(up.customdata, [0, 0, null, 1, 1, null]);
    const across = only(figure({ mark, across: true, y: [1, 2], low: [3, 5], high: [4, 6] }));
    assert.deepEqual([across.x, across.y], [up.y, up.x]);
  }
  assert.equal(only(figure({ mark: 'whiskers', x: [1], low: [3], high: [4] })).marker.symbol,
    'line-ew');
  assert.deepEqual(only(figure({ mark: 'arrows', x: [1], low: [3], high: [4] })).marker.size,
    [0, 11, 0]);
});

test('a band is an outline for each stretch without gaps', () => {
  const trace = only(figure({ mark: 'band', x: [1, 2, 3, 4, 5], low: [1, 1, null, 2, 2],
    high: [3, 3, null, 4, 4], style: { ...style, opacity: 0.25 } }));
  assert.deepEqual(trace.x, [1, 2, 2, 1, null, 4, 5, 5, 4, null]);
  assert.deepEqual(trace.y, [1, 1, 3, 3, null, 2, 2, 4, 4, null]);
  assert.equal(trace.fill, 'toself');
  assert.equal(trace.fillcolor, 'rgba(0,114,178,0.25)');
});

test('cells are unit squares with colour, text and a pattern where there is no value', () => {
  const trace = only(figure({ mark: 'cells', x: [0, 1], y: [0, 0], text: ['12', 'n/a'],
    colour: ['#fde725', '#d9d9d9'] }));
  assert.deepEqual([trace.x, trace.base, trace.y, trace.width], [[0, 1], [-0.5, -0.5], [1, 1], 1]);
  assert.deepEqual(trace.marker.color, ['#fde725', '#d9d9d9']);
  assert.deepEqual(trace.marker.pattern.shape, ['', '/']);
  assert.deepEqual(trace.insidetextfont.color, ['#000000', '#000000']);
  assert.deepEqual(trace.text, ['12', 'n/a']);
});

test('rules span the panel, under the data where they come first', () => {
  const spec = figure({ mark: 'rules', x: [3, null], y: [null, 7] });
  const [upright, level] = plotOf(spec).layout.shapes;
  assert.deepEqual([upright.x0, upright.x1, upright.y0, upright.y1], [3, 3, 0, 1]);
  assert.deepEqual([upright.xref, upright.yref], ['x', 'y domain']);
  assert.deepEqual([level.x0, level.x1, level.y0, level.y1], [0, 1, 7, 7]);
  assert.equal(upright.layer, 'below');
  spec.panels[0].layers.unshift({ mark: 'bars', style, x: [1], y: [2] });
  assert.equal(plotOf(spec).layout.shapes[0].layer, 'above');
});

test('texts stand at their data, shifted, and in the margin where they are outside', () => {
  const layer = { mark: 'text', x: [100], y: [4], text: ['four'], anchor: ['right'], dx: [3],
    dy: [-5] };
  const [note] = plotOf(figure(layer, { scale: 'log', low: 1, high: 1000 })).layout.annotations;
  assert.deepEqual([note.x, note.y, note.xshift, note.yshift, note.xanchor, note.text],
    [2, 4, 3, 5, 'right', 'four']);
  const [outside] = plotOf(figure({ ...layer, outside: true })).layout.annotations;
  assert.deepEqual([outside.xref, outside.x], ['x domain', 1]);
});

test('a text that follows a line has the angle that the line has on this page', () => {
  const layer = { mark: 'text', follow: true, x: [0], y: [0], low: [10], high: [10],
    text: ['up'], anchor: ['left'], angle: [1] };
  const plot = plotOf(figure(layer));
  const { xaxis, yaxis, width, height, annotations: [note] } = plot.layout;
  const wide = (xaxis.domain[1] - xaxis.domain[0]) * width;
  const tall = (yaxis.domain[1] - yaxis.domain[0]) * height;
  assert.ok(Math.abs(-note.textangle - Math.atan2(tall, wide) * 180 / Math.PI) < 1e-9);
  assert.equal(note.xanchor, 'center');
});

/* Shares by nines, in percent. */
const nines = { label: 'share of samples below', scale: 'nines', quantity: 'share', factor: 0.01,
  low: 0, high: 99.99, ticks: [{ at: 0, text: 'min' }, { at: 90, text: '90 %' },
    { at: 99, text: '99 %' }, { at: 99.9, text: '99.9 %' }] };
const tail = { mark: 'line', label: 'a', x: [50, 90, 99.9, 99.987], y: [1, 2, 3, 4] };

test('shares by nines stand one step apart, with their ticks and texts', () => {
  const notes = { mark: 'text', x: [99], y: [2], text: ['here'], anchor: ['left'] };
  const spec = figure(tail, nines);
  spec.panels[0].layers.push(notes, { ...tail, mark: 'rules', x: [99.9], y: [null] });
  for (const layer of spec.panels[0].layers)
    layer.style = style;
  const { data, layout } = plotOf(spec);
  const near = (given, wanted) => given.forEach((value, i) =>
    assert.ok(Math.abs(value - wanted[i]) < 1e-9, `${given} for ${wanted}`));
  near(data[0].x, [Math.log10(2), 1, 3, -Math.log10(0.00013)]);
  near(layout.xaxis.tickvals, [0, 1, 2, 3]);
  near(layout.xaxis.range, [0, 4]);
  near([layout.annotations[0].x, layout.shapes[0].x0], [2, 3]);
});

test('people read shares, never their places', () => {
  const spec = figure(tail, nines), [panel] = spec.panels;
  panel.layers[0].style = style;
  const said = [0, 1, 2, 3].map((i) => itemWords(panel, panel.layers[0], i)[1]);
  assert.deepEqual(said, ['50.0 %', '90.0 %', '99.9 %', '99.987 %']
    .map((share) => `share of samples below ${share}`));
  assert.match(plotOf(spec).data[0].hovertext[2], /below 99\.9 %/);
  const words = figureTable(spec, true), numbers = figureTable(spec);
  assert.equal(words.rows[3][1], '99.987 %');
  assert.equal(numbers.columns[1], 'share of samples below (%)');
  assert.match(csvText([numbers.columns, ...numbers.rows]), /\na,99\.9,3/);
});

test('a column of numbers names the unit of its axis', () => {
  const points = { mark: 'points', label: 'a', style, x: [1], y: [80] };
  for (const [axis, head] of [
    [{ quantity: 'plain', base: 'FLOP', factor: 1e6, label: 'work (MFLOP)' }, 'work (MFLOP)'],
    [{ quantity: 'plain', base: '', factor: 1e6, label: 'faults (M)' }, 'faults (M)'],
    [{ quantity: 'plain', base: ' W', factor: 1e3, label: 'power (k W)' }, 'power (k W)'],
    [{ quantity: 'plain', base: 'FLOP', factor: 1, label: 'work (FLOP)' }, 'work (FLOP)'],
    [{ quantity: 'plain', factor: 1, label: 'faults' }, 'faults'],
    [{ quantity: 'rate', base: 'FLOP/s', factor: 1e9, label: 'rate (GFLOP/s)' }, 'rate (GFLOP/s)'],
    [{ quantity: 'time', factor: 1, label: 'latency (log scale)', scale: 'log' }, 'latency (ns)'],
  ])
    assert.equal(figureTable(figure(points, {}, axis)).columns[2], head);
});

test('what ends at the frame tells its own numbers', () => {
  const arrow = { mark: 'arrows', label: 'beyond', across: true, style, y: [4, 5], low: [9, 1],
    high: [10, 2], text: ['+1334 %', null] };
  const spec = figure(arrow, { quantity: 'percent', factor: 0.01 }), [panel] = spec.panels;
  assert.deepEqual(itemWords(panel, arrow, 0), ['beyond', '+1334 %', 'time 4.000 ms']);
  assert.deepEqual(itemWords(panel, arrow, 1), ['beyond', 'time 5.000 ms', '+1.0 % to +2.0 %']);
  const { columns, rows } = figureTable(spec);
  assert.deepEqual(columns.slice(-3), ['low', 'high', 'note']);
  assert.deepEqual(rows.map((row) => row.slice(-3)), [[null, null, '+1334 %'], [1, 2, null]]);
});

test('a zoomed tail has ticks of its own', () => {
  const ticksOf = (low, high) => {
    const { xaxis } = plotOf(figure({ ...tail, style }, nines), { ranges: { '0.x': [low, high] } }).layout;
    return xaxis.ticktext;
  };
  assert.deepEqual(ticksOf(0, 99), ['0 %', '25 %', '50 %', '75 %', '90 %', '95 %', '99 %']);
  assert.deepEqual(ticksOf(90, 95).slice(0, 2), ['90 %', '91 %']);
  assert.ok(ticksOf(99.9, 99.99).every((text) => /^99\.9\d* %$/.test(text)));
  const spec = figure({ ...tail, style }, nines);
  const { '0.x': [low, high] } = rangesOf(spec, { 'xaxis.range': [1, 3] });
  assert.ok(Math.abs(low - 90) < 1e-9 && Math.abs(high - 99.9) < 1e-9);
});

test('a part of an axis of names has the names in it', () => {
  const names = Array.from({ length: 40 }, (none, i) => ({ at: i, text: `07-${10 + i} abc00${10 + i}` }));
  const runs = { low: -0.5, high: 39.5, ticks: names.filter(({ at }) => at % 10 === 0), places: names };
  const spec = figure({ mark: 'line', x: [0, 39], y: [4, 5] }, runs);
  const seen = (low, high) => {
    const { xaxis } = plotOf(spec, { width: 1200, ranges: { '0.x': [low, high] } }).layout;
    return xaxis.tickvals.map((at, i) => [at, xaxis.ticktext[i]]);
  };
  for (const [low, high, some] of [[2.5, 6.5, [3, 4, 5, 6]], [-1, 40, [0, 5, 10, 15, 20, 25, 30, 35]]])
    assert.deepEqual(seen(low, high), some.map((at) => [at, names[at].text]), `${low} to ${high}`);
  assert.deepEqual(seen(3.1, 3.9), [], 'between two of them there is nothing to say');
});

/* Days since 2026-11-01 13:00:00Z, as of a benchmark's history. */
const days = { label: 'date of the run, UTC', since_ms: 1793538000000, low: -0.8, high: 40.8,
  ticks: [{ at: 11 / 24, text: '2026-11-02' }] };
const nights = { mark: 'points', x: [0, 35.041667, 40], y: [4, 5, 6], style: { ...style, shape: 'circle', size: 8 } };

test('a part of an axis of dates has dates, as test_text_dates.c has them', () => {
  const seen = (low, high) => plotOf(figure(nights, days), { width: 1200, ranges: { '0.x': [low, high] } })
    .layout.xaxis.ticktext.join(', ');
  for (const [low, high, texts] of [
    [0, 0.09, '13:00, 13:30, 14:00, 14:30, 15:00'],
    [0, 2, '11-02 00:00, 11-02 12:00, 11-03 00:00, 11-03 12:00'],
    [0, 4, '2026-11-02, 2026-11-03, 2026-11-04, 2026-11-05'],
    [0, 365, '2026-12-03, 2027-03-03, 2027-06-01, 2027-08-30'], [0.0001, 0.0002, '']])
    assert.equal(seen(low, high), texts, `${low} to ${high}`);
});

test('people read dates, never the days since the first run', () => {
  const spec = figure(nights, days), { columns, numeric, rows } = figureTable(spec);
  assert.deepEqual(readings(spec)[0].texts[1].split(', time')[0], 'date of the run, UTC 2026-12-06 14:00');
  assert.deepEqual([columns[0], numeric[0]], ['date of the run, UTC', false]);
  assert.deepEqual(rows.map(([when]) => when), ['2026-11-01 13:00', '2026-12-06 14:00', '2026-12-11 13:00']);
  assert.deepEqual(figureTable(spec, true).rows.map(([when]) => when), rows.map(([when]) => when));
});

test('an unknown mark is an error', () => {
  assert.throws(() => plotOf(figure({ mark: 'cloud', x: [1], y: [1] })), /cannot draw.*cloud/);
});

/* The ends of an axis of Plotly in the specification's numbers. */
const rangeOf = (axis, drawn) => drawn.range.map((end) => toNumber(axis, end));
const close = (a, b) => a.every((value, i) => Math.abs(value - b[i]) <= 1e-9 * Math.abs(b[i]) + 1e-15);
const key = (side, index) => `${side}axis${index ? index + 1 : ''}`;

for (const spec of golden) {
  test(`${spec.id}: ranges, ticks, labels and data are the specification's`, () => {
    const { data, layout } = plotOf(spec, { width: 1200 });
    spec.panels.forEach((panel, index) => ['x', 'y'].forEach((side) => {
      const axis = panel[side], drawn = layout[key(side, index)];
      const ends = axis.reversed ? [axis.high, axis.low] : [axis.low, axis.high];
      assert.ok(close(rangeOf(axis, drawn), ends), `${side} of panel ${index}`);
      const ticks = new Map(axis.ticks.map((tick) => [toData(axis, [tick.at])[0], tick]));
      assert.equal(drawn.tickvals.length > 0, axis.ticks.some((tick) => tick.text));
      for (const at of [...drawn.tickvals, ...(drawn.minor.tickvals || [])])
        assert.ok(ticks.has(at), `tick ${at}`);
      if (axis.label && !axis.label.includes('…'))
        assert.equal(drawn.title.text, markupText(axis.label));
    }));
    checkData(spec, data);
  });

  test(`${spec.id}: nothing touches at any width`, () => {
    for (const room of [1200, 700, 360]) {
      const width = Math.max(room, leastWidth(spec));
      const { layout } = plotOf(spec, { width });
      spec.panels.forEach((panel, index) => {
        const [left, right] = layout[key('x', index)].domain;
        const [bottom, top] = layout[key('y', index)].domain;
        assert.ok(left >= 0 && right <= 1 && bottom >= 0 && top <= 1);
        assert.ok((right - left) * width >= 60, `panel ${index} at ${width}`);
        checkTicks(panel.x, layout[key('x', index)], width);
      });
    }
  });

  test(`${spec.id}: every datum can be read without eyes, and is in the table`, () => {
    const list = readings(spec);
    assert.ok(list.length > 0);
    for (const series of list)
      assert.ok(series.texts.every((text) => text && !/undefined|NaN|null/.test(text)),
        series.texts);
    const { columns, rows } = figureTable(spec);
    assert.ok(columns.length >= 2 && rows.length > 0);
    assert.ok(rows.every((row) => row.length === columns.length));
  });

  test(`${spec.id}: the sheet has title, labels and legend`, () => {
    const { layout } = plotOf(spec, { sheet: true });
    assert.deepEqual([layout.width, layout.height], [spec.width, spec.height]);
    const texts = layout.annotations.map((note) => note.text);
    assert.equal(spec.texts.filter(({ role }) => role === 'title').map(({ text }) => text).join(' '),
      spec.title); /* on one line or two */
    for (const { text, bold } of spec.texts)
      assert.ok(texts.includes(bold ? `<b>${markupText(text)}</b>` : markupText(text)), text);
  });
}

/* Each layer's numbers, as its traces hold them. */
function checkData(spec, data) {
  spec.panels.forEach((panel, p) => panel.layers.forEach((layer, l) => {
    const traces = data.filter(({ meta }) => meta.panel === p && meta.layer === l);
    if (!layer.x && !layer.y && !layer.low) {
      assert.equal(traces.length, 0);
    } else if (['line', 'steps', 'points'].includes(layer.mark)) {
      assert.deepEqual(traces[0].x, toData(panel.x, layer.x));
      assert.deepEqual(traces[0].y, layer.y);
    } else if (layer.mark === 'bars' || layer.mark === 'boxes') {
      const along = layer.across ? 'x' : 'y';
      const ends = traces[0][along].map((length, i) => length + traces[0].base[i]);
      assert.ok(close(ends, layer[along]), `bars of panel ${p}`);
    } else if (['whiskers', 'segments', 'arrows'].includes(layer.mark)) {
      const along = layer.across ? 'x' : 'y';
      assert.deepEqual(traces[0][along].filter((_, i) => i % 3 === 0), layer.low);
      assert.deepEqual(traces[0][along].filter((_, i) => i % 3 === 1), layer.high);
    } else if (layer.mark === 'cells') {
      assert.deepEqual(traces[0].x, layer.x);
      assert.deepEqual(traces[0].base.map((base) => base + 0.5), layer.y);
    }
  }));
}

/* Upright tick texts of an x axis, by the width that plotOf() was told they have. */
function checkTicks(axis, drawn, width) {
  if (drawn.tickangle !== 0)
    return;
  const size = width < 700 ? 11 : 12, of = drawn.type === 'log' ? Math.log10 : (x) => x;
  const [low, high] = drawn.range;
  const pixels = drawn.tickvals.map((at, i) => ({ half: drawn.ticktext[i].length * size * 0.3,
    at: (of(at) - low) / (high - low) * (drawn.domain[1] - drawn.domain[0]) * width }))
    .sort((a, b) => a.at - b.at);
  for (let i = 1; i < pixels.length; i++)
    assert.ok(pixels[i].at - pixels[i - 1].at >= pixels[i].half + pixels[i - 1].half,
      `ticks ${drawn.ticktext} at ${width}`);
}

test('the golden files hold every mark but steps and arrows', () => {
  const marks = new Set(golden.flatMap((spec) => spec.panels.flatMap((panel) => panel.layers
    .map((layer) => layer.mark))));
  for (const mark of ['line', 'points', 'bars', 'boxes', 'whiskers', 'segments', 'band', 'cells', 'text',
    'rules'])
    assert.ok(marks.has(mark), mark);
});

test('a table of texts scrolls instead of shrinking, other figures shrink', () => {
  const widths = Object.fromEntries(golden.map((spec) => [spec.id, leastWidth(spec)]));
  assert.equal(widths['comparison-table'], 700);
  assert.equal(widths['latency-kernels'], 0);
  assert.equal(widths.roofline, 0);
});

test('a table of texts is read by rows and kept as a table', () => {
  const spec = golden.find(({ id }) => id === 'comparison-table');
  const { columns, rows } = figureTable(spec);
  assert.deepEqual(columns, ['benchmark', 'base', 'head', 'change', '90 % interval', 'verdict']);
  assert.ok(rows.some((row) => row.join('|')
    === 'batch=1|100.0 µs|112.0 µs|+12.0 %|+10.0 to +14.0 %|slower'));
  const [series, ...more] = readings(spec);
  assert.equal(more.length, 0);
  assert.ok(series.texts.includes('batch=1, base 100.0 µs, head 112.0 µs, change +12.0 %, '
    + '90 % interval +10.0 to +14.0 %, verdict slower'));
});

test('the legend names what is drawn, once, and switches it off', () => {
  const spec = figure({ mark: 'line', label: 'a', x: [1, 2], y: [4, 5] });
  spec.panels[0].layers.push({ mark: 'points', label: 'a', style, x: [1], y: [4] },
    { mark: 'line', label: 'too short', style, x: [1], y: [4] }, { mark: 'text', style, x: [1],
      y: [1], text: ['t'] });
  assert.deepEqual(legendEntries(spec).map(({ label, layers }) => [label, layers.length]),
    [['a', 2]]);
  assert.deepEqual(legendEntries({ ...spec, legend: false }), []);
  assert.equal(plotOf(spec, { hidden: new Set(['a']) }).data.length, 1);
});

test('words of a datum have name, value and unit', () => {
  const spec = figure({ mark: 'whiskers', label: 'p5 to p95', x: [2], low: [3], high: [4.5] });
  const [panel] = spec.panels;
  assert.deepEqual(itemWords(panel, panel.layers[0], 0),
    ['p5 to p95', 'size 2', '3.000 ms to 4.500 ms']);
  const trace = only(spec);
  assert.equal(trace.hovertext[0], '<b>p5 to p95</b><br>size 2<br>3.000 ms to 4.500 ms');
});

test('a whisker says the value of the point of the same benchmark and run', () => {
  const spec = figure({ mark: 'points', label: 'p50', x: [1, 2], y: [3.5, 7], benchmark: [0, 1] });
  spec.panels[0].layers.push({ mark: 'whiskers', label: 'p5 to p95', x: [1, 2, 3], low: [3, 6, 1],
    high: [4.5, 9, 2], benchmark: [0, 1, 1], style: {} });
  const [panel] = spec.panels, words = (i) => itemWords(panel, panel.layers[1], i).slice(-2);
  assert.deepEqual(words(0), ['time 3.500 ms', '3.000 ms to 4.500 ms']);
  assert.deepEqual(words(1), ['time 7.000 ms', '6.000 ms to 9.000 ms']);
  assert.deepEqual(words(2), ['size 3', '1.000 ms to 2.000 ms']);
});

test('a zoomed axis gets the ticks of what is seen', () => {
  const spec = figure({ mark: 'line', x: [1, 2], y: [4, 5] });
  const { layout } = plotOf(spec, { ranges: { '0.x': [2, 3] } });
  assert.deepEqual(layout.xaxis.range, [2, 3]);
  assert.ok(layout.xaxis.tickvals.length > 2);
  assert.ok(layout.xaxis.tickvals.every((at) => at >= 2 && at <= 3));
  assert.deepEqual(layout.yaxis.range, [0, 10]);
  assert.deepEqual(rangesOf(spec, { 'xaxis.range[0]': 3, 'xaxis.range[1]': 2 }), { '0.x': [2, 3] });
  assert.equal(rangesOf(spec, { dragmode: 'pan' }), null);
  assert.deepEqual(scaleRanges(spec, {}, 0.5), { '0.x': [2.5, 7.5], '0.y': [2.5, 7.5] });
});

test('arrow keys walk through the data', () => {
  const list = [{ items: [0, 1] }, { items: [0] }];
  assert.deepEqual(walk(list, null, 'ArrowRight'), { series: 0, at: 0 });
  assert.deepEqual(walk(list, { series: 0, at: 0 }, 'ArrowRight'), { series: 0, at: 1 });
  assert.deepEqual(walk(list, { series: 0, at: 1 }, 'ArrowRight'), { series: 0, at: 1 });
  assert.deepEqual(walk(list, { series: 0, at: 1 }, 'ArrowDown'), { series: 1, at: 0 });
  assert.deepEqual(walk(list, { series: 0, at: 0 }, 'End'), { series: 0, at: 1 });
  assert.equal(walk(list, null, 'a'), null);
  assert.equal(walk([], null, 'ArrowRight'), null);
  const { data } = plotOf(figure({ mark: 'points', x: [1, 2], y: [3, 4] }));
  assert.deepEqual(pointOf(data, 0, 0, 1), { curveNumber: 0, pointNumber: 1 });
  assert.equal(pointOf(data, 0, 7, 1), null);
});

test('names come through as they are', () => {
  const name = '</script><img src=x onerror=alert(1)> & <b>bold</b>\u202e';
  const { data, layout } = plotOf(figure({ mark: 'points', label: name, x: [0], y: [1],
    text: [name] }, { scale: 'category', ticks: [{ at: 0, text: name }], low: -0.5, high: 0.5 }));
  const texts = [data[0].name, ...data[0].hovertext, ...layout.xaxis.ticktext];
  for (const text of texts)
    assert.ok(!/<(?!br>|\/?b>)/.test(text.replace(/^<b>|<\/b>/g, '')) && !text.includes('\u202e'),
      text);
  assert.ok(data[0].hovertext[0].includes('&lt;img'));
});

test('a long name is cut in the middle', () => {
  const measure = (text) => [...text].length;
  assert.equal(elide('gemm/linear/simd', 20, measure, 12), 'gemm/linear/simd');
  assert.equal(elide('gemm/linear/simd', 9, measure, 12), 'gemm…simd');
  assert.equal(elide('x'.repeat(10000), 9, measure, 12).length, 9);
  assert.equal(elide('abc', 0, measure, 12), 'a…');
});

test('a text in the margin takes lines, and loses parts from its end, never its value', () => {
  const measure = (text) => [...text].length;
  const text = '40.5 ms, n 13, p95 at 12.4×';
  assert.equal(curtail(text, 40, measure, 12), text);
  assert.equal(curtail(text, 20, measure, 12), '40.5 ms, n 13');
  assert.equal(curtail(text, 8, measure, 12), '40.5 ms');
  assert.equal(curtail('+12.0 %  regressed', 10, measure, 12), '+12.0 %');
  assert.equal(curtail('undecided', 5, measure, 12), 'un…ed');
  assert.equal(curtail(text, 14, measure, 12, 3), '40.5 ms, n 13\np95 at 12.4×');
  assert.equal(curtail(text, 12, measure, 12, 3), '40.5 ms\nn 13\np95 at 12.4×');
  assert.equal(curtail(text, 12, measure, 12, 2), '40.5 ms\nn 13');
  assert.equal(curtail(text, 10, measure, 12, 3), '40.5 ms\nn 13', 'no part is cut in two');
});

/* Pixels of a row of names, and where the first one stands. */
function rowsOfPanel({ layout }, index) {
  const name = index ? `yaxis${index + 1}` : 'yaxis', { domain, range } = layout[name];
  const height = (domain[1] - domain[0]) * layout.height;
  return { top: (1 - domain[1]) * layout.height, row: height / Math.abs(range[1] - range[0]) };
}

test('panels that share the names of their rows have these in line, at every width', () => {
  const measure = (text, size) => text.length * size * 0.6;
  for (const id of ['comparison-sides', 'intensity', 'architecture']) {
    const spec = golden.find((one) => one.id === id);
    for (const width of [720, 900, 1216]) {
      const plot = plotOf(spec, { width, measure });
      const [first, second] = [0, 1].map((index) => rowsOfPanel(plot, index));
      const said = `${id} at ${width}: ${JSON.stringify([first, second])}`;
      assert.ok(Math.abs(first.top - second.top) < 0.5 && Math.abs(first.row - second.row) < 0.1, said);
      const right = Math.max(...spec.panels.map((_, i) => plot.layout[`xaxis${i ? i + 1 : ''}`].domain[1]));
      assert.ok(right <= 1, said);
    }
  }
});

test('words at the pointer hide no text where there is room beside it', () => {
  const frame = { x: 0, y: 0, width: 400, height: 200 }, point = { x: 200, y: 100 };
  const right = { x: 212, y: 85, width: 100, height: 30 }, left = { ...right, x: 88 };
  const rows = [ /* where Plotly puts them, texts, where they go, point */
    [right, [], right],
    [right, [{ x: 0, y: 0, width: 80, height: 20 }], right],
    [right, [{ x: 250, y: 95, width: 80, height: 12 }], left],
    [right, [{ x: 250, y: 95, width: 80, height: 12 }, { x: 100, y: 95, width: 80, height: 12 }],
      { ...right, x: 150, y: 112 }],
    [{ ...right, x: 330 }, [], { ...left, x: 206 }, { x: 318, y: 100 }], /* it left the frame */
    [right, [frame], right], /* nothing is free */
  ];
  for (const [box, texts, to, at = point] of rows)
    assert.deepEqual(freePlace(box, at, texts, frame), to);
});
