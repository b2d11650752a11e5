/* SPDX-License-Identifier: MIT */
/*
 * The page put together: what the reader chose (state.js), the data (source.js), and the sections
 * that show it. Sections get the App and ask it; they never ask each other.
 */
import { el, fill, saveText } from './dom.js';
import { readTable, rowsOf, rowsOfRuns, metricOf } from './data.js';
import { drillDialog } from './drill.js';
import { SETTINGS } from './explore.js';
import { lightFigures } from './figure.js';
import { configText, keyFilter, presetOf, viewHash } from './preset.js';
import { fillCommand, shellWord } from './shell.js';
import { conditionOf, hasRange, rangeOf, select } from './selection.js';
import { formatHash, formatList, parseList } from './state.js';
import { keyFilterText } from './filter_words.js';
import { holdLoad } from './hold_load.js';
import { litBar } from './lit_bar.js';
import { withNames } from './marks.js';
import { noticeStrip } from './notices.js';
import { pageHead } from './page_head.js';
import { followPress, whenReleased } from './press.js';
import { followPaper } from './print.js';
import { pageBody } from './page_body.js';
import { loadPlotly } from './plotly.js';
import { timestampText } from './words.js';

const FILTERS = ['where', 'metric', 'min', 'max', 'runs', 'base'];

const isFilter = (key) => FILTERS.includes(key) || key.startsWith('pick.');
const isRange = (key) => ['metric', 'min', 'max'].includes(key);

/* Which section the reader looks at: the function puts it there again after all was built anew. */
function readingPlace(main) {
  const section = [...main.querySelectorAll('section[id]')]
    .findLast((one) => one.getBoundingClientRect().top < window.innerHeight / 2);
  const top = section?.getBoundingClientRect().top;
  return section && window.scrollY > 0 ? () => {
    const again = document.getElementById(section.id);
    window.scrollBy(0, (again?.getBoundingClientRect().top ?? top) - top);
  } : null;
}

export class App {
  constructor(source, state, root) {
    this.source = source;
    this.state = state;
    this.root = root;
    this.error = '';
    this.known = new Map();
    this.unfolded = new Set(); /* names of what the reader opened */
    this.seen = source.core.newest ?? 0; /* the newest run that the reader was offered */
    state.onChange((changed) => this.onChange(changed));
  }

  get core() {
    return this.source.core;
  }

  /* ---- data ---- */

  load() {
    this.rows = [];
    this.table = null;
    this.selection = null;
    const ready = this.source.table().then(async (table) => {
      await new Promise(whenReleased);
      if (ready !== this.ready)
        return;
      this.table = readTable(table);
      this.rows = rowsOf(this.core, this.table);
      this.reselect();
    });
    this.ready = ready;
    return ready;
  }

  /** Once the numbers of the newest question are here; those asked for before may never come. */
  async numbers() {
    for (;;) {
      const { ready } = this;
      const failed = await ready.then(() => null, (error) => error);
      if (ready !== this.ready)
        continue;
      if (failed)
        throw failed;
      return;
    }
  }

  reselect() {
    if (this.table)
      this.selection = select(this.core, this.table, this.rows, this.state);
    this.error = this.selection?.error || '';
  }

  /** Rows of the chosen runs that the filters leave. */
  rowsNow() {
    return rowsOfRuns(this.selection?.rows || [], this.chosenRuns());
  }

  /** All that were ever seen: a server that filters names those alone that are left. */
  knownBenchmarks() {
    for (const bench of this.core.benchmarks)
      this.known.set(bench.key, bench);
    return [...this.known.values()];
  }

  /* Where things are on the page: by key, by uuid. A server's answer has other places. */
  places() {
    if (this.placesOf_ !== this.core) {
      this.placesOf_ = this.core;
      this.byKey = new Map(this.core.benchmarks.map((bench, i) => [bench.key, i]));
      this.byUuid = new Map(this.core.runs.map((run, i) => [run.uuid, i]));
    }
    return this;
  }

