/* SPDX-License-Identifier: MIT */
/*
 * Small arithmetic over names ("p99 / p50", "log2(batch * seq)"), the same grammar and the same
 * refusals as harness/metrics/expression.h.
 */

const LONGEST = 256, DEEPEST = 24, LONGEST_NAME = 47;
const NUMBER = /^(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*/;
const SIGNS = { sum: ['+', '-'], product: ['*', '/'] };

const JOIN = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => (b !== 0 ? a / b : NaN),
  min: Math.min,
  max: Math.max,
};
const ONE = {
  log2: (a) => (a > 0 ? Math.log2(a) : NaN),
  sqrt: (a) => (a >= 0 ? Math.sqrt(a) : NaN),
};

/** A text that is no expression; `at` is the column, from 1. */
export class ExpressionError extends Error {
  constructor(at, what) {
    super(`column ${at}: ${what}`);
    this.at = at;
  }
}

class Parser {
  constructor(text, known) {
    this.text = text;
    this.at = 0;
    this.depth = 0;
    this.known = known;
  }

  refuse(at, what) {
    throw new ExpressionError(at + 1, what);
  }

  skip() {
    while (this.text[this.at] === ' ' || this.text[this.at] === '\t')
      this.at++;
  }

  accept(sign) {
    this.skip();
    if (this.text[this.at] !== sign)
      return false;
    this.at++;
    return true;
  }

  match(pattern) {
    const found = pattern.exec(this.text.slice(this.at));
    return found ? found[0] : '';
  }

  /* Operands joined from the left. */
  joined(operand, signs) {
    let left = operand();
    for (;;) {
      const sign = signs.find((one) => this.accept(one));
      if (!sign)
        return left;
      const [a, b] = [left, operand()];
      left = (get) => JOIN[sign](a(get), b(get));
    }
  }

  sum() {
    return this.joined(() => this.product(), SIGNS.sum);
  }

  product() {
    return this.joined(() => this.factor(), SIGNS.product);
  }

  factor() {
    if (this.depth === DEEPEST)
      this.refuse(this.at, 'too many levels of brackets');
    this.depth++;
    const value = this.part();
    this.depth--;
    return value;
  }

  part() {
    if (this.accept('-')) {
      const value = this.part();
      return (get) => -value(get);
    }
    if (this.accept('+'))
      return this.part();
    if (this.accept('('))
      return this.bracket();
    const number = this.match(NUMBER);
    if (number)
      return this.number(number);
    if (this.match(NAME))
      return this.name(this.match(NAME));
    return this.refuse(this.at, "a name, a number or a '(' must stand here");
  }

  bracket() {
    const value = this.sum();
    if (!this.accept(')'))
      this.refuse(this.at, "a ')' is missing");
    return value;
  }

  number(text) {
    const value = Number(text);
    if (!Number.isFinite(value))
      this.refuse(this.at, 'the number is too large');
    this.at += text.length;
    return () => value;
  }

  name(name) {
    const start = this.at;
    if (name.length > LONGEST_NAME)
      this.refuse(start, 'the name is too long');
    this.at += name.length;
    if ((Object.hasOwn(ONE, name) || name === 'min' || name === 'max') && this.accept('('))
      return this.call(name, start);
    if (!this.known(name))
      this.refuse(start, `unknown name "${name}"`);
    return (get) => get(name);
  }

  call(name, start) {
    const values = [this.sum()];
    while (this.accept(','))
      values.push(this.sum());
    if (Object.hasOwn(ONE, name) && values.length > 1)
      this.refuse(start, 'log2 and sqrt take one value');
    if (!this.accept(')'))
      this.refuse(this.at, "a ')' is missing");
    if (Object.hasOwn(ONE, name))
      return (get) => ONE[name](values[0](get));
    if (values.length < 2)
      this.refuse(start, 'min and max take two values or more');
    return (get) => JOIN[name](...values.map((value) => value(get)));
  }
}

/**
 * @param {string} text
 * @param {function(string): boolean} known  which names there are
 * @returns {function(function(string): number): number} the value where names have theirs; NaN where
 *   one that counts has none
 * @throws {ExpressionError}
 */
export function parseExpression(text, known = () => true) {
  if (text.length > LONGEST)
    throw new ExpressionError(LONGEST + 1, `the expression is longer than ${LONGEST} characters`);
  const parser = new Parser(text, known);
  const value = parser.sum();
  parser.skip();
  if (parser.at < text.length)
    parser.refuse(parser.at, 'one of + - * / must stand here');
  return (get) => {
    const number = value(get);
    return Number.isFinite(number) ? number : NaN;
  };
}

/** Is the text one name and nothing else but blanks? */
export function isPlainName(text) {
  return /^[ \t]*[A-Za-z_][A-Za-z0-9_]*[ \t]*$/.test(text);
}
