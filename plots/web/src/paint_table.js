/* SPDX-License-Identifier: MIT */
/* Figures that are tables: texts in columns beside the names of rows, heads above the first row. */

const MORE_THAN = 3; // texts a row that make a table

const textItems = (panel) => panel.layers
  .filter((layer) => layer.mark === 'text' && !layer.outside)
  .flatMap(({ text = [], x, y }) => text.map((words, i) => ({ text: words, x: x[i], y: y[i] })));

/* Bars that say what they are: texts on them are their names. */
const hasBlocks = (panel) => panel.layers.some((layer) => layer.mark === 'bars' && layer.text);

/** Do the panel's texts stand in columns? */
export function isTable(panel) {
  return panel.y.scale === 'category' && !hasBlocks(panel)
    && textItems(panel).length > MORE_THAN * panel.y.ticks.length;
}

/**
 * @returns {{columns: string[], rows: string[][]}} the first column has the names of the rows; a
 *   cell without text is ""
 */
export function textTable(panel) {
  const items = textItems(panel);
  const places = [...new Set(items.map(({ x }) => x))].sort((a, b) => a - b);
  const row = (y) => places.map((x) => items.find((one) => one.x === x && one.y === y)?.text || '');
  const name = (y) => panel.y.ticks.find((tick) => tick.at === y)?.text || '';
  const all = panel.y.ticks.map((tick) => tick.at).sort((a, b) => a - b)
    .map((y) => ({ y, cells: [name(y), ...row(y)] }));
  const head = all.find(({ y }) => y < 0);
  return { columns: head ? head.cells : ['', ...places.map(() => '')],
    rows: all.filter(({ y }) => y >= 0).map(({ cells }) => cells) };
}
