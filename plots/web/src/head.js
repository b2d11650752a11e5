/* SPDX-License-Identifier: MIT */
/* The top of the page: what this is, the verdict in words, what is compared, and what is shown. */
import { button, choice, el, fill, nameOf, refill, shortText } from './dom.js';
import { profileHeadline, profileNames } from './profile_answer.js';
import { timestampText } from './words.js';

function runLine(core, index) {
  const run = core.runs[index];
  const facts = [run.suite && `suite ${shortText(run.suite, 40)}`,
    run.branch && `branch ${shortText(run.branch, 40)}`, run.dirty && 'dirty'].filter(Boolean);
  return el('span', { class: 'run' }, el('b', {}, nameOf(run.name, 60)), ' ',
    facts.map((fact) => `${fact} · `),
    el('span', { class: 'nowrap' }, timestampText(run.started_ms)));
}

/** What stands in place of an overview where there is no run. */
export function answer(core) {
  return core.profile ? profileHeadline(core.profile)
    : el('p', { class: 'headline' }, 'There is no finished run to show.');
}

/** "base 3f2a91c against head …" */
export function compared(core) {
  if (core.runs.length === 0)
    return core.profile ? profileNames(core.profile) : null;
  const line = (what, index) => (index === null || index < 0 || index === undefined ? null
    : el('div', {}, el('span', { class: 'muted what' }, what), runLine(core, index)));
  return el('div', { class: 'compared' }, line('Base', core.base), line(core.base === null
    ? 'Run' : 'Head', core.head));
}

/** System, light or dark. */
export function themeChoice(state) {
  return choice('Theme', [{ value: '', text: 'as the system' }, { value: 'light', text: 'light' },
    { value: 'dark', text: 'dark' }], state.get('theme'), (value) => state.set({ theme: value }));
}

/* One checkbox a run, newest first; `chosen` is a Set. */
function runBox(app, index, chosen, full) {
  const run = app.core.runs[index];
  const box = el('input', { type: 'checkbox', checked: chosen.has(index),
    disabled: full && !chosen.has(index),
    onchange: () => app.chooseRun(index, box.checked) });
  const role = index === app.core.head ? 'head' : index === app.core.base ? 'base' : '';
  return el('label', { class: 'tick' }, box, el('span', {}, nameOf(run.name, 48), ' ',
    el('small', { class: 'muted' }, [role, timestampText(run.started_ms).slice(0, 16),
      run.epoch !== app.core.runs[app.core.head]?.epoch ? 'other environment' : '']
      .filter(Boolean).join(' · '))));
}

/* "812 · 3f2a91c · 2026-11-26 13:05 · nightly": what a reader looks for, and what is sent. */
const runWords = (run) => [run.id, run.name, timestampText(run.started_ms).slice(0, 16), run.label,
  run.branch].filter((word, i, all) => word && all.indexOf(word) === i)
  .map((word) => shortText(word, 60)).join(' · ');

/* A field that finds a run by any of its words; a number alone is a run of the history, in the list or
 * not. */
function runField(app, label, id, what, choose) {
  const list = el('datalist', { id: `${id}-list` });
  let shown = '';
  const field = el('input', { type: 'search', id, list: `${id}-list`, autocomplete: 'off',
    placeholder: what, onchange: () => {
      const text = field.value.trim(), words = text.toLowerCase().split(/\s+/);
      const fits = app.core.runs.filter((run) => words.every((word) =>
        runWords(run).toLowerCase().includes(word)));
      const number = /^(\d+)(\s|$)/.exec(text)?.[1];
      const found = number ?? (fits.length ? String(fits.at(-1).id) : '');
      field.setCustomValidity(text && !found ? 'No run in the list has these words.' : '');
      if (!field.reportValidity())
        return;
      shown = field.value;
      choose(text === '' ? '' : found);
    } });
  /* What is being typed stays, and so does the list that it is looked for in. */
  const update = (run) => {
    if (document.activeElement === field && field.value !== shown)
      return;
    fill(list, [...app.core.runs].reverse().map((one) => el('option', { value: runWords(one) })));
    field.value = shown = run ? runWords(run) : '';
  };
  return { element: el('label', { class: 'field wide' }, el('span', {}, label), field, list), update };
}

/** Which run is compared with which; a server alone can draw it. */
export function comparePicker(app) {
  const base = runField(app, 'Base', 'pick-base', 'a run to compare with', (id) => app.state.set({ base: id }, { step: true }));
  const head = runField(app, 'Head', 'pick-head', 'the newest run', (id) => app.state.set({ runs: id }, { step: true }));
  const element = el('div', { class: 'compare-picker', role: 'group', 'aria-label': 'Compared runs' },
    base.element, head.element);
  const update = () => {
    const { core } = app;
    element.hidden = !app.source.live || core.runs.length < 2;
    base.update(core.runs[core.base]);
    head.update(core.runs[core.head]);
  };
  return { element, update };
}

/** Which runs the figures of several runs, the exploration and the results show. */
export function runPicker(app) {
  const list = el('div', { class: 'runs', role: 'group', 'aria-label': 'Runs' });
  const summary = el('summary', {}, 'Runs');
  const every = button('All', () => app.setRuns(app.core.runs.map((_, i) => i)));
  const element = el('details', { class: 'picker' }, summary,
    el('p', { class: 'buttons' }, every,
      ' ', button('Base and head', () => app.setRuns(app.ownRuns())),
      ' ', button('Newest only', () => app.setRuns([app.core.runs.length - 1]))), list);
  const pages = el('span');
  element.querySelector('.buttons').append(' ', pages);
  const update = () => {
    const chosen = new Set(app.chosenRuns()), older = app.core.paging?.next;
    refill(pages, older ? button('Earlier runs', () => app.pageRuns(older)) : null, ' ',
      app.source.paged?.() ? button('Newest runs', () => app.pageRuns('')) : null);
    const most = app.runsMost();
    every.textContent = app.core.runs.length > most ? `Newest ${most}` : 'All';
    summary.textContent = `Runs: ${chosen.size} of ${app.core.runs.length}`;
    refill(list, app.core.runs.map((_, i) => i).reverse().map((index) => runBox(app, index, chosen,
      chosen.size >= most)));
  };
  return { element, update };
}
