/* SPDX-License-Identifier: MIT */
/* The sections of the page, in their order, with links to each. */
import { button, el } from './dom.js';
import { SECTIONS, figureSlots } from './figures.js';
import { dropZone } from './drop.js';
import { environmentView } from './environment.js';
import { explorePanel } from './explore.js';
import { howMade } from './how_made.js';
import { profileHeadline, profileSummary } from './profile_answer.js';
import { resultsTable } from './results.js';
import { verdictTable } from './verdicts.js';

function section(id, title, ...children) {
  const heading = el('h2', { id: `${id}-title`, tabindex: '-1' }, title);
  return { id, title, heading, element: el('section', { id: `section-${id}`,
    'aria-labelledby': `${id}-title` }, heading, children) };
}

/* The address belongs to the state, so these are no links. */
function contents(sections) {
  const go = ({ heading }) => {
    heading.scrollIntoView({ block: 'start' });
    heading.focus({ preventScroll: true });
  };
  return el('nav', { 'aria-label': 'Sections' }, el('ul', {}, sections.map((one) =>
    el('li', {}, button(one.title, () => go(one), { class: 'link' })))));
}

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
    this.element = el('div', {}, contents(sections), sections.map((one) => one.element));
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

  figureSection({ id, title }) {
    if (id === 'profile')
      return this.profile(title);
    const drawn = this.figures(id);
    if (id === 'verdict')
      return section(id, title, this.verdicts.element, drawn);
    return drawn ? section(id, title, drawn) : null;
  }

  sections() {
    const { core } = this.app;
    const last = [section('how', 'How this was made', howMade(core)),
      section('open', 'Open a file', this.drop.element)];
    if (core.profile && core.runs.length === 0)
      return [this.figureSection(SECTIONS.find((one) => one.id === 'profile')), ...last];
    const figures = SECTIONS.map((one) => this.figureSection(one)).filter(Boolean);
    return [...figures, section('explore', 'Explore', this.explore.element),
      section('results', 'All results', this.results.element),
      section('environment', 'Environment', environmentView(core)), ...last];
  }

  update(changed) {
    this.verdicts.update();
    this.results.update(changed);
    this.explore.update();
    if (changed)
      this.slots.forEach((slot) => slot.renew());
  }

  /** Draws what could not be fetched before. */
  retry() {
    this.slots.forEach((slot) => slot.retry());
  }

  updateExplore() {
    this.explore.update();
  }

  updateResults(changed) {
    this.results.update(changed);
  }

  /** Every figure, drawn. */
  async drawAll() {
    await Promise.all(this.slots.map((slot) => slot.approach()));
  }

  forget() {
    this.slots.forEach((slot) => slot.forget());
    this.explore.forget();
  }
}

/** @returns {{element: Element, update, updateExplore, updateResults, drawAll, forget: function}} */
export function pageBody(app) {
  return new PageBody(app);
}
