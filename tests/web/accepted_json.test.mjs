/* SPDX-License-Identifier: MIT */
/*
 * What `--json` writes, before ajv, a validator that others use: each form fits its JSON Schema in
 * docs/schema as it is, and also where members that it does not name are forbidden; and each command
 * that has --json has one. Covers: S0-10, U-10.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { packageOf, PROGRAM, SOURCE, workFolder } from './lib.mjs';

const SCHEMAS = join(SOURCE, 'docs/schema');
const HERE = join(workFolder(), 'project');
mkdirSync(join(HERE, '.git'), { recursive: true });

/* ---- the schemas ---- */

/* Strict, for this test alone: an object whose members are named has no others. */
function close(schema) {
  if (Array.isArray(schema))
    schema.forEach(close);
  else if (schema && typeof schema === 'object') {
    Object.values(schema).forEach(close);
    if (schema.properties && typeof schema.properties === 'object' && !('additionalProperties' in schema)
      && schema.type === 'object')
      schema.additionalProperties = false;
  }
  return schema;
}

const read = (name) => JSON.parse(readFileSync(join(SCHEMAS, name), 'utf8'));
const names = readdirSync(SCHEMAS).filter((name) => name.endsWith('.schema.json'))
  .map((name) => name.replace('.schema.json', ''));
const Ajv = packageOf('ajv/dist/2020').default;

function ajvOf(change) {
  const ajv = new Ajv({ allErrors: true, strictTypes: false });
  names.forEach((name) => ajv.addSchema(change(read(`${name}.schema.json`)), name));
  return ajv;
}
const strict = ajvOf(close), open = ajvOf((schema) => schema);

/** What is wrong, a line each. */
function faults(ajv, name, value) {
  const check = ajv.getSchema(name);
  return check(value) ? [] : check.errors.map((one) =>
    `${one.instancePath} ${one.message} ${JSON.stringify(one.params)}`);
}

/* ---- what is written ---- */

const environment = { ...process.env, HOME: HERE, XDG_CONFIG_HOME: HERE, LC_ALL: 'C.UTF-8' };
delete environment.HARNESS_DB;

/* The status may be that of a verdict. */
function said(args, cwd = HERE) {
  const { status, stdout, stderr } = spawnSync(PROGRAM, args, { cwd, encoding: 'utf8', env: environment,
    maxBuffer: 1 << 28 });
  assert.ok([0, 1, 77].includes(status), `harness ${args.join(' ')}: status ${status}: ${stderr}`);
  return stdout;
}
const harness = (line, ...more) => said([...line.split(' '), ...more]);
const json = (line, ...more) => JSON.parse(harness(line, ...more));

/* With causes: what is to be accepted must be there. */
function explained(line) {
  const value = json(line);
  assert.ok(value.explanations.length > 0, `${line}: nothing got slower`);
  return value;
}

const FAKE = 'null/copy/right --seed 1 --iterations 20 --launches 6';
let seed = 0;
const fake = (settings, more = '') => harness(
  `run ${FAKE} --device fake:base=2000,sd=0.004,seed=${++seed}${settings}${more}`);

/* A history with verdicts, a baseline, a change that is meant to be, and a note; one with a step. */
for (let i = 0; i < 7; i++)
  fake('', ' --batch 1,2,3');
harness('baseline save before --note', 'the old one');
fake(',slow=1.1,only=2', ' --batch 1,2,3 --label after');
fake(',slow=1.5,only=2', ' --batch 1,2,3 --label slowest'); // beyond what is accepted
fake(',crash=2', ' --batch 2,3 --label crashed');
harness('compare --baseline before --head after');
harness('baseline accept null/copy --reason', 'more exact');
harness('history annotate latest', 'new firmware');
harness('selftest null/copy/right --iterations 5 --aa 1 --launches 3 --device fake:base=2000,seed=3');
for (let i = 0; i < 14; i++)
  fake(i < 8 ? '' : ',slow=1.1,only=2', ' --batch 1,2 --db steps.db');
harness('history annotate latest --db steps.db', 'new firmware');
harness(`run ${FAKE} --device fake:base=2000 --db elsewhere/other.db`);
const series = (name, values) => {
  writeFileSync(join(HERE, name), JSON.stringify(values));
  return name;
};
const wave = (i) => 100 + 0.3 * Math.sin(i * 12.9898) + 0.2 * Math.cos(i * 78.233);
const series1 = series('step.json', Array.from({ length: 60 }, (_, i) => wave(i) + (i < 40 ? 0 : 9)));
const series2 = series('drift.json', Array.from({ length: 60 }, (_, i) => wave(i) + i / 5));
const series3 = series('modes.json', Array.from({ length: 80 }, (_, i) => wave(i) + (i % 8 < 4 ? 0 : 9)));
const series4 = series('short.json', [1, 2, 3]);

