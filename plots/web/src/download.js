/* SPDX-License-Identifier: MIT */
/* A figure as a file: PNG, SVG, CSV, or the configuration that draws it again. */
import { csvText } from './csv.js';
import { saveText, saveUrl } from './dom.js';
import { figureTable } from './figure_table.js';
import { picture } from './paint.js';

const HEADER = 'data:image/svg+xml,';

/* Who opens the file without this page still gets title and description. */
function describedSvg(text, spec) {
  const document = new DOMParser().parseFromString(text, 'image/svg+xml');
  const add = (tag, words) => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
    element.textContent = words;
    document.documentElement.prepend(element);
  };
  document.documentElement.setAttribute('role', 'img');
  add('desc', spec.alt || spec.title);
  add('title', spec.title);
  return new XMLSerializer().serializeToString(document);
}

/** @param {object} options  hidden: labels that the legend has switched off */
export async function savePng(spec, options) {
  saveUrl(`${spec.id}.png`, await picture(spec, 'png', options));
}

export async function saveSvg(spec, options) {
  const url = await picture(spec, 'svg', options);
  const text = decodeURIComponent(url.slice(HEADER.length));
  saveText(`${spec.id}.svg`, describedSvg(text, spec), 'image/svg+xml');
}

export function saveCsv(spec) {
  const { columns, rows } = figureTable(spec);
  saveText(`${spec.id}.csv`, csvText([columns, ...rows]), 'text/csv');
}
