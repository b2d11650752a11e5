/* SPDX-License-Identifier: MIT */
/* The sections of the page, in their order, with links to each. */
import { button, el } from './dom.js';
import { CHAPTERS, figureSlots, kept } from './figures.js';
import { dropZone } from './drop.js';
import { environmentView } from './environment.js';
import { explorePanel } from './explore.js';
import { howMade } from './how_made.js';
import { profileHeadline, profileSummary } from './profile_answer.js';
import { resultsTable } from './results.js';
import { trendCards } from './trend_cards.js';
import { verdictTable } from './verdicts.js';

function section(id, title, ...children) {
  const heading = el('h2', { id: `${id}-title`, tabindex: '-1' }, title);
  return { id, title, heading, element: el('section', { id: `section-${id}`,
    'aria-labelledby': `${id}-title` }, heading, children) };
}

/* A chapter that nobody reads from end to end: found by search, on paper, or when it is opened. */
function foldedSection(app, id, title, ...children) {
  const one = section(id, title);
  one.element.classList.add('is-folded');
  one.element.replaceChildren(kept(app, id, el('details', {}, el('summary', {}, one.heading), children)));
  return one;
}

/* The address belongs to the state, so these are no links. */
function rail(sections, alone) {
  const go = ({ heading, element }) => {
    const details = element.querySelector(':scope > details');
    if (details)
      details.open = true;
    heading.scrollIntoView({ block: 'start' });
    heading.focus({ preventScroll: true });
  };
  const buttons = sections.map((one) => button(one.title, () => go(one), { class: 'link' }));
  const top = button('Overview', () => window.scrollTo(0, 0), { class: 'link' });
  const seen = new IntersectionObserver((entries) => entries.forEach(({ target, isIntersecting }) => {
    const at = sections.findIndex((one) => one.element === target);
    buttons[at].setAttribute('aria-current', String(isIntersecting));
  }), { rootMargin: '-30% 0px -69%' });
  sections.forEach((one) => seen.observe(one.element));
  return { element: el('nav', { class: 'rail', 'aria-label': 'Sections' }, el('ul', {},
    [alone ? null : top, ...buttons].filter(Boolean).map((one) => el('li', {}, one)))), forget: () => seen.disconnect() };
}

const idle = () => new Promise((resolve) => (window.requestIdleCallback
  ? window.requestIdleCallback(resolve, { timeout: 2000 }) : setTimeout(resolve, 200)));

class PageBody {
  constructor(app) {
    this.app = app;
    this.verdicts = verdictTable(app);
    this.explore = explorePanel(app);
    this.results = resultsTable(app);
    this.drop = app.dropZone || dropZone();
    if (!app.dropZone)
      this.drop.listen(document.body);
    app.dropZone = this.drop; /* what was opened stays when the rest is built anew */
    this.slots = [];
    const sections = this.sections();
    this.rail = rail(sections, app.core.runs.length === 0);
    this.element = el('div', { class: 'body-grid' }, this.rail.element,
      el('div', {}, sections.map((one) => one.element)));
  }

  figures(id) {
    const found = figureSlots(this.app, id);
    this.slots.push(...(found?.slots || []));
    return found?.element;
  }

  /* Where there is a run its verdict is the page's answer, and the profile's heads its section. */
  profile(title) {
    const { profile, runs } = this.app.core, drawn = this.figures('profile');
    if (!profile)
      return drawn ? section('profile', title, drawn) : null;
    return section('profile', title, runs.length > 0 ? profileHeadline(profile) : null,
      profileSummary(profile), drawn);
  }

  chapter({ id, title }) {
    if (id === 'profile')
      return this.profile(title);
    const drawn = this.figures(id);
    if (id === 'comparison')
      return section(id, title, this.verdicts.element, drawn);
    if (id === 'machine')
      return section('environment', title, environmentView(this.app.core), drawn);
    const cards = id === 'history' ? trendCards(this.app.core, this.app.edit()) : null;
    if (cards)
      return section(id, title, cards, drawn);
    return drawn ? section(id, title, drawn) : null;
  }

  /* Then there is nothing to explore, and nothing is asked for it. */
  isProfileAlone() {
    return Boolean(this.app.core.profile) && this.app.core.runs.length === 0;
  }

  sections() {
    const { core } = this.app;
    const last = [foldedSection(this.app, 'how', 'How this was made', howMade(core)),
      foldedSection(this.app, 'open', 'Open a file', this.drop.element)];
    if (this.isProfileAlone())
      return [this.chapter(CHAPTERS.find((one) => one.id === 'profile')), ...last];
    return [...CHAPTERS.map((one) => this.chapter(one)).filter(Boolean),
      section('explore', 'Explore', this.explore.element),
      foldedSection(this.app, 'results', 'All results', this.results.element), ...last];
  }

  update(changed) {
    this.verdicts.update();
    this.results.update(changed);
    this.updateExplore();
    if (changed)
      this.slots.forEach((slot) => slot.renew());
  }

  /** Draws what could not be fetched before. */
  retry() {
    this.slots.forEach((slot) => slot.retry());
  }

  updateExplore() {
    if (!this.isProfileAlone())
      this.explore.update();
  }

  updateResults(changed) {
    this.results.update(changed);
  }

  /** Every figure, drawn. */
  async drawAll() {
    await Promise.all(this.slots.map((slot) => slot.whole()));
  }

  /** Those that are seen, drawn: when one is, others may have moved. */
  async drawInView() {
    for (let pass = 0; pass < 3; pass++)
      await Promise.all(this.slots.filter((slot) => slot.isInView()).map((slot) => slot.whole()));
  }

  /** The rest, one after the other, while nothing else is to be done. */
  async drawWhenIdle() {
    for (const slot of this.slots) {
      await idle();
      if (this.gone)
        return;
      await slot.whole();
    }
  }

  /** Cards of all figures that are at hand. */
  makeNow() {
    this.slots.forEach((slot) => slot.makeNow());
  }

  forget() {
    this.gone = true;
    this.slots.forEach((slot) => slot.forget());
    this.explore.forget();
    this.rail.forget();
  }
}

/** @returns {{element: Element, update, updateExplore, updateResults, drawAll, forget: function}} */
export function pageBody(app) {
  return new PageBody(app);
}