/* Commits whose builds are this program with a fake device. */
function bisected() {
  const work = join(workFolder(), 'bisected');
  mkdirSync(`${work}.log`, { recursive: true });
  mkdirSync(work, { recursive: true });
  return JSON.parse(execFileSync('bash', ['-c', `. "$CLI/lib.sh"
    toy_repository
    toy_commit seed=3 Start
    git tag good
    for i in 1 2 3; do toy_commit "seed=3,base=$((2000 + i))" "Change $i"; done
    toy_commit slow=1.1 Culprit
    "$HARNESS" bisect --good good --build-command 'sh build.sh' --device fake:base=2000,seed=3 \\
      --seed 1 null/copy/right --batch 4 --json -o found.json >"$WORK.log/out" 2>&1 || true
    cat found.json`], { cwd: work, encoding: 'utf8', env: { ...environment, HARNESS: PROGRAM, WORK: work,
    CLI: join(SOURCE, 'tests/cli'), KNOCKS: '/dev/null' } }));
}

const SELFTEST = 'selftest null/copy/right --iterations 5 --launches 3 --device fake:base=2000,seed=3';
const PROFILE = 'profile gpt/nano/prefill --variant plain --batch 1 --seq 8 --launches 1 --iterations 3';
const trace = join(SOURCE, 'tests/fixtures/profile/forward/trace.json');
const RUN = `run ${FAKE} --device fake:base=2000,seed=9`;

/* As docs/schema/README.md has them: what is typed, the schema, and how it is made here. */
const CASES = [
  ['run --json', 'records', () => [json(`${RUN} --json`)]],
  ['run --format summary-json', 'summary', () => [json(`${RUN} --format summary-json`)]],
  ['export', 'records', () => [json('export crashed')]],
  ['export --format summary-json', 'summary',
    () => [json('export crashed --format summary-json'), json('export after --format summary-json')]],
  ['compare --json', 'comparison', () => [json('compare --baseline before --json'),
    json('compare --baseline before --head crashed --json --metric p50,p95'),
    explained('compare --baseline before --head slowest --json --explain')]],
  ['compare --json -- A --versus B', 'commands',
    () => [json('compare --json --budget 2s -- true --versus false'),
      json('compare --json --runs 2 -- true --versus true'),
      explained('compare --json --explain --budget 5m -- sleep 0.01 --versus sleep 0.2'),
      json('compare --json --runs 2 --metric rate=/(\\d+)/ --metric p50 --unit s --better lower -- echo 7 --versus echo 8')]],
  ['compare --replay --json', 'replay', () => [json('compare --replay --json')]],
  ['history show', 'records', () => [json('history show latest')]],
  ['history list --json', 'runs', () => [json('history list --json'), []]],
  ['history system --json', 'runs', () => [json('history system --json')]],
  ['history verdicts --json', 'verdicts',
    () => [json('history verdicts --json'), json('history verdicts 1 --json')]],
  ['history merge --json', 'merge', () => [json('history merge elsewhere/other.db --json')]],
  ['baseline list --json', 'baselines', () => [json('baseline list --json')]],
  ['baseline show --json', 'baselines', () => [json('baseline show before --json')]],
  ['baseline accepted --json', 'accepted', () => [json('baseline accepted --json')]],
  ['trend --json', 'trend', () => [json('trend --json'), json('trend --all --json --db steps.db')]],
  ['detect --json', 'detect', () => [series1, series2, series3, series4].map((file) =>
    json('detect --json', file))],
  ['bisect --json', 'bisect', () => [bisected()]],
  ['selftest --json', 'selftest', () => [json(`${SELFTEST} --aa 1 --power --repeats 2 --json`)]],
  ['selftest --cost --json', 'selftest', () => [json(`${SELFTEST} --batch 1 --plant 5%,10% --cost --json`)]],
  ['selftest --placement --json', 'selftest', () => [json(`${SELFTEST} --batch 1,2 --placement --json`)]],
  ['judge --json', 'judge', () => [json('judge --spec pointwise/bias --variant naive,simd_bf16 --dim batch=1,seq=4,width=8 '
    + '--rounds 1 --iterations 2 --other-shapes 1 --device cpu:1 --json')]],
  ['tune --json', 'tune', () => [json('tune gemm/nn --batch 1 --seq 8 --dim n=16 --dim k=32 --param depth=0,16 '
    + '--rounds 2 --device cpu:1 --json')]],
  ['tune --kept --json', 'tune', () => [json('tune --kept --json')]],
  ['judge --tuned --json', 'judge', () => [json('judge --spec gemm/nn --variant simd --tuned --dim batch=1,seq=8,n=16,k=32 '
    + '--rounds 1 --iterations 2 --other-shapes 1 --device cpu:1 --json')]],
  ['doctor --json', 'doctor', () => [json('doctor --json')]],
  ['list --json', 'list', () => [json('list --json'), json('list metrics --json')]],
  ['roofline --json', 'ceilings', () => [json('roofline --json')]],
  ['model list --json', 'models', () => [json('model list --json'), json('model info --json')]],
  ['model agree --json', 'agreement', () => {
    writeFileSync(join(HERE, 'tokens.json'), '[1, 2, 3, 4, 5, 6, 7, 8]');
    return [json('model agree --model nano --backend simd_bf16 --tokens tokens.json --json')];
  }],
  ['version --json', 'version', () => [json('version --json')]],
  ['profile --json', 'profile', () => [json(`${PROFILE} -o real --json`),
    JSON.parse(readFileSync(join(HERE, 'real/profile.json'), 'utf8'))]],
  ['profile --import --json', 'profile', () => [json('profile --json -o imported --import', trace)]],
  ['profile --diff --json', 'profile',
    () => [json('profile -o diff --json --diff', trace, 'real/trace.json')]],
];

