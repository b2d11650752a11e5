/* SPDX-License-Identifier: MIT */

/* A cell that a spreadsheet would take for a formula gets an apostrophe; numbers stay numbers. */
function cell(value) {
  if (value === null || value === undefined)
    return '';
  if (typeof value === 'number')
    return Number.isFinite(value) ? String(value) : '';
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Rows of cells as RFC 4180. @param {Array<Array<*>>} rows */
export function csvText(rows) {
  return rows.map((row) => row.map(cell).join(',')).join('\r\n') + '\r\n';
}
