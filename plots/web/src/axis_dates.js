/* SPDX-License-Identifier: MIT */
/*
 * An axis of days since a moment, UTC ("since_ms" in harness/figure/figure.h): its ticks, as
 * ticks_dates() in harness/text/ticks.h has them, and its numbers as dates.
 */
import { timestampText } from './words.js';

const MINUTE = 60e3, DAY = 86400e3;
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10080, 20160, 43200, 129600,
  525600].map((minutes) => minutes * MINUTE);
const DATE = '2026-11-21'.length, TO_MINUTES = '2026-11-21 13:00'.length;

/** @param {object} axis  of a specification */
export const hasDates = (axis) => axis.since_ms !== undefined;

/** "2026-11-21 13:00" of a number of the axis. */
export const dateText = (axis, value) => timestampText(axis.since_ms
  + Math.round(value * DAY / 1000) * 1000).slice(0, TO_MINUTES);

/* The first step of which at most `most` fit into the span. */
function stepOf(span, most) {
  let step = STEPS.find((one) => Math.floor(span / one) < most) ?? STEPS.at(-1);
  while (Math.floor(span / step) >= most)
    step *= 2;
  return step;
}

/** Where days begin, or whole parts of one. @param {number} low, high  days @param {number} most */
export function dateTicks({ since_ms: since }, low, high, most) {
  const begin = since + Math.ceil(low * DAY), end = since + Math.floor(high * DAY);
  const step = stepOf(end - begin, most), from = Math.ceil(begin / step) * step;
  const isOneDay = Math.floor(from / DAY) === Math.floor(end / DAY);
  const [first, last] = step >= DAY ? [0, DATE] : [isOneDay ? DATE + 1 : '2026-'.length, TO_MINUTES];
  const ticks = [];
  for (let at = from; at <= end; at += step)
    ticks.push({ at: (at - since) / DAY, text: timestampText(at).slice(first, last) });
  return ticks;
}
