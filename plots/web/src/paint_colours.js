/* SPDX-License-Identifier: MIT */
/*
 * Colours of figures. A specification has those for white paper; on a dark ground each has a
 * counterpart of 3:1 or more against it, texts of 4.5:1 (tests/web/colours.test.mjs).
 */

/** What surrounds the data, by theme. */
export const THEMES = Object.freeze({
  light: { ground: '#ffffff', text: '#222222', muted: '#595959', frame: '#8a8a8a',
    grid: '#e2e2e2', hover: '#ffffff' },
  dark: { ground: '#1b1e22', text: '#e8eaed', muted: '#a9b1bb', frame: '#7d858f',
    grid: '#343a42', hover: '#262a30' },
});

/* The inks of harness/text/palette.c. */
const DARK_INKS = Object.freeze({
  '#0072b2': '#4da9e8',
  '#d55e00': '#ff8c42',
  '#009e73': '#2cc295',
  '#cc79a7': '#e39ac4',
  '#222222': '#e8eaed',
  '#6b6b6b': '#a9b1bb',
  '#d9d9d9': '#4b525b',
});

const channels = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
const hex = (values) => `#${values.map((value) => Math.round(value).toString(16).padStart(2, '0'))
  .join('')}`;

function luminance(colour) {
  const [r, g, b] = channels(colour).map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** WCAG contrast ratio of two "#rrggbb", 1 to 21. */
export function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

/** Black or white, whichever can be read better on the colour. */
export function textOn(colour) {
  return contrast(colour, '#000000') >= contrast(colour, '#ffffff') ? '#000000' : '#ffffff';
}

/** A colour moved towards white until it stands out from the dark ground. */
function lightened(colour, ground) {
  let values = channels(colour);
  for (let step = 0; step < 20 && contrast(hex(values), ground) < 3; step++)
    values = values.map((value) => value + (255 - value) * 0.12);
  return hex(values);
}

/** The colour of lines, points and texts in a theme. @param {string} colour "#rrggbb" */
export function themed(colour, theme) {
  if (theme !== 'dark')
    return colour;
  return DARK_INKS[colour.toLowerCase()] || lightened(colour, THEMES.dark.ground);
}

/** "rgba(...)" where it is not opaque. */
export function translucent(colour, opacity = 1) {
  return opacity >= 1 ? colour : `rgba(${channels(colour).join(',')},${opacity})`;
}

/** The colour that shows where one of some opacity lies on a ground, all "#rrggbb". */
export function mixed(colour, ground, opacity) {
  const below = channels(ground);
  return hex(channels(colour).map((value, i) => value * opacity + below[i] * (1 - opacity)));
}

/** How much of its colour a hollow bar has inside its outline. */
export const PALE = 0.25;

/** The theme that the reader sees now. @returns {"light"|"dark"} */
export function currentTheme() {
  const chosen = document.documentElement.dataset.theme;
  if (chosen === 'light' || chosen === 'dark')
    return chosen;
  return window.matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

/** Calls back when the theme changes, by choice or by the system. */
export function onThemeChange(listen) {
  new MutationObserver(listen).observe(document.documentElement,
    { attributes: true, attributeFilter: ['data-theme'] });
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', listen);
}
