/* SPDX-License-Identifier: MIT */
/*
 * Elements made by hand. Text becomes text nodes and attributes go through setAttribute(), never
 * through markup: a name can hold anything and still is only a name.
 */

const SVG = 'http://www.w3.org/2000/svg';
const LONGEST = 160;

/**
 * @param {Element} element
 * @param {string} name  onclick and the like take functions; true, false and null are understood
 * @param {*} value
 */
function setAttribute(element, name, value) {
  if (value === undefined || value === null || value === false)
    return;
  if (name.startsWith('on'))
    element.addEventListener(name.slice(2), value);
  else if (name === 'value' || name === 'checked' || name === 'selected')
    element[name] = value;
  else
    element.setAttribute(name, value === true ? '' : value);
}

/** @param {Element} element @param {...*} children  texts, nodes, lists of them; null is none */
export function append(element, ...children) {
  for (const child of children.flat(Infinity))
    if (child !== null && child !== undefined && child !== false)
      element.append(child instanceof Node ? child : String(child));
  return element;
}

/** @returns {HTMLElement} */
export function el(tag, attributes, ...children) {
  const element = document.createElement(tag);
  append(element, children);
  for (const [name, value] of Object.entries(attributes || {}))
    setAttribute(element, name, value);
  return element;
}

/** @returns {SVGElement} */
export function svg(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes || {}))
    setAttribute(element, name, value);
  return append(element, children);
}

/** Empties an element and fills it anew. */
export function fill(element, ...children) {
  element.replaceChildren();
  return append(element, children);
}

const CONTROLS = 'input, select, button';

/**
 * The same of what the reader may be in: whoever was at its n-th control is at the n-th again, or where
 * that cannot be used any more at the nearest that can. Without it who works by keys begins again at the
 * top of the page.
 */
export function refill(element, ...children) {
  const controls = () => [...element.querySelectorAll(CONTROLS)];
  const place = controls().indexOf(document.activeElement);
  fill(element, children);
  if (place < 0)
    return element;
  const away = ([, at]) => Math.abs(at - place);
  const [nearest] = controls().map((control, at) => [control, at]).filter(([control]) => !control.disabled)
    .sort((a, b) => away(a) - away(b));
  nearest?.[0].focus();
  return element;
}

/* Control and direction marks, written so that they can be seen and turn nothing round. */
function visible(character) {
  const code = character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0');
  return character === '\n' ? '\u23ce' : `\u27e8U+${code}\u27e9`;
}

// eslint-disable-next-line no-control-regex
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** A name from elsewhere as it may be shown: control and direction marks are made visible. */
export function cleanText(text) {
  return String(text ?? '').replace(UNSEEN, visible);
}

/** The same, cut to `most` characters in the middle: names differ at both ends. */
export function shortText(text, most = LONGEST) {
  const clean = cleanText(text);
  if (clean.length <= most)
    return clean;
  const head = Math.ceil((most - 1) / 2);
  return `${clean.slice(0, head)}…${clean.slice(clean.length - (most - 1 - head))}`;
}

/** A name that keeps its own direction of writing; the whole of it as a tooltip if it was cut. */
export function nameOf(text, most) {
  const short = shortText(text, most);
  const clean = cleanText(text);
  return el('bdi', { title: short === clean ? null : clean.slice(0, 4000) }, short);
}

/** @param {string} label @param {function} action */
export function button(label, action, attributes) {
  return el('button', { type: 'button', onclick: action, ...attributes }, label);
}

/**
 * A labelled <select>.
 * @param {string} label
 * @param {{value: string, text: string, group?: string}[]} options
 */
export function choice(label, options, value, onchange, attributes) {
  const select = el('select', { 'aria-label': label, onchange: () => onchange(select.value),
    ...attributes });
  const groups = new Map();
  for (const option of options) {
    const node = el('option', { value: option.value }, shortText(option.text, 80));
    if (option.group && !groups.has(option.group)) {
      groups.set(option.group, el('optgroup', { label: option.group }));
      select.append(groups.get(option.group));
    }
    (groups.get(option.group) || select).append(node);
  }
  select.value = value;
  return el('label', { class: 'field' }, el('span', {}, label), select);
}

/** A labelled checkbox; with `reason` it is disabled and says why. */
export function tick(label, checked, onchange, reason) {
  const box = el('input', { type: 'checkbox', checked, disabled: Boolean(reason),
    onchange: () => onchange(box.checked) });
  return el('label', { class: 'tick', title: reason }, box, el('span', {}, label),
    reason ? el('small', { class: 'reason' }, reason) : null);
}

/** A button that puts a text on the clipboard and says so. */
function copyButton(text, what) {
  const node = button('Copy', async () => {
    node.textContent = await copyText(text) ? 'Copied' : 'Select and copy by hand';
    setTimeout(() => { node.textContent = 'Copy'; }, 2000);
  }, { class: 'copy', 'aria-label': `Copy ${what}` });
  return node;
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/* A file:// page may have no clipboard of its own. */
function copyBySelection(text) {
  const area = el('textarea', { class: 'unseen', 'aria-hidden': 'true', value: text });
  (document.querySelector('dialog[open]') || document.body).append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  return done;
}

/** A command or query with its copy button. */
export function codeLine(text, what) {
  return el('div', { class: 'code' },
    el('code', { tabindex: '0', role: 'textbox', 'aria-readonly': 'true', 'aria-label': what },
      cleanTextLines(text)),
    copyButton(text, what));
}

/* Queries have lines of their own. */
function cleanTextLines(text) {
  return String(text).split('\n').map(cleanText).join('\n');
}

/** Gives what is at an address to the browser as a file. */
export function saveUrl(name, url) {
  const link = el('a', { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
}

/** The same of a text. */
export function saveText(name, text, type = 'text/plain') {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  saveUrl(name, url);
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
