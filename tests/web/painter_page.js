/* SPDX-License-Identifier: MIT */
/* Figures alone, without the application: the page of painter.test.mjs. */
import { figureCard, forgetFigure, updateFigure, drawOnPaper } from '../../plots/web/src/figure.js';
import { el } from '../../plots/web/src/dom.js';
import { plotOf } from '../../plots/web/src/paint.js';

const { figures } = JSON.parse(document.getElementById('harness-core').textContent);
const chosen = [], saved = [];
const cards = figures.map((spec) => figureCard(spec, {
  heading: 'h2', how: 'Longer is slower.', preset: { name: spec.id },
  onConfig: (figure, preset) => saved.push(preset.name), onPoint: (point) => chosen.push(point),
}));
document.getElementById('app').append(el('main', { class: 'test-page' }, el('h1', {}, 'Figures'),
  cards));
window.painter = { plotOf, updateFigure, drawOnPaper, forgetFigure, cards, chosen, saved };
