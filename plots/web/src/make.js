/* SPDX-License-Identifier: MIT */
/* The figures that the page can make itself, by the type that a preset names. */
import { makeBars } from './make_bars.js';
import { makeBox, makeViolin } from './make_box.js';
import { makeEcdf } from './make_ecdf.js';
import { makeHeatmap } from './make_heatmap.js';
import { makeIterations } from './make_iterations.js';
import { makeLines } from './make_lines.js';
import { makeOrder } from './make_order.js';
import { makeScatter } from './make_scatter.js';
import { absent } from './spec.js';
import { figureFor } from './chart.js';

const MAKERS = { scatter: makeScatter, lines: makeLines, bars: makeBars, box: makeBox,
  violin: makeViolin, ecdf: makeEcdf, heatmap: makeHeatmap, iterations: makeIterations,
  order: makeOrder };

/* A dozen rows of a benchmark are read, eight lines or colours are told apart. */
const MOST_RUNS = { bars: 12, box: 12, violin: 8, ecdf: 8, scatter: 8, heatmap: 8, iterations: 8 };

function lastRuns(chart) {
  const most = MOST_RUNS[chart.preset.type] ?? Infinity, { runs } = chart;
  return runs.length <= most ? chart
    : { ...chart, runs: runs.slice(-most), runsLeftOut: runs.length - most };
}

/* Where only a dim can stand, the program knows more: parameters of runs and models. */
const OVER_DIMS = ['lines', 'heatmap'];

/** Can the page make a preset's figure without the program? */
export function canMake(core, preset) {
  const x = preset?.x;
  return Object.hasOwn(MAKERS, preset?.type) && (!OVER_DIMS.includes(preset.type) || !x
    || core.parameters.some((one) => one.name === x));
}

/** @param {object} chart  see chart.js @returns {Promise<object>} a figure */
export async function makeFigure(chart) {
  if (chart.runs.length === 0)
    return absent(figureFor(chart), 'No run is chosen.');
  try {
    return await MAKERS[chart.preset.type](lastRuns(chart));
  } catch (error) {
    if (error.at === undefined)
      throw error;
    return absent(figureFor(chart), `The expression cannot be read: ${error.message}.`);
  }
}
