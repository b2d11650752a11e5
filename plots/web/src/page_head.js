/* SPDX-License-Identifier: MIT */
/* The fixed part of the page: title, answer, runs, filters, theme. */
import { button, el, fill, nameOf } from './dom.js';
import { answer, comparePicker, compared, runPicker, themeChoice } from './head.js';
import { facetPanel, searchBox } from './facets.js';
import { overviewAnswer, overviewBody } from './overview.js';
import { printPage } from './print.js';

class PageHead {
  constructor(app) {
    this.app = app;
    this.title = el('h1');
    this.answer = el('div', { class: 'answers' });
    this.overview = el('div');
    this.error = el('p', { class: 'error', role: 'alert' });
    this.said = '';
    this.runs = runPicker(app);
    this.compare = comparePicker(app);
    this.search = searchBox(app);
    this.facets = facetPanel(app);
    this.choices = el('div', { class: 'choices', role: 'search' }, this.search.element, this.runs.element,
      this.facets.element);
    this.element = el('header', { class: 'page-head' },
      el('div', { class: 'title-row' }, this.title, el('div', { class: 'page-tools' },
        themeChoice(app.state), button('Print', () => printPage(app)))),
      this.answer, this.overview, this.error, this.compare.element, this.choices);
  }

  update() {
    const { app } = this, { core } = app;
    fill(this.title, nameOf(core.title || 'harness', 160));
    this.choices.hidden = core.runs.length === 0 && Boolean(core.profile)
      && !app.filters(); /* nothing to choose from */
    const told = core.runs.length > 0 && core.overview;
    fill(this.answer, told ? overviewAnswer(core.overview) : answer(core), told ? null : compared(core));
    fill(this.overview, told ? overviewBody(app, compared(core)) : null);
    this.answer.classList.toggle('alone', Boolean(told));
    this.runs.update();
    this.compare.update();
    this.facets.update();
    this.search.update(app.error || this.said);
  }

  /** A sentence on what went wrong; "" when it is well again. */
  problem(text) {
    const filter = /^column \d+/.test(text);
    this.said = filter ? text : '';
    this.search.update(this.app.error || this.said);
    fill(this.error, filter ? null : text);
  }

  /** The theme's choice and the filter's field follow the address. */
  link() {
    const select = this.element.querySelector('.page-tools select');
    select.value = this.app.state.get('theme');
    this.search.follow();
  }
}

/** @returns {{element: Element, update, problem, link: function}} */
export function pageHead(app) {
  return new PageHead(app);
}
