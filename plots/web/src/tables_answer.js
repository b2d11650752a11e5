/* SPDX-License-Identifier: MIT */
/*
 * What tables without a trace answer that were dropped on the page, in the form of core.profile: of a
 * profile.json by the medians of its iterations, as the program does (harness/page/page_profile.c); of a
 * summary of the scopes library by own times.
 */
import { median } from './stats.js';
import { shareText, timeText } from './words.js';

const TOP = 5, LEAST_PART = 0.0005;

/* By name: own time of all iterations, were each as long as the median one. */
function typicalTimes(layers) {
  const times = new Map(), nr = layers?.ns?.length || 0;
  const add = (name, values) => {
    const middle = values?.length === nr && nr > 0 ? median(values) : 0;
    if (middle > 0)
      times.set(name, middle * nr);
  };
  for (const one of layers?.operations || [])
    add(one.operation, one.self_ns);
  add(layers?.iteration, layers?.rest_ns);
  return times;
}

function ranked(rows, json) {
  const times = typicalTimes(json.layers);
  const list = rows.map((row) => ({ row, ns: times.get(row.operation) ?? row.self }))
    .filter(({ ns }) => ns > 0).sort((a, b) => b.ns - a.ns);
  const whole = list.reduce((sum, { ns }) => sum + ns, 0);
  return list.map((one) => ({ ...one, share: one.ns / whole }));
}

const wordsOf = ({ row, ns, share }) => `${timeText(ns)}, ${shareText(share)} of the time, ${row.calls} call${
  row.calls === 1 ? '' : `s of ${timeText(row.p50)} (median)`}`;

function splitOf(split) {
  if (!(split?.span_ns > 0))
    return null;
  const parts = Object.entries(split.parts || {}).map(([name, ns]) => ({ name, ns, share: ns / split.span_ns }))
    .filter((part) => part.share >= LEAST_PART);
  return { title: `${split.device < 0 ? "The main thread's" : `GPU ${split.device}'s`} ${timeText(split.span_ns)}`,
    parts: parts.map((part) => ({ name: part.name, share: shareText(part.share), words: timeText(part.ns) })) };
}

function headlineOf(first, name, whole) {
  if (!first)
    return `Nothing was recorded in ${name} that took any time.`;
  return first.row.operation === whole ? `${shareText(first.share)} of ${whole} is in none of its operations.`
    : `${first.row.operation} takes ${shareText(first.share)} of ${whole}.`;
}

/** @param {object[]} rows  of profileTables() @param {object} json  the file @param {string} file  its name */
export function tablesAnswer(rows, json, file) {
  const host = rows.filter((row) => !row.onDevice), shown = host.length ? host : rows;
  const list = ranked(shown, json), { layers, split, advice } = json;
  const sum = (member) => shown.reduce((all, row) => all + row[member], 0);
  const cards = [['operations recorded', String(rows.reduce((all, row) => all + row.calls, 0))],
    ['different operations', String(rows.length)], ['total time', timeText(sum('self'))],
    ['own time of a call, on average', timeText(sum('self') / Math.max(1, sum('calls')))],
    ...(layers?.ns?.length ? [['iterations', String(layers.ns.length)],
      ['median iteration', timeText(median(layers.ns))]] : [])];
  return { name: file, headline: headlineOf(list[0], file, layers?.iteration ?? json.profile ?? file),
    words: ['Tables without their trace: nothing has a place in time.'],
    cards: cards.map(([label, value]) => ({ label, value })), split: splitOf(split),
    top: list.slice(0, TOP).map((one) => ({ operation: one.row.operation, words: wordsOf(one) })),
    top_by: 'own time', advice: (advice || []).map((one) => ({ text: String(one.text),
      evidence: `rule ${one.rule}: ${one.value}, told from ${one.threshold} on` })) };
}
