/* SPDX-License-Identifier: MIT */
/*
 * Ranges, units and ticks of the figures that the page makes itself. The rules are those of
 * harness/figure/figure_axis.h and ticks.h, so that a saved configuration draws the same axis.
 */
import { dateTicks, hasDates } from './axis_dates.js';
import { general } from './words.js';

const TIMES = [['ns', 1], ['µs', 1e3], ['ms', 1e6], ['s', 1e9]];
const PREFIXES = [['', 1], ['k', 1e3], ['M', 1e6], ['G', 1e9], ['T', 1e12], ['P', 1e15]];
const BYTES = [['B', 1], ['KiB', 2 ** 10], ['MiB', 2 ** 20], ['GiB', 2 ** 30], ['TiB', 2 ** 40]];
const NICE = [1, 2, 2.5, 5, 10];

function fitting(list, largest) {
  let i = 0;
  while (i + 1 < list.length && Math.abs(largest) >= list[i + 1][1])
    i++;
  return list[i];
}

/** The unit in which `largest` has one to three digits before the point.
 * @returns {{name: string, factor: number}} */
export function unitFor(quantity, base, largest) {
  if (quantity === 'time' || quantity === 'bytes') {
    const [name, factor] = fitting(quantity === 'time' ? TIMES : BYTES, largest);
    return { name, factor };
  }
  if (quantity === 'rate') {
    const [prefix, factor] = fitting(PREFIXES, largest);
    return { name: prefix ? prefix + base : base.replace(/^ /, ''), factor };
  }
  if (quantity === 'percent' || quantity === 'share')
    return { name: '%', factor: 0.01 };
  return { name: base || '', factor: 1 };
}

/** The step that cuts [low, high] into at most `most` parts. */
export function tickStep(low, high, most) {
  const rough = (high - low) / most;
  if (!(rough > 0) || !Number.isFinite(rough))
    return 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const nice = NICE.find((step) => step * power >= rough * (1 - 1e-9));
  return (nice || 10) * power;
}

const MOST_DECIMALS = 6, LEAST_DIGITS = 4, MOST_DIGITS = 15;

/* Digits after the point that a multiple of a step needs; with more than MOST_DECIMALS of them numbers
 * are no longer read so. */
function decimalsOf(step) {
  let decimals = 0;
  for (let x = step; decimals <= MOST_DECIMALS && Math.abs(x - Math.round(x)) > 1e-6 * Math.abs(x);
    x *= 10)
    decimals++;
  return decimals;
}

/* Significant digits in which a multiple of a step differs from the next. */
function digitsOf(at, step) {
  const digits = Math.floor(Math.log10(Math.abs(at))) - Math.floor(Math.log10(step)) + 2;
  return Math.min(Math.max(digits, LEAST_DIGITS), MOST_DIGITS);
}

/* No axis has room for more. */
const TICKS_LIMIT = 256;

/** The multiples of `step` within [low, high]: none where they cannot be told apart, or a limit is
 * not finite. */
export function multiples(low, high, step) {
  const first = Math.ceil(low / step - 1e-9);
  const nr = Math.floor(high / step + 1e-9) - first + 1;
  if (!(nr >= 1) || !(Math.abs(first) + nr < 2 ** 52))
    return [];
  return Array.from({ length: Math.min(nr, TICKS_LIMIT) }, (none, i) => (first + i) * step);
}

function linearTicks(low, high, most) {
  const step = tickStep(low, high, most);
  const decimals = decimalsOf(step);
  const ticks = [];
  for (const at of multiples(low, high, step)) {
    const text = Math.abs(at) >= 1e7 || decimals > MOST_DECIMALS
      ? general(at + 0, digitsOf(at, step)) : (at + 0).toFixed(decimals);
    ticks.push({ at, text });
  }
  return ticks;
}

/* 1 M is read faster than 1000000. */
function logText(value, quantity, base) {
  const plain = quantity === 'plain';
  const unit = plain && value < 1e5 ? { name: '', factor: 1 }
    : unitFor(plain ? 'rate' : quantity, plain ? '' : base, value * (1 + 1e-9));
  const number = Number((value / unit.factor).toPrecision(9)).toString();
  return unit.name ? `${number} ${unit.name}` : number;
}

