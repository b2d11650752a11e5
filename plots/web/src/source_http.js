/* SPDX-License-Identifier: MIT */
import { followNews } from './news.js';
import { whenReleased } from './press.js';

/** An answer that is no data; `at` is the column of a filter that could not be read. */
class AnswerError extends Error {
  constructor(message, at, status) {
    super(message);
    this.at = at;
    this.status = status;
  }
}

/* What the browser says of a server that is gone differs, and is not for readers. */
async function fetched(url, options) {
  try {
    return await fetch(url, options);
  } catch (error) {
    throw error.name === 'AbortError' ? error
      : new AnswerError('the server does not answer; is harness serve still running?');
  }
}

async function answerOf(response) {
  if (response.ok)
    return response.json();
  let body = {};
  try {
    body = await response.json();
  } catch { /* the status has to do */ }
  throw new AnswerError(body.error || `the server answered ${response.status}`, body.at,
    response.status);
}

/* One request of a kind at a time: a newer one makes the older one pointless. */
function requester() {
  const running = new Map();
  const stop = (kind) => running.get(kind)?.abort();
  const ask = async (kind, url) => {
    stop(kind);
    const abort = new AbortController();
    running.set(kind, abort);
    try {
      return await answerOf(await fetched(url, { signal: abort.signal }));
    } finally {
      if (running.get(kind) === abort)
        running.delete(kind);
    }
  };
  return { ask, stop };
}

/** "a=b&c=d" of those that have a value. */
function queryOf(choice) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(choice))
    if (value !== '' && value !== null && value !== undefined)
      query.set(key, value);
  return query.toString();
}

/** What the page's own address asks for. */
function choiceOf(location) {
  const asked = new URLSearchParams(location.search);
  return Object.fromEntries(['run', 'base', 'where', 'from', 'limit']
    .map((key) => [key, asked.get(key) || '']));
}

/* The newest few answers, by what they are of; one that failed is asked for again. */
function remembered(most) {
  const kept = new Map();
  return (key, make) => {
    if (!kept.has(key)) {
      kept.set(key, make().catch((error) => {
        kept.delete(key);
        throw error;
      }));
      if (kept.size > most)
        kept.delete(kept.keys().next().value);
    }
    return kept.get(key);
  };
}

/* A benchmark without a time has none. */
function noSamples(error) {
  if (error.status === 404)
    return null;
  throw error;
}

/** Data is fetched from the server that sent the page. */
export function httpSource(core, location) {
  const { ask, stop } = requester(), samples = remembered(64);
  const asked = choiceOf(location);
  let choice = asked, wanted = asked; /* what the page shows; what was asked for last */
  let due = false; /* the history has changed, and no answer has come since */
  let table = null;
  const url = (path, more = {}) => {
    const query = queryOf({ ...choice, ...more });
    return query ? `${path}?${query}` : path;
  };

  /* Answers to what is wanted no more change nothing. */
  const coreOf = async (next) => {
    try {
      const answer = await ask('core', `api/core?${queryOf(next)}`);
      await new Promise(whenReleased);
      if (wanted !== next)
        return null;
      choice = next;
      due = false;
      table = null;
      source.core = answer;
      return answer;
    } catch (error) {
      if (wanted === next)
        wanted = choice;
      throw error;
    }
  };

  const source = {
    core,
    asked,
    live: true,
    table() {
      table = table || ask('table', url('api/table')).catch((error) => {
        table = null;
        throw error;
      });
      return table;
    },
    figure: (id) => ask(`figure ${id}`, url(`api/figure/${encodeURIComponent(id)}`)),
    trace: () => ask('trace', 'api/trace'),
    figureAtHand: () => null,
    samples(run, benchmark) {
      const { id, uuid } = source.core.runs[run], { key } = source.core.benchmarks[benchmark];
      const asked = `api/samples?${queryOf({ run: id, key })}`;
      /* A history in the place of another has other runs by the same numbers. */
      return samples(`${uuid} ${key}`, () => ask(asked, asked).catch(noSamples));
    },
    history: (key, metric) => ask('history', `api/history?${queryOf({ key, metric })}`),
    explore: (preset, more) => ask('explore', url('api/explore',
      { ...more, preset: JSON.stringify(preset) })),
    /** @param {string} what  "accept" or "annotate"; see harness/serve/edits.h */
    edit: async (what, about) => answerOf(await fetched(`api/${what}`, { method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Harness-Key': source.core.edit_key },
      body: JSON.stringify(about) })),
    tokenOf: (run) => String(source.core.runs[run].id),
    runOf: (token) => source.core.runs.findIndex((run) => String(run.id) === token),
    /**
     * @param {{run?: string, base?: string, where?: string, from?: string}} changes
     * @param {boolean} anew  also where nothing changes: the history has
     */
    async select(changes, anew = false) {
      const next = { ...wanted, ...changes };
      due = due || anew;
      if (!due && queryOf(next) === queryOf(wanted))
        return null;
      wanted = next;
      if (due || queryOf(next) !== queryOf(choice))
        return coreOf(next);
      stop('core'); /* taken back: the page has it */
      return null;
    },
    watch(listener) {
      if (source.core.watch)
        followNews('api/events', listener);
    },
    /** Does the list of runs begin with another than the newest? */
    paged: () => choice.from !== '',
  };
  return source;
}
