/* SPDX-License-Identifier: MIT */
/*
 * The figures of the program, by section. A figure is fetched and drawn when it comes near the
 * screen. Other runs and filters reach it: the server builds it anew; in a file those of its marks
 * stay that stand for what is chosen, of a figure with more rows where there is one.
 */
import { el, fill } from './dom.js';
import { presetTakes } from './glob.js';
import { hasMarks, narrowed } from './marks.js';
import { drawFigure, figureCard, forgetFigure } from './figure.js';

const NEAR = '800px';

/** Chapters of figures (harness/chart/chapter.h) in the page's order. */
export const CHAPTERS = [
  { id: 'comparison', title: 'Comparison' },
  { id: 'history', title: 'History' },
  { id: 'kernels', title: 'Kernels' },
  { id: 'models', title: 'Models' },
  { id: 'profile', title: 'Where the time goes' },
  { id: 'machine', title: 'The machine' },
];

/* What answers most leads its chapter; the rest in the program's order. */
const FIRST = ['dumbbell', 'trend', 'roofline', 'bars', 'speedup', 'violin'];

function rankOf(info) {
  const rank = FIRST.indexOf(info.preset?.type);
  return rank < 0 ? FIRST.length : rank;
}

const modesOf = (preset) => [].concat(preset?.mode || 'single');
const same = (a, b) => a.length === b.length && a.every((one, i) => one === b[i]);

/* The runs that the program drew into a figure of one or several. */
function drawnRuns({ core }, info) {
  return modesOf(info.preset).includes('multi') && core.selected.length > 1 ? core.selected
    : [core.head];
}

/* Which runs it shows now: until the reader chooses, those that it was drawn for. */
function runsFor(app, info) {
  if (app.state.get('runs') === '')
    return drawnRuns(app, info);
  const chosen = app.chosenRuns(), modes = modesOf(info.preset);
  if (modes.includes('multi') && (chosen.length > 1 || !modes.includes('single')))
    return chosen;
  return chosen.includes(app.core.head) || chosen.length === 0 ? [app.core.head] : chosen.slice(-1);
}

/* Is it what the program drew? */
function isOriginal(app, info) {
  const modes = modesOf(info.preset);
  if (modes.includes('profile')) /* of no run, so no filter reaches it */
    return true;
  return !app.filters() && (modes.includes('compare') || modes.includes('trend')
    || same(runsFor(app, info), drawnRuns(app, info)));
}

/* Are its marks of the runs that are chosen, or of all runs? */
const isOfChosenRuns = (preset) => !modesOf(preset).some((mode) => ['compare', 'trend'].includes(mode));

/* What the reader's choice takes of a figure's marks. */
function takesOf(app, info) {
  const { rows, benchmarks } = app.selection, byRun = isOfChosenRuns(info.preset);
  const left = new Set(rows.map((row) => `${row.run}:${row.benchmark}`));
  const chosen = new Set(byRun ? runsFor(app, info) : []);
  return (key, uuid) => {
    const benchmark = app.benchmarkOf(key), run = uuid === null ? -1 : app.runOfUuid(uuid);
    if (run < 0)
      return benchmarks.has(benchmark);
    return left.has(`${run}:${benchmark}`) && (!byRun || chosen.has(run));
  };
}

/* Benchmarks of the chosen runs that the figure would show but for want of room, or because it is of
 * other runs. */
function missing(app, info, spec) {
  if (!isOfChosenRuns(info.preset))
    return 0;
  const runs = new Set(runsFor(app, info)), filter = [].concat(info.preset.filter ?? []);
  const has = new Set((spec.benchmarks || []).map((key) => app.benchmarkOf(key)));
  const drawn = new Set((spec.runs || []).map((uuid) => app.runOfUuid(uuid)));
  return app.selection.rows.filter((row) => runs.has(row.run) && row.n > 0
    && presetTakes(filter, app.core.benchmarks[row.benchmark].key)
    && !(has.has(row.benchmark) && drawn.has(row.run))).length;
}

/* The same figure with as many rows as there is room for, where a file has it. */
const wholeId = (id) => `${id}/all`;

/* Does the reader's choice leave some of its marks out? */
const isNarrowed = (app, info, spec) => !app.source.live && spec && !spec.reason && !isOriginal(app, info)
  && hasMarks(spec);

/* The figure as the reader's choice wants it, and what has to be said beside it. */
function choiceOf(app, info, spec, whole) {
  if (!isNarrowed(app, info, spec))
    return { spec };
  const all = whole || spec, more = missing(app, info, all);
  const some = narrowed(all, takesOf(app, info), { title: info.title,
    why: app.filters() ? 'filter' : 'chosen' }), none = some.reason && more > 0;
  return { spec: none ? { ...some, reason: `of the ${more} that were chosen this file draws none` } : some,
    note: more > 0 ? `${more} more that were chosen are not drawn in this file; harness serve draws all.` : '' };
}

async function figureNow(app, info) {
  const spec = await app.source.figure(info.id);
  await (isOriginal(app, info) || app.ready);
  return choiceOf(app, info, spec, isNarrowed(app, info, spec) ? await app.source.figure(wholeId(info.id)) : null);
}

