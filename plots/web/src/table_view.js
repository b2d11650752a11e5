/* SPDX-License-Identifier: MIT */
/*
 * A table that can be sorted by its heads and paged: what is not seen is not in the document. A
 * column is { key, label, number, value(row), cell(row) }: value() is sorted by and saved, cell()
 * shown; `name` marks that which names the row, `hidden` one that is only saved.
 */
import { button, el, fill, refill, saveText } from './dom.js';
import { csvText } from './csv.js';

const PAGE = 100;

/* Numbers before texts, what has no value last whichever way. */
function compare(a, b, down) {
  const none = (value) => value === null || value === undefined || Number.isNaN(value) || value === '';
  if (none(a) || none(b))
    return none(a) - none(b);
  const order = typeof a === 'number' && typeof b === 'number' ? a - b
    : String(a).localeCompare(String(b), 'en', { numeric: true });
  return down ? -order : order;
}

function headCell(view, column) {
  const { key, down } = view.sort;
  const sorted = key === column.key ? (down ? 'descending' : 'ascending') : null;
  const head = button([column.label, el('span', { class: 'order', 'aria-hidden': 'true' },
    sorted ? (down ? ' ▾' : ' ▴') : '')], () => view.sortBy(column), { class: 'head' });
  return el('th', { scope: 'col', 'aria-sort': sorted, class: column.number ? 'number' : null,
    title: column.title }, column.value ? head : column.label);
}

function bodyRow(view, row) {
  const cells = view.shown().map((column) => el(column.name ? 'th' : 'td',
    { scope: column.name ? 'row' : null, class: column.number ? 'number' : null }, column.cell(row)));
  const key = view.options.keyOf?.(row);
  return el('tr', { class: [view.options.rowClass?.(row), key && key === view.options.lit?.() ? 'is-lit'
    : ''].filter(Boolean).join(' ') || null, 'data-benchmark': key || null,
    onclick: view.options.onRow ? (event) => {
      if (!event.target.closest('button, a, input, label') && !String(window.getSelection()))
        view.options.onRow(row);
    } : null }, cells);
}

class TableView {
  constructor(columns, options) {
    this.columns = columns;
    this.options = options;
    this.sort = options.sort || { key: '', down: false };
    this.page = 0;
    this.rows = [];
    this.head = el('tr');
    this.body = el('tbody');
    this.foot = el('div', { class: 'pages' });
    this.element = el('div', { class: 'table-view' },
      el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': options.caption },
        el('table', { class: options.class }, el('caption', { class: 'unseen' }, options.caption),
          el('thead', {}, this.head), this.body)), this.foot);
  }

  setColumns(columns) {
    this.columns = columns;
    this.draw();
  }

  shown() {
    return this.columns.filter((column) => !column.hidden);
  }

  setRows(rows) {
    this.rows = rows;
    this.page = 0;
    this.draw();
  }

  sortBy(column) {
    const same = this.sort.key === column.key;
    this.sort = { key: column.key, down: same ? !this.sort.down : Boolean(column.number) };
    this.page = 0;
    this.draw();
    this.head.querySelectorAll('th')[this.shown().indexOf(column)]?.querySelector('button')?.focus();
    this.options.onSort?.(this.sort);
  }

  ordered() {
    const column = this.columns.find((one) => one.key === this.sort.key);
    if (!column?.value)
      return this.rows;
    return [...this.rows].sort((a, b) => compare(column.value(a), column.value(b), this.sort.down));
  }

  turn(to) {
    this.page = to;
    this.draw();
  }

  /** To the n-th row that is seen: to what can be pressed in it, or else to the table. */
  focusRow(n) {
    const control = this.body.rows[n]?.querySelector('button:enabled');
    (control ?? this.element.querySelector('.scroll')).focus();
  }

  draw() {
    const rows = this.ordered(), size = this.options.page || PAGE;
    const pages = Math.max(1, Math.ceil(rows.length / size));
    this.page = Math.min(this.page, pages - 1);
    const from = this.page * size, shown = rows.slice(from, from + size);
    fill(this.head, this.shown().map((column) => headCell(this, column)));
    fill(this.body, shown.map((row) => bodyRow(this, row)));
    if (shown.length === 0)
      this.body.append(el('tr', {}, el('td', { colspan: this.shown().length, class: 'empty' },
        this.options.empty || 'Nothing matches.')));
    refill(this.foot, pages > 1 ? [
      button('‹ earlier', () => this.turn(this.page - 1), { disabled: this.page === 0 }),
      el('span', { role: 'status' }, ` ${from + 1} to ${from + shown.length} of ${rows.length} `),
      button('later ›', () => this.turn(this.page + 1), { disabled: this.page === pages - 1 }),
    ] : null);
  }

  /** All rows, in the order seen, as a file. */
  saveCsv(name) {
    const columns = this.columns.filter((column) => column.value);
    saveText(name, csvText([columns.map((column) => column.csv || column.label),
      ...this.ordered().map((row) => columns.map((column) => column.value(row)))]), 'text/csv');
  }
}

/**
 * @param {object[]} columns
 * @param {object} options  caption, class, page, sort, empty, rowClass(row), onRow(row), onSort(sort);
 *   keyOf(row): the benchmark that a row is of, lit(): the one that is lit
 */
export function tableView(columns, options) {
  return new TableView(columns, options);
}