const isWithin = (at, low, high) => at >= low * (1 - 1e-9) && at <= high * (1 + 1e-9);

/* Would there be room for texts at 1, 2 and 5 of each decade? */
function hasRoomForFine(low, high, first, last, most) {
  let nr = 0;
  for (let decade = first; decade <= Math.min(last, first + most); decade++)
    nr += [1, 2, 5].filter((digit) => isWithin(digit * 10 ** decade, low, high)).length;
  return last - first <= most && nr <= most;
}

function decades(low, high, most, quantity, base) {
  if (!(low > 0) || !(high >= low) || !Number.isFinite(high))
    return []; /* it has no end; a double has 633 at most */
  const first = Math.floor(Math.log10(low) + 1e-9);
  const last = Math.ceil(Math.log10(high) - 1e-9), nr = last - first;
  const fine = hasRoomForFine(low, high, first, last, most);
  const every = 1 + Math.floor((nr - 1) / Math.max(1, most));
  const ticks = [];
  for (let decade = first; decade <= last; decade++)
    for (let digit = 1; digit < 10; digit++) {
      const at = digit * 10 ** decade;
      const major = digit === 1 ? (decade - first) % every === 0
        : fine && (digit === 2 || digit === 5);
      if (!isWithin(at, low, high) || (!major && nr > 6))
        continue;
      ticks.push(major ? { at, text: logText(at, quantity, base) } : { at, text: '', minor: true });
    }
  return ticks;
}

/* Within less than a decade even steps say more. */
function logTicks(low, high, most, quantity, base) {
  const ticks = decades(low, high, most, quantity, base);
  const texts = ticks.filter((tick) => tick.text).length;
  if (texts > 2 || (texts === 2 && high >= 10 * low))
    return ticks;
  return multiples(low, high * (1 + 1e-9), tickStep(low, high, most))
    .map((at) => ({ at, text: logText(at, quantity, base) }));
}

/* What a figure can show, as FIGURE_MOST in harness/figure/figure.h. */
const MOST = 1e24;

function isShown(axis, value) {
  return Math.abs(value) <= MOST && (axis.scale !== 'log' || value >= 1 / MOST);
}

const runsAlong = (layer, side) => Boolean(layer.across) === (side === 'x');

/** Smallest and largest number of an axis's data; null where there is none. */
function rangeOf(panel, side) {
  const axis = panel[side];
  let low = Infinity, high = -Infinity;
  const include = (value) => {
    if (value === null || !isShown(axis, value))
      return;
    low = Math.min(low, value);
    high = Math.max(high, value);
  };
  for (const layer of panel.layers.filter((one) => one.mark !== 'text')) {
    if (layer.mark === 'bars' && runsAlong(layer, side) && axis.scale === 'linear')
      include(0);
    (layer[side] || []).forEach(include);
    if (runsAlong(layer, side)) {
      (layer.low || []).forEach(include);
      (layer.high || []).forEach(include);
    }
  }
  return low <= high ? { low, high } : null;
}

function scaleData(panel, side, factor) {
  const divide = (values) => values.map((value) => (value === null ? null : value / factor));
  for (const layer of panel.layers) {
    if (layer[side])
      layer[side] = divide(layer[side]);
    for (const end of runsAlong(layer, side) ? ['low', 'high'] : [])
      if (layer[end])
        layer[end] = divide(layer[end]);
  }
}

/**
 * The unit of an axis that shows about [low, high]: on a log axis of times each tick says its own,
 * everything else gets one. Millions are read faster than 5000000; ticks that were given say their
 * numbers as they are.
 * @returns {{name: string, factor: number}}
 */
function axisUnit(axis, low, high) {
  const log = axis.scale === 'log';
  if (log && axis.quantity === 'time')
    return { name: '', factor: 1 };
  const typical = log ? Math.sqrt(low * high) : Math.max(Math.abs(low), Math.abs(high));
  const large = axis.quantity === 'plain' && !log && typical >= 1e5 && axis.ticks.length === 0;
  return unitFor(large ? 'rate' : axis.quantity, axis.base, typical);
}

