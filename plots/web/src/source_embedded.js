/* SPDX-License-Identifier: MIT */
import { unpackText } from './plotly.js';

/* A block is unpacked when it is first asked for, and once. */
function blockReader(document) {
  const blocks = new Map();
  return (id, absent) => {
    if (!blocks.has(id)) {
      const element = document.getElementById(id);
      const promise = element ? unpackText(element.textContent).then(JSON.parse) : Promise.resolve(absent);
      blocks.set(id, promise);
    }
    return blocks.get(id);
  };
}

const NO_TABLE = { run: [], benchmark: [], launches: [], outcome: [], n: [], columns: {} };

/** All data is in the file. */
export function embeddedSource(core, document) {
  const block = blockReader(document);
  return {
    core,
    live: false,
    table: () => block('harness-table', NO_TABLE),
    figure: async (id) => (await block('harness-figures', {}))[id] || null,
    samples: async (run, benchmark) =>
      (await block('harness-samples', {}))[`${run}:${benchmark}`] || null,
    explore: async () => null,
    tokenOf: (run) => String(run),
    runOf: (token) => Number(token),
    select: async () => null,
    watch: () => {},
  };
}