  /** -1 where the page does not have it. */
  benchmarkOf(key) {
    return this.places().byKey.get(key) ?? -1;
  }

  runOfUuid(uuid) {
    return this.places().byUuid.get(uuid) ?? -1;
  }

  nameOfKey(key) {
    return this.core.benchmarks[this.benchmarkOf(key)]?.label ?? key;
  }

  /** A figure with the page's names for what its marks stand for. */
  named(spec) {
    return withNames(spec, (key) => this.nameOfKey(key), (uuid) => {
      const run = this.core.runs[this.runOfUuid(uuid)];
      return run ? `${run.name} · ${timestampText(run.started_ms).slice(0, 10)}` : '';
    });
  }

  rowsOfRuns(runs) {
    return rowsOfRuns(this.rows, runs);
  }

  rowOf(run, benchmark) {
    return this.rows.find((row) => row.run === run && row.benchmark === benchmark) || null;
  }

  samples(run, benchmark) {
    return this.source.samples(run, benchmark);
  }

  takesBenchmark(benchmark) {
    return !this.selection || this.selection.benchmarks.has(benchmark);
  }

  metricValues(id) {
    const factor = metricOf(this.core, id)?.factor || 1;
    return (this.table?.columns[id] || []).filter((value) => value !== null)
      .map((value) => value * factor);
  }

  /** What exploreFigure() wants. */
  chart(preset) {
    return { preset, core: this.core, table: this.table, runs: this.chosenRuns(), rows: this.selection.rows };
  }

  /* ---- runs and filters ---- */

  chosenRuns() {
    const wanted = parseList(this.state.get('runs')).map((token) => this.source.runOf(token))
      .filter((run) => Number.isInteger(run) && run >= 0 && run < this.core.runs.length);
    return wanted.length ? wanted : this.ownRuns();
  }

  /** Those that the page was made for: base and head, or the runs asked for. */
  ownRuns() {
    const { selected, base, head } = this.core;
    const both = base === null || base === undefined || selected.length > 1 ? selected
      : [base, ...selected];
    const own = [...new Set(both)].filter((run) => run !== null && run >= 0);
    return own.length ? own : head !== null && head >= 0 ? [head] : [];
  }

  /** How many runs can be looked at at once. */
  runsMost() {
    return this.core.paging?.most ?? Infinity;
  }

  /** More than can be looked at at once: the newest of them. */
  setRuns(all) {
    const runs = all.slice(-this.runsMost());
    const own = formatList(this.ownRuns().map((run) => this.source.tokenOf(run)));
    const text = formatList(runs.map((run) => this.source.tokenOf(run)));
    this.state.set({ runs: text === own ? '' : text });
  }

  chooseRun(run, on) {
    const left = this.chosenRuns().filter((one) => one !== run);
    this.setRuns((on ? [...left, run] : left).sort((a, b) => a - b));
  }

  /** The part of a long list of runs that begins with this one; "": with the newest. */
  async pageRuns(from) {
    this.state.set({ runs: '' });
    await this.askServer({ from: String(from), run: '' });
  }

  /** The run that came after the page. */
  async showNewest() {
    this.state.set({ runs: '' });
    await this.askServer({ from: '', run: '' }, true);
    this.seen = Math.max(this.seen, this.core.newest);
  }

  /** Writes into the history and shows it; null where nothing can be written. */
  edit() {
    return this.core.edit_key ? async (what, about) => {
      await this.source.edit(what, about);
      await this.askServer({}, true);
    } : null;
  }

  /** Is anything filtered? */
  filters() {
    return conditionOf(this.state) !== '' || hasRange(this.state);
  }

  noFilters() {
    const picks = Object.keys(this.state.picks()).map((key) => [`pick.${key}`, '']);
    return { where: '', metric: '', min: '', max: '', ...Object.fromEntries(picks) };
  }

