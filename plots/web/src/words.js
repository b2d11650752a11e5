/* SPDX-License-Identifier: MIT */
/*
 * Numbers as people read them, letter for letter as the program prints them (quantity_text() in
 * harness/text/ticks.h). tests/fixtures/units.json has the table that both are tested with.
 */

const TIMES = ['ns', 'µs', 'ms', 's'];
const PREFIXES = ['', 'k', 'M', 'G', 'T', 'P'];
const BYTES = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
const NONE = 'n/a';
const EXACT_DIGITS = 100;

/* Is the number just between two texts? toFixed() then goes up, C goes to the even digit. Such
 * numbers are the odd multiples of 2^-(digits + 1). */
function isHalf(value, digits) {
  return Number.isInteger(value * 2 ** (digits + 1)) && !Number.isInteger(value * 2 ** digits);
}

/** printf's %.*f of a number that is not negative. */
function fixedPositive(value, digits) {
  if (value >= 1e21)
    return BigInt(value).toString() + (digits > 0 ? `.${'0'.repeat(digits)}` : '');
  const text = value.toFixed(digits);
  if (!isHalf(value, digits) || Number(text.at(-1)) % 2 === 0)
    return text;
  const scale = 10 ** digits;
  return (Math.floor(value * scale) / scale).toFixed(digits);
}

/** printf's %.*f. @param {number} value finite */
export function fixed(value, digits) {
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  return sign + fixedPositive(Math.abs(value), digits);
}

/** Significant digits of a positive number, rounded half to even, and the power of the first. */
function rounded(value, count) {
  const [mantissa, power] = value.toExponential(EXACT_DIGITS).split('e');
  const all = mantissa.replace('.', '');
  const tail = all.slice(count);
  let digits = BigInt(all.slice(0, count));
  const half = `5${'0'.repeat(tail.length - 1)}`;
  if (tail > half || (tail === half && digits % 2n === 1n))
    digits += 1n;
  const text = digits.toString();
  return { digits: text.slice(0, count), power: Number(power) + text.length - count };
}

const withoutZeros = (text) => (text.includes('.') ? text.replace(/\.?0*$/, '') : text);

/** printf's %.*g. @param {number} value finite */
export function general(value, count) {
  if (value === 0)
    return Object.is(value, -0) ? '-0' : '0';
  const sign = value < 0 ? '-' : '';
  const { digits, power } = rounded(Math.abs(value), count);
  if (power < -4 || power >= count) {
    const mantissa = withoutZeros(`${digits[0]}.${digits.slice(1)}`);
    const size = String(Math.abs(power)).padStart(2, '0');
    return `${sign}${mantissa}e${power < 0 ? '-' : '+'}${size}`;
  }
  const point = power + 1;
  const text = point > 0 ? `${digits.slice(0, point)}.${digits.slice(point)}`
    : `0.${'0'.repeat(-point)}${digits}`;
  return sign + withoutZeros(text);
}

/* Four digits and a unit. 999.95 would print as 1000, and 1023.5, without decimals, as 1024: the
 * next unit takes over where rounding would reach it. */
function scaled(value, step, units) {
  const most = step > 1000 ? step - 0.5 : step - 0.05;
  let unit = 0;
  while (unit + 1 < units.length && Math.abs(value) >= most) {
    value /= step;
    unit++;
  }
  const size = Math.abs(value);
  const decimals = size >= 999.95 ? 0 : size >= 99.995 ? 1 : size >= 9.9995 ? 2 : 3;
  return `${fixed(value, decimals)} ${units[unit]}`;
}

/** "12.30 µs" of nanoseconds. */
export const timeText = (ns) => (Number.isFinite(ns) ? scaled(ns, 1000, TIMES) : NONE);

/** "1.500 GiB" */
export const bytesText = (bytes) => (Number.isFinite(bytes) ? scaled(bytes, 1024, BYTES) : NONE);

/** "3.100 GFLOP/s"; a base that starts with a space keeps it off the prefix: "3.100 k tokens/s". */
export function rateText(perSecond, base) {
  return Number.isFinite(perSecond)
    ? (scaled(perSecond, 1000, PREFIXES) + base).replace('  ', ' ') : NONE;
}

/* A tenth says something below 100 % alone; what rounds to nothing is not negative; beyond a
 * million percent there is no room for digits. */
function percentNumber(fraction, plus) {
  const percent = fraction * 100, size = Math.abs(percent), sign = percent < 0 ? '-' : plus;
  if (!Number.isFinite(fraction))
    return NONE;
  if (size < 0.05)
    return `${plus}0.0`;
  return sign + (size < 999999.5 ? fixed(size, size < 99.95 ? 1 : 0) : general(size, 2));
}

const percentOf = (fraction, plus) => percentNumber(fraction, plus)
  + (Number.isFinite(fraction) ? ' %' : '');

/* From here on nobody sees in a percentage how many times it is. */
const isTimes = (fraction) => Number.isFinite(fraction) && fraction >= 99;

/* "1,897x", "0.98x" of a change: how many times as much it is afterwards. */
function timesText(fraction) {
  const times = 1 + fraction;
  if (!Number.isFinite(times))
    return NONE;
  if (times < 999.5)
    return `${fixed(times, times < 9.995 ? 2 : times < 99.95 ? 1 : 0)}x`;
  return `${times < 999999.5 ? fixed(times, 0).replace(/(?=\d{3}$)/, ',') : general(times, 2)}x`;
}

/** "+3.2 %", "+1334 %" of a fraction that is a change; "1,897x" from a hundredfold on. */
export const percentText = (fraction) => (isTimes(fraction) ? timesText(fraction)
  : percentOf(fraction, '+'));

/** "-1.0 to +3.2 %", "85.0x to 120x" */
export const percentRangeText = (low, high) => (isTimes(low) || isTimes(high)
  ? `${timesText(low)} to ${timesText(high)}`
  : `${percentNumber(low, '+')} to ${percentNumber(high, '+')} %`);

/** "12.5 %" of a fraction that is a share. */
export const shareText = (fraction) => percentOf(fraction, '');

/** Four significant digits, without unit; with more of them before the point a prefix: "12.34 k". */
export function plainText(value) {
  if (!Number.isFinite(value))
    return NONE;
  const size = Math.abs(value);
  return size >= 9999.5 && size < 999.95e15 ? scaled(value, 1000, PREFIXES) : general(value, 4);
}

/**
 * @param {"time"|"bytes"|"rate"|"percent"|"share"|"plain"} quantity
 * @param {string} base  unit of rates
 * @param {?number} value  in the quantity's base unit: ns, bytes, per second, a fraction
 * @returns {string} with its unit; "n/a" where there is no number
 */
export function quantityText(quantity, base, value) {
  const number = value === null || value === undefined ? NaN : value;
  switch (quantity) {
    case 'time': return timeText(number);
    case 'bytes': return bytesText(number);
    case 'rate': return rateText(number, base || '');
    case 'percent': return percentText(number);
    case 'share': return shareText(number);
    default: return plainText(number);
  }
}

/** The same for who reads no unit beside it: a plain number has its own behind it, "12.5 W". */
export function quantityUnitText(quantity, base, value) {
  const text = quantityText(quantity, base, value);
  return (quantity ?? 'plain') === 'plain' && base && text !== NONE ? `${text} ${base.trim()}` : text;
}

/** "2026-11-10 09:54:00Z" of milliseconds since 1970. */
export function timestampText(ms) {
  return Number.isFinite(ms)
    ? `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')}Z` : NONE;
}