for (const [typed, schema, make] of CASES)
  test(`${typed}: ${schema}.schema.json`, () => {
    for (const value of make())
      for (const as of [strict, open]) // a form that others hold, too, is told apart in strict alone
        assert.deepEqual(faults(as, schema, value).slice(0, 5), []);
  });

/* ---- that nothing is left out ---- */

const listed = (text, from) => text.slice(text.indexOf(from)).split('\n\n')[0].split('\n').slice(1)
  .map((line) => line.trim().split(/\s+/)[0]);

test('each command that has --json has a schema', () => {
  const typed = CASES.map(([words]) => words), missing = [];
  for (const command of listed(harness('help'), 'commands:')) {
    const help = harness('help', command);
    const hasJson = /^ {2}(?:-\w, )?--json /m.test(help);
    const has = (words) => typed.some((one) => one === words || one.startsWith(`${words} `));
    if (hasJson && !has(command))
      missing.push(command);
    if (hasJson && help.includes('\nactions:\n'))
      for (const action of listed(help, '\nactions:\n'.trim())) {
        const { stderr } = spawnSync(PROGRAM, [command, action, '--json'], { cwd: HERE, encoding: 'utf8',
          env: environment });
        if (!/has no --json/.test(stderr) && !has(`${command} ${action}`)
          && !(command === 'model' && action === 'info')) /* another name of list */
          missing.push(`${command} ${action}`);
      }
  }
  assert.deepEqual(missing, []);
});

test('docs/schema/README.md has the same list, and every schema is used', () => {
  const page = readFileSync(join(SCHEMAS, 'README.md'), 'utf8'), rows = [];
  for (const [, name, words] of page.matchAll(/^\| \[(\w+)\]\(\1\.schema\.json\) \| (.*?) \|/gm))
    for (const [, typed] of words.matchAll(/`([^`]+)`/g))
      rows.push(`${typed}: ${name}`);
  assert.deepEqual(rows.sort(), CASES.map(([typed, name]) => `${typed}: ${name}`).sort());
  assert.deepEqual(names.filter((name) => name !== 'common' && !CASES.some(([, used]) => used === name)),
    []);
});

/* ---- that they can refuse ---- */

test('a schema refuses what lacks a member or has another type, and takes further members', () => {
  const value = json('compare --baseline before --json');
  assert.deepEqual(faults(open, 'comparison', { ...value, further: 1 }), []);
  assert.equal(faults(strict, 'comparison', { ...value, further: 1 }).length, 1);
  const { rows, ...without } = value;
  assert.match(faults(open, 'comparison', without)[0], /must have required property 'rows'/);
  assert.ok(faults(open, 'comparison', { ...value, rows: [{ ...rows[0], verdict: 'slower' }] }).length > 0);
  assert.ok(faults(open, 'version', { dirty: 'no' }).length > 0);
});