  clearFilters() {
    this.state.set(this.noFilters());
  }

  /* ---- the exploration's figure as a file ---- */

  /** The preset of a view. In a file, filters that the program cannot know become a list of keys. */
  explorePreset(view, forFile = false) {
    const chosen = new Set(this.rowsNow().map((row) => row.benchmark));
    const keys = [...chosen].map((benchmark) => this.core.benchmarks[benchmark].key);
    return presetOf(this.core, view, this.chosenRuns().length > 1,
      forFile && this.filters() ? keyFilter(keys) : undefined);
  }

  /** "harness plot 12 --config view.json" for the runs that are shown. */
  plotCommand(file) {
    const { commands, runs, selected } = this.core, chosen = this.chosenRuns();
    const usual = chosen.length === selected.length && chosen.every((run, i) => run === selected[i]);
    if (usual && commands?.config)
      return fillCommand(commands.config, { file });
    const ids = chosen.map((run) => shellWord(runs[run].id)).join(' ');
    const db = commands?.history ? ` --db ${shellWord(commands.history)}` : '';
    const options = commands?.options ? ` ${commands.options}` : '';
    return `harness plot ${ids}${options} --config ${shellWord(file)}${db}`;
  }

  /* Some benchmarks may be left in some of the runs alone: a list of keys cannot say that. */
  unevenNote() {
    const rows = this.rowsNow(), keys = new Set(rows.map((row) => row.benchmark));
    const whole = this.rowsOfRuns(this.chosenRuns()).filter((row) => keys.has(row.benchmark));
    return this.filters() && whole.length > rows.length ? 'The filter left some benchmarks in some '
      + 'runs only; the command draws them in all of its runs.' : '';
  }

  saveView(preset) {
    saveText('view.json', configText(this.core, preset, { command: this.plotCommand('view.json'),
      hash: viewHash(this.state.all()), note: this.unevenNote() }), 'application/json');
  }

  savePreset(preset) {
    const file = `${preset.name}.json`;
    saveText(file, configText(this.core, preset, { command: this.plotCommand(file) }),
      'application/json');
  }

  /** What the server is asked besides its preset. */
  serverChoice() {
    return { run: this.chosenRuns().map((run) => this.core.runs[run].id).join(','),
      where: conditionOf(this.state), base: this.state.get('base') };
  }

  /** The same of an exploration, whose range the server knows, too. */
  exploreChoice() {
    return { ...this.serverChoice(), range: rangeOf(this.state) };
  }

  /* The page itself: without a choice of runs those of its address, and the base is no head. */
  pageChoice() {
    const { asked } = this.source;
    return { ...this.serverChoice(), run: parseList(this.state.get('runs')).join(',') || asked.run,
      base: this.state.get('base') || asked.base };
  }

  /* ---- one benchmark ---- */

  drill(benchmark, run) {
    this.back = document.activeElement;
    const token = run === undefined || run === this.core.head ? '' : this.source.tokenOf(run);
    this.state.set({ bench: this.core.benchmarks[benchmark].key, run: token }, { step: true });
  }

  /** A mark that was clicked: its benchmark is lit, or opened where it is lit already. */
  choose({ key, uuid }) {
    const benchmark = this.benchmarkOf(key), run = uuid === null ? -1 : this.runOfUuid(uuid);
    if (this.state.get('lit') !== key)
      this.light(key);
    else if (benchmark >= 0)
      this.drill(benchmark, run < 0 ? undefined : run);
  }

  light(key) {
    this.state.set({ lit: key }, { step: true });
  }

  litKey() {
    return this.state.get('lit');
  }

  onlyLit() {
    this.state.set({ where: keyFilterText(this.state.get('lit')) }, { step: true });
  }

  /* In figures, tables and on the strip. */
  showLit() {
    const key = this.state.get('lit');
    lightFigures(key);
    for (const row of this.main.querySelectorAll('tr[data-benchmark]'))
      row.classList.toggle('is-lit', key !== '' && row.dataset.benchmark === key);
    this.litBar.update();
  }

