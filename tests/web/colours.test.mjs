/* SPDX-License-Identifier: MIT */
/*
 * Contrast of everything that is seen, in both themes (WCAG 2.1: text 4.5:1, what is drawn 3:1).
 * Covers: S0-23.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { contrast, textOn, themed, THEMES, translucent }
  from '../../plots/web/src/paint_colours.js';

const read = (path) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/* The inks of the program, and those that only separate. */
const inks = [...read('harness/text/palette.c').matchAll(/\[(INK_\w+)\] = "(#[0-9a-f]{6})"/g)]
  .map(([, name, colour]) => ({ name, colour }));
const SEPARATORS = new Set(['INK_LIGHT']);
const TEXTS = new Set(['INK_DARK', 'INK_GREY']);

test('contrast is that of WCAG', () => {
  assert.equal(contrast('#000000', '#ffffff'), 21);
  assert.equal(contrast('#ffffff', '#ffffff'), 1);
  assert.ok(Math.abs(contrast('#0072b2', '#ffffff') - 5.19) < 0.005);
});

test('every ink stands out in both themes', () => {
  assert.ok(inks.length >= 7);
  for (const { name, colour } of inks.filter((ink) => !SEPARATORS.has(ink.name)))
    for (const theme of ['light', 'dark']) {
      const found = contrast(themed(colour, theme), THEMES[theme].ground);
      const least = TEXTS.has(name) ? 4.5 : 3;
      assert.ok(found >= least, `${name} in ${theme}: ${found.toFixed(2)}`);
    }
});

test('hues stay apart in the dark', () => {
  const dark = inks.filter(({ name }) => !SEPARATORS.has(name)).map(({ colour }) =>
    themed(colour, 'dark'));
  assert.equal(new Set(dark).size, dark.length);
});

test('a colour that nobody planned stands out all the same', () => {
  for (const colour of ['#000000', '#440154', '#00008b', '#3b0f0f'])
    assert.ok(contrast(themed(colour, 'dark'), THEMES.dark.ground) >= 3, colour);
});

test('texts and frames around the data', () => {
  for (const theme of Object.values(THEMES)) {
    assert.ok(contrast(theme.text, theme.ground) >= 4.5);
    assert.ok(contrast(theme.text, theme.hover) >= 4.5);
    assert.ok(contrast(theme.muted, theme.ground) >= 4.5);
    assert.ok(contrast(theme.frame, theme.ground) >= 3);
  }
});

test('text on a colour is black or white, whichever reads better', () => {
  assert.equal(textOn('#fde725'), '#000000');
  assert.equal(textOn('#440154'), '#ffffff');
});

test('opacity', () => {
  assert.equal(translucent('#0072b2', 1), '#0072b2');
  assert.equal(translucent('#0072b2', 0.25), 'rgba(0,114,178,0.25)');
});

/* The style sheet's own pairs: what is written on what, in the light, the dark and on paper. */
function themesOfSheet() {
  const sheet = read('plots/web/style/tokens.css');
  const colours = (text, form) => Object.fromEntries([...text.matchAll(form)]
    .map(([, name, colour]) => [name, colour]));
  const both = sheet.match(/^:root \{\s*color-scheme([^}]*)\}/m)[1];
  const light = colours(both, /--([\w-]+): var\(--light, (#[0-9a-f]{6})\)/g);
  const paper = sheet.match(/@media print \{\s*:root \{([^}]*)\}/)[1];
  return { light, dark: colours(both, /--([\w-]+): .*var\(--dark, (#[0-9a-f]{6})\)/g),
    paper: { ...light, ...colours(paper, /--([\w-]+): (#[0-9a-f]{6})/g) } };
}

test('the page: text 4.5:1, controls 3:1', () => {
  const pairs = [['text', 'ground'], ['text', 'surface'], ['text', 'raised'], ['muted', 'ground'],
    ['muted', 'surface'], ['muted', 'raised'], ['accent', 'surface'], ['accent', 'accent-ground'],
    ['good', 'surface'], ['good', 'good-ground'], ['bad', 'surface'], ['bad', 'bad-ground'],
    ['open', 'surface'], ['accent', 'ground'], ['bad', 'ground'], ['good', 'ground']];
  for (const [name, theme] of Object.entries(themesOfSheet())) {
    for (const [text, ground] of pairs)
      assert.ok(contrast(theme[text], theme[ground]) >= 4.5,
        `${name}: ${text} on ${ground}: ${contrast(theme[text], theme[ground]).toFixed(2)}`);
    for (const what of ['control', 'focus'])
      assert.ok(contrast(theme[what], theme.surface) >= 3, `${name}: ${what}`);
  }
});

test('each colour has its light and its dark', () => {
  const { light, dark } = themesOfSheet();
  assert.ok(Object.keys(light).length >= 15);
  assert.deepEqual(Object.keys(light), Object.keys(dark));
});
