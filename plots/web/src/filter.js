/* SPDX-License-Identifier: MIT */
/*
 * Conditions as people type them, for data that is in the page; `harness serve` makes SQL of the
 * same words. Grammar, fields and messages are those of harness/query/query.h:
 *
 *     batch >= 4 and (kernel = "gemm/?*" or variant = simd,naive) and not device = "cuda*"
 */
import { globPattern } from './glob.js';
import { nearest } from './nearest.js';

const LENGTH_MAX = 4096, TESTS_MAX = 64, DEPTH_MAX = 32, VALUE_MAX = 255, VALUES_MAX = 32;
const DIM_MAX = 23, FIELD_MAX = 63;

/** What each field is; every other name is a dim. */
export const FIELDS = Object.freeze({
  key: 'text', kernel: 'text', variant: 'text', math: 'text', device: 'text', cache: 'text',
  fill: 'text', outcome: 'outcome', run: 'number', id: 'number', label: 'text', suite: 'text',
  branch: 'text', commit: 'prefix', dirty: 'flag', machine: 'text', started: 'date',
});

const OPERATORS = ['!=', '<=', '>=', '=', '<', '>'];
const OUTCOMES = ['OK', 'UNSUPPORTED', 'WRONG', 'FAILED'];
const WORD = /^[^ \t\r\n()"',<>=!]*/;

/** A text that is no condition; `at` is the column, in characters from 1. */
export class FilterError extends Error {
  constructor(at, what) {
    super(`column ${at}: ${what}`);
    this.at = at;
  }
}

const bytes = (text) => new TextEncoder().encode(text).length;

const COMPARE = {
  '=': (a, b) => a === b, '!=': (a, b) => a !== b,
  '<': (a, b) => a < b, '<=': (a, b) => a <= b, '>': (a, b) => a > b, '>=': (a, b) => a >= b,
};

function textTest(kind, operator, value) {
  const pattern = globPattern(kind === 'prefix' && !/[*?[]/.test(value) ? `${value}*` : value);
  return (has) => pattern.test(String(has)) === (operator === '=');
}

function numberTest(kind, operator, value, refuse) {
  if (!/^[+-]?\d+$/.test(value))
    refuse(`"${value}" is no whole number`);
  return (has) => COMPARE[operator](has, Number(value));
}

/* A day or minute as [low, high) in ms since 1970, UTC; null for what is neither. */
function momentOf(text) {
  const match = /^(\d{4}-\d{1,2}-\d{1,2})(T\d{1,2}:\d{1,2})?$/.exec(text);
  if (!match)
    return null;
  const [year, month, day] = match[1].split('-').map(Number);
  const [hour, minute] = match[2] ? match[2].slice(1).split(':').map(Number) : [0, 0];
  const low = Date.UTC(year, month - 1, day, hour, minute);
  const date = new Date(low);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day || minute > 59 || hour > 23)
    return null;
  return { low, high: low + (match[2] ? 60000 : 86400000) };
}

/* A day is from its first to its last moment. */
function dateTest(kind, operator, value, refuse) {
  const moment = momentOf(value)
    || refuse(`"${value}" is no day such as 2026-11-01, or 2026-11-01T13:30`);
  const inside = (has) => has >= moment.low && has < moment.high;
  return {
    '=': inside, '!=': (has) => !inside(has),
    '<': (has) => has < moment.low, '>=': (has) => has >= moment.low,
    '<=': (has) => has < moment.high, '>': (has) => has >= moment.high,
  }[operator];
}

function flagTest(kind, operator, value, refuse) {
  const at = ['no', 'yes', 'false', 'true', '0', '1'].indexOf(value.toLowerCase());
  if (at < 0)
    refuse(`dirty is yes or no, not "${value}"`);
  return (has) => (Boolean(has) === (at % 2 === 1)) === (operator === '=');
}

function outcomeTest(kind, operator, value, refuse) {
  if (!OUTCOMES.includes(value.toUpperCase()))
    refuse(`an outcome is OK, UNSUPPORTED, WRONG or FAILED, not "${value}"`);
  return (has) => COMPARE[operator](has, value.toUpperCase());
}

const TESTS = { text: textTest, prefix: textTest, number: numberTest, date: dateTest,
  flag: flagTest, outcome: outcomeTest };

const orNearest = (near, hint = '') => (near ? `; did you mean "${near}"?${hint}` : '');

/* What could not be a dim's, by its value. */
function noField(field) {
  const near = nearest(field, Object.keys(FIELDS));
  return `there is no field "${field}"${orNearest(near, ' (A dim takes whole numbers.)')
    || `. Fields: ${Object.keys(FIELDS).filter((name) => name !== 'id').join(' ')}, and every dim`}`;
}

function noDim(field, dims) {
  const near = nearest(field, dims) || nearest(field, Object.keys(FIELDS));
  return `there is no field "${field}", and no benchmark has such a dim${orNearest(near)}`;
}

class Parser {
  constructor(text, dims) {
    this.text = text;
    this.at = 0;
    this.depth = 0;
    this.tests = 0;
    this.dims = dims;
  }

  mistake(at, what) {
    throw new FilterError([...this.text.slice(0, at)].length + 1, what);
  }

  skip() {
    while (' \t\r\n'.includes(this.text[this.at] ?? '-'))
      this.at++;
  }

  word(at = this.at) {
    return WORD.exec(this.text.slice(at))[0];
  }

  atWord(word) {
    this.skip();
    return this.word().toLowerCase() === word;
  }

  takeWord(word) {
    if (!this.atWord(word))
      return false;
    this.at += word.length;
    return true;
  }

  take(sign) {
    this.skip();
    if (this.text[this.at] !== sign)
      return false;
    this.at++;
    return true;
  }

  /* What stands there, for messages. */
  next() {
    if (this.at >= this.text.length)
      return 'the end';
    return `"${this.word().slice(0, 24) || this.text[this.at]}"`;
  }

  joined(word, part, join) {
    const parts = [part()];
    while (this.takeWord(word))
      parts.push(part());
    return parts.length === 1 ? parts[0] : (row) => parts[join]((one) => one(row));
  }

  any() {
    return this.joined('or', () => this.all(), 'some');
  }

  all() {
    return this.joined('and', () => this.one(), 'every');
  }

  one() {
    if (++this.depth > DEPTH_MAX)
      this.mistake(this.at, `more than ${DEPTH_MAX} brackets inside each other`);
    const test = this.part();
    this.depth--;
    return test;
  }

  part() {
    if (this.takeWord('not')) {
      const test = this.one();
      return (row) => !test(row);
    }
    if (this.take('('))
      return this.bracket();
    return this.test();
  }

  bracket() {
    const open = this.at - 1;
    const test = this.any();
    if (!this.take(')'))
      this.mistake(this.at < this.text.length ? this.at : open,
        `a ) is missing for the ( at column ${[...this.text.slice(0, open)].length + 1}`);
    return test;
  }

  field() {
    this.skip();
    const word = this.word();
    if (!word || this.atWord('and') || this.atWord('or'))
      this.mistake(this.at, `here a field such as kernel or batch is missing, there is ${this.next()}`);
    if (bytes(word) > FIELD_MAX)
      this.mistake(this.at, 'no field has so long a name');
    this.at += word.length;
    return word;
  }

  operator(field) {
    this.skip();
    const operator = OPERATORS.find((one) => this.text.startsWith(one, this.at));
    if (!operator)
      this.mistake(this.at, `after "${field}" one of = != < <= > >= is missing, there is ${this.next()}`);
    this.at += operator.length;
    return operator;
  }

  value() {
    this.skip();
    const at = this.at;
    const quote = this.text[at];
    const text = quote === '"' || quote === "'" ? this.quoted(quote) : this.bare();
    if (bytes(text) > VALUE_MAX)
      this.mistake(at, `this value is longer than ${VALUE_MAX} bytes`);
    return { text, at };
  }

  bare() {
    const word = this.word();
    if (!word)
      this.mistake(this.at, `here a value is missing, there is ${this.next()}`);
    this.at += word.length;
    return word;
  }

  quoted(quote) {
    const start = this.at++;
    let text = '';
    for (; this.text[this.at] !== quote; this.at++) {
      if (this.text[this.at] === '\\' && '"\'\\'.includes(this.text[this.at + 1] ?? '-'))
        this.at++;
      if (this.at >= this.text.length)
        this.mistake(start, `this text does not end: a ${quote} is missing`);
      text += this.text[this.at];
    }
    this.at++;
    return text;
  }

  values() {
    const values = [];
    do {
      this.skip();
      if (values.length === VALUES_MAX)
        this.mistake(this.at, `more than ${VALUES_MAX} values in one test`);
      values.push(this.value());
    } while (this.take(','));
    return values;
  }

  test() {
    if (++this.tests > TESTS_MAX)
      this.mistake(this.at, `more than ${TESTS_MAX} tests in one condition`);
    this.skip();
    const at = this.at, field = this.field();
    this.skip();
    const operatorAt = this.at, operator = this.operator(field);
    const values = this.values();
    const kind = this.kindOf(field, at, values[0].text);
    this.checkOperator(field, kind, operator, operatorAt, values);
    const tests = values.map((value) => TESTS[kind](kind, operator, value.text,
      (what) => this.mistake(value.at, what)));
    const join = operator === '!=' ? 'every' : 'some';
    return (row) => {
      const has = row(field);
      return has !== undefined && has !== null && tests[join]((one) => one(has));
    };
  }

  /* A name that is no field of ours is a dim, if the value can be one's and some benchmark has it. */
  kindOf(field, at, value) {
    if (Object.hasOwn(FIELDS, field))
      return FIELDS[field];
    const possible = bytes(field) <= DIM_MAX && /^[+-]?\d+$/.test(value);
    if (possible && (!this.dims || this.dims.includes(field)))
      return 'number';
    return this.mistake(at, possible ? noDim(field, this.dims) : noField(field));
  }

  checkOperator(field, kind, operator, at, values) {
    const equality = operator === '=' || operator === '!=';
    if (!equality && kind !== 'number' && kind !== 'date')
      this.mistake(at, `${field} is only compared by = and !=`);
    if (!equality && values.length > 1)
      this.mistake(values[values.length - 1].at, 'several values go with = and != only');
  }

  whole() {
    // eslint-disable-next-line no-control-regex
    const control = this.text.search(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/);
    if (control >= 0)
      this.mistake(control, 'a control character');
    this.skip();
    if (this.at >= this.text.length)
      return () => true;
    const test = this.any();
    this.skip();
    if (this.at < this.text.length)
      this.mistake(this.at, `here "and", "or" or the end is missing, there is ${this.next()}`);
    return test;
  }
}

/**
 * @param {string} text  "" takes everything
 * @param {string[]|null} dims  the dims that some benchmark has; null: any name is one
 * @returns {function(function(string): *): boolean} takes what gives a field's value in a row,
 *   undefined for a dim it lacks: that fits no test
 * @throws {FilterError}
 */
export function parseFilter(text, dims = null) {
  if (bytes(text) > LENGTH_MAX)
    throw new FilterError(1, `the condition is longer than ${LENGTH_MAX} bytes`);
  return new Parser(text, dims).whole();
}