class Slot {
  constructor(app, info) {
    this.app = app;
    this.info = info;
    this.element = el('div', { class: 'slot', id: `slot-${info.id}` });
    this.near = false;
    this.asked = 0;
    this.wait();
    this.observer = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting))
        this.approach();
    }, { rootMargin: NEAR });
    this.observer.observe(this.element);
  }

  show(...nodes) {
    if (this.card)
      forgetFigure(this.card);
    this.card = null;
    fill(this.element, nodes);
  }

  /* Until it comes near: in words, which speak of all that the program drew. */
  wait() {
    const { app, info } = this, fits = app.source.live || isOriginal(app, info);
    this.show(el('p', { class: 'waiting' }, info.title, fits && info.alt ? [': ', info.alt] : null));
  }

  approach() {
    if (this.near)
      return this.drawn;
    this.near = true;
    this.drawn = this.draw();
    return this.drawn;
  }

  showCard({ spec, note }) {
    const { app, info } = this;
    if (!spec)
      throw new Error('the figure is not in this file');
    const card = figureCard(app.named(spec), { how: info.how, preset: info.preset, eager: true,
      onConfig: () => app.savePreset(info.preset), onPoint: (mark) => app.choose(mark),
      whole: spec.view === 'timeline' ? () => app.source.trace() : null });
    this.show(note ? el('p', { class: 'beside' }, note) : null, card);
    this.card = card;
    if (spec.reason && !app.filters())
      this.onAbsent?.();
  }

  /** Its card, where the page has what it takes: without waiting. */
  makeNow() {
    const { app, info } = this, spec = app.source.figureAtHand(info.id);
    if (this.card || !spec || !(isOriginal(app, info) || app.selection))
      return;
    this.near = true;
    this.asked++;
    this.showCard(choiceOf(app, info, spec, app.source.figureAtHand(wholeId(info.id))));
    this.drawn = Promise.resolve();
  }

  /** Fetched and drawn, wherever it stands. */
  async whole() {
    await this.approach();
    if (this.card)
      await drawFigure(this.card);
  }

  isInView() {
    const { top, bottom } = this.element.getBoundingClientRect();
    return bottom > 0 && top < window.innerHeight;
  }

  async draw() {
    const mine = ++this.asked, { app, info } = this;
    this.failed = false;
    try {
      const choice = await figureNow(app, info);
      if (mine === this.asked)
        this.showCard(choice);
    } catch (error) {
      this.failed = error.name !== 'AbortError' && mine === this.asked;
      if (this.failed)
        this.show(el('p', { class: 'error' }, `${info.title}: ${error.message}`));
    }
  }

  renew() {
    if (this.near)
      this.drawn = this.draw();
    else
      this.wait();
  }

  retry() {
    if (this.failed)
      this.renew();
  }

  forget() {
    this.observer.disconnect();
    this.asked++;
    this.show();
  }
}

/** What the reader unfolded stays so when the page is built anew. @returns {HTMLDetailsElement} */
export function kept(app, id, details) {
  details.open = app.unfolded.has(id);
  details.addEventListener('toggle', () => app.unfolded[details.open ? 'add' : 'delete'](id));
  return details;
}

/* What is folded is found all the same: its words stand there before it is drawn. */
function folded(app, chapter) {
  const summary = el('summary'), place = el('div', { class: 'figures' });
  const element = kept(app, `figures-${chapter}`, el('details', { class: 'folded' }, summary, place));
  return { element, show(slots) {
    element.hidden = slots.length === 0;
    fill(summary, `${slots.length} more figure${slots.length === 1 ? '' : 's'}: ${
      slots.map((slot) => slot.info.title).join(', ')}`);
    fill(place, slots.map((slot) => slot.element));
  } };
}

/* One leads; a server says late that a figure has nothing to show, and then the next one does. */
function leading(app, chapter, slots) {
  const first = el('div'), rest = folded(app, chapter), absent = new Set();
  const show = (order) => {
    fill(first, order[0].element);
    rest.show(order.slice(1));
    for (const slot of order)
      slot.onAbsent = () => {
        absent.add(slot);
        if (slot === order[0] && absent.size < slots.length)
          show([...order.slice(1), slot]);
      };
  };
  show(slots);
  return [first, rest.element];
}

/* The answer of one profile has the whole table, of which the figure is the first part. */
const isTwice = (app, info) => info.id === 'operations' && app.core.profile?.operations
  && !app.core.profile.base;

/**
 * The figures of one chapter that are not absent: one leads, the rest is folded.
 * @returns {{element: Element, slots: Slot[]}|null} null where there is none
 */
export function figureSlots(app, chapter) {
  const infos = app.core.figures.filter((info) => info.chapter === chapter && !info.reason
    && !isTwice(app, info))
    .sort((a, b) => rankOf(a) - rankOf(b));
  if (infos.length === 0)
    return null;
  const slots = infos.map((info) => new Slot(app, info));
  return { element: el('div', { class: 'figures' }, leading(app, chapter, slots)), slots };
}
