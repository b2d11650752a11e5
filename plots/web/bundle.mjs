/* SPDX-License-Identifier: MIT */
/*
 * Makes the page: one HTML file with style, application and Plotly inside, and three places that
 * the program fills: {{title}}, {{connect}} and {{data}}.
 *
 *     node bundle.mjs MODULES OUTPUT [ENTRY]
 *
 * MODULES is a folder with a node_modules made from package-lock.json. ENTRY is another application
 * than src/main.js, for tests of parts. Same input, same bytes.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const HERE = dirname(fileURLToPath(import.meta.url));
const FOR_THE_PROGRAM = ['title', 'connect', 'data'];
/* Browsers that have DecompressionStream; older ones get tables and a sentence. */
const BROWSERS = ['chrome103', 'firefox113', 'safari16.4'];

/** Bundles and shrinks one entry file with all that it imports. */
function shrunk(esbuild, entry) {
  const result = esbuild.buildSync({
    entryPoints: [resolve(HERE, entry)],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: BROWSERS,
    legalComments: 'none',
    charset: 'utf8',
  });
  return result.outputFiles[0].text.trim();
}

/** The word by which a content security policy allows exactly this script. */
function policyHash(script) {
  return `'sha256-${createHash('sha256').update(script, 'utf8').digest('base64')}'`;
}

/** Inside <script> or <style> nothing may look like its end. */
function checked(text, what) {
  const trap = text.match(/<\/(script|style)|<!--/i);
  if (trap)
    throw new Error(`${what} holds "${trap[0]}", which would end its element`);
  return text;
}

/** Puts each part at its place; a place that is missing or doubled is an error. */
function filled(template, parts) {
  for (const [name, text] of Object.entries(parts)) {
    const pieces = template.split(`{{${name}}}`);
    if (pieces.length !== 2)
      throw new Error(`page.html must have {{${name}}} once, it has it ${pieces.length - 1} times`);
    template = pieces.join(text);
  }
  return template;
}

function checkPlaces(page) {
  for (const name of FOR_THE_PROGRAM)
    if (page.split(`{{${name}}}`).length !== 2)
      throw new Error(`the page must have {{${name}}} once`);
}

function main([modules, output, entry = 'src/main.js']) {
  const require = createRequire(join(resolve(modules), 'package.json'));
  const esbuild = require('esbuild');
  const plotly = readFileSync(require.resolve('plotly.js-basic-dist-min'), 'utf8');
  const script = checked(shrunk(esbuild, entry), 'the application');
  const page = filled(readFileSync(join(HERE, 'page.html'), 'utf8'), {
    hashes: [script, plotly].map(policyHash).join(' '),
    style: checked(shrunk(esbuild, 'style/page.css'), 'the style'),
    plotly: gzipSync(plotly, { level: 9 }).toString('base64'),
    script,
  });
  checkPlaces(page);
  writeFileSync(output, page);
}

if (process.argv.length < 4) {
  console.error('usage: node bundle.mjs MODULES OUTPUT [ENTRY]');
  process.exit(2);
}
main(process.argv.slice(2));
