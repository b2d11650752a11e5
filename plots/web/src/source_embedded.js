/* SPDX-License-Identifier: MIT */
import { unpackText } from './plotly.js';

/* A block is unpacked when it is first asked for, and once. */
function blockReader(document) {
  const blocks = new Map();
  return (id, absent) => {
    if (!blocks.has(id)) {
      const element = document.getElementById(id);
      const block = { value: absent };
      block.ready = element ? unpackText(element.textContent).then(JSON.parse).then((value) => {
        block.value = value;
        return value;
      }) : Promise.resolve(absent);
      blocks.set(id, block);
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
    table: () => block('harness-table', NO_TABLE).ready,
    figure: async (id) => (await block('harness-figures', {}).ready)[id] || null,
    unpacked: () => Promise.all([block('harness-figures', {}).ready, block('harness-table', NO_TABLE).ready]),
    figureAtHand: (id) => block('harness-figures', {}).value[id] || null,
    trace: () => block('harness-trace', null).ready,
    samples: async (run, benchmark) =>
      (await block('harness-samples', {}).ready)[`${run}:${benchmark}`] || null,
    tokenOf: (run) => String(run),
    runOf: (token) => Number(token),
    select: async () => null,
    watch: () => {},
  };
}