function chooseUnit(panel, side, range) {
  const axis = panel[side], given = axis.low !== undefined && axis.high !== undefined;
  const unit = axisUnit(axis, given ? axis.low : range.low, given ? axis.high : range.high);
  const words = [unit.name, axis.scale === 'log' ? 'log scale' : ''].filter(Boolean).join(', ');
  if (axis.label && words)
    axis.label = `${axis.label} (${words})`;
  axis.factor = unit.factor;
  scaleData(panel, side, unit.factor);
  for (const end of [range, axis])
    for (const name of ['low', 'high'])
      if (end[name] !== undefined)
        end[name] /= unit.factor;
}

function hasBars(panel, side) {
  return panel.layers.some((layer) => layer.mark === 'bars' && runsAlong(layer, side));
}

function widenLog(range) {
  range.low /= 1.3;
  range.high *= 1.3;
}

function widenLinear(range, bars) {
  const pad = (range.high > range.low ? (range.high - range.low) * 0.06
    : Math.abs(range.high) * 0.1) || 1;
  if (range.low >= 0 && (bars || range.low <= 0.6 * range.high))
    range.low = 0;
  else
    range.low -= pad;
  if (range.high > 0 || !bars || range.high === range.low)
    range.high += pad;
}

/* What counts something has no ticks between whole numbers. */
function mostTicks({ whole }, low, high, most) {
  while (whole && most > 1 && !Number.isInteger(tickStep(low, high, most)))
    most--;
  return most;
}

const PERCENTS = [0, 25, 50, 75, 90, 95, 99, 99.9, 99.99, 99.999];

/* Shares by nines. Between two of them even steps say more. */
function ninesTicks(axis, low, high, most) {
  const percent = (axis.factor ?? 1) * 100;
  const texts = (list) => list.map((at) => ({ at: at / percent, text: `${general(at, 9)} %` }));
  const marks = PERCENTS.filter((at) => at >= low * percent - 1e-9 && at <= high * percent + 1e-9);
  return texts(marks.length > 2 ? marks
    : linearTicks(low * percent, Math.min(high * percent, 100), most).map(({ at }) => at)
      .filter((at) => at < 100));
}

/** Ticks of [low, high] of an axis with a scale of numbers. @param {number} most about so many */
export function axisTicks(axis, low, high, most) {
  let ticks = [];
  if (hasDates(axis))
    return dateTicks(axis, low, high, most);
  if (axis.scale === 'log')
    ticks = logTicks(low, high, most + Math.floor(most / 2),
      axis.quantity === 'time' ? 'time' : 'plain', axis.base);
  if (axis.scale === 'nines')
    ticks = ninesTicks(axis, low, high, most);
  for (let finer = most; axis.scale === 'linear' && ticks.length < 3 && finer < most + 4; finer++)
    ticks = linearTicks(low, high, mostTicks(axis, low, high, finer));
  return axis.quantity !== 'percent' ? ticks : ticks.map((tick) => (tick.at > 0 && tick.text
    ? { ...tick, text: `+${tick.text}` } : tick));
}

/** Ticks where there are none yet. */
export function addTicks(axis, most) {
  if (axis.scale !== 'category' && axis.ticks.length === 0)
    axis.ticks = axisTicks(axis, axis.low, axis.high, most);
}

/** Sets unit and range. @returns {boolean} false where there is no finite number */
export function fitAxis(panel, side) {
  const axis = panel[side];
  const range = rangeOf(panel, side);
  if (!range)
    return false;
  if (axis.scale === 'category') {
    axis.low = -0.5;
    axis.high = axis.ticks.length - 0.5;
    return true;
  }
  chooseUnit(panel, side, range);
  if (axis.scale === 'log')
    widenLog(range);
  else
    widenLinear(range, hasBars(panel, side));
  axis.low ??= range.low;
  axis.high ??= range.high;
  const least = Math.max(Math.abs(axis.low), Math.abs(axis.high)) * 2 ** -40;
  if (axis.scale === 'linear' && !(axis.high - axis.low >= least)) {
    axis.low -= least; /* too close for ticks between them */
    axis.high += least;
  }
  return true;
}

/** Names at 0, 1, ...; the first at the top where it is reversed. */
export function nameAxis(axis, names, reversed = false) {
  axis.scale = 'category';
  axis.ticks = names.map((text, at) => ({ at, text }));
  axis.reversed = reversed;
  axis.bare = true;
}