  showDrill() {
    const index = this.benchmarkOf(this.state.get('bench'));
    if (index < 0) {
      this.drillView.dialog.close();
      return;
    }
    const token = this.state.get('run'), run = token === '' ? undefined : this.source.runOf(token);
    this.drillView.open(index, this.core.runs[run] ? run : undefined);
  }

  drillClosed() {
    if (this.state.get('bench') !== '')
      this.state.set({ bench: '', run: '' });
    this.back?.isConnected && this.back.focus();
  }

  /* ---- the page ---- */

  start() {
    this.theme();
    followPress(window);
    this.head = pageHead(this);
    this.main = el('main', { id: 'main' });
    this.drillView = drillDialog(this);
    this.notices = noticeStrip(() => this.showNewest());
    this.litBar = litBar(this);
    fill(this.root, this.notices.element, this.head.element, this.main, this.litBar.element,
      this.drillView.dialog);
    this.showLit();
    const release = holdLoad();
    this.load().catch((error) => this.fail(error));
    this.build();
    /* And when what a program's print needs is at hand, for that waits for nothing. */
    Promise.all([this.inView, this.source.unpacked?.(), loadPlotly()]).then(release, release);
    followPaper(this);
    if (this.source.live && (this.filters() || ['runs', 'base'].some((key) => this.state.get(key) !== '')))
      this.askServer();
    if (this.state.get('bench') !== '')
      this.showDrill();
    this.source.watch({ runs: (newest) => this.heardOf(newest),
      connection: (state) => this.connection(state) });
  }

  /* The stream begins with what there is: that may be on the page already. */
  heardOf(newest) {
    if (newest <= this.seen)
      return;
    this.seen = newest;
    this.notices.announce(newest);
  }

  connection(state) {
    this.notices.connection(state);
    if (state !== 'here')
      return;
    if (!this.table)
      this.load().then(() => this.head.problem(''), (error) => this.fail(error))
        .then(() => this.refresh());
    this.body.retry();
  }

  build() {
    const place = readingPlace(this.main);
    this.body?.forget();
    const body = pageBody(this);
    this.body = body;
    fill(this.main, body.element);
    this.inView = body.drawInView().catch(() => {});
    this.inView.then(() => body.drawWhenIdle()).catch(() => {});
    this.head.update();
    place?.();
    this.ready.then(() => this.refresh(), () => {});
  }

  fail(error) {
    if (error.name !== 'AbortError')
      this.head.problem(`The numbers could not be read: ${error.message}`);
  }

  theme() {
    const theme = this.state.get('theme');
    if (theme)
      document.documentElement.dataset.theme = theme;
    else
      delete document.documentElement.dataset.theme;
  }

  /* Everything that rows and runs reach. */
  refresh(changed) {
    this.reselect();
    this.head.update();
    this.body.update(changed);
  }

  async askServer(more = {}, anew = false) {
    try {
      const core = await this.source.select({ ...this.pageChoice(), ...more }, anew);
      if (core) {
        this.load().catch((error) => this.fail(error));
        this.build();
      }
      this.head.problem('');
    } catch (error) {
      if (error.name !== 'AbortError')
        this.head.problem(error.message);
    }
  }

  onChange(changed) {
    const keys = [...changed];
    if (changed.has('theme'))
      this.theme();
    if (changed.has('bench') || changed.has('run'))
      this.showDrill();
    if (changed.has('lit'))
      this.showLit();
    if (this.source.live && keys.some((key) => isFilter(key) && !isRange(key)))
      this.askServer();
    else if (keys.some(isFilter))
      this.refresh(changed);
    else if (keys.some((key) => SETTINGS.includes(key)))
      this.body.updateExplore();
    if (changed.has('sort') || changed.has('columns'))
      this.body.updateResults(changed);
    this.head.link(formatHash(this.state.all()));
  }
}
