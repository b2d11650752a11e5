/* SPDX-License-Identifier: MIT */
/* `harness serve` over a small history, for tests of the live page. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { after } from 'node:test';
import { harness } from './fixture.mjs';
import { PROGRAM, workFolder } from './lib.mjs';

/** A history with one run a label. @returns {{file: string, measure: function(string)}} */
export function history(name, ...labels) {
  const file = join(workFolder(), name);
  let seed = 0;
  const measure = (label) => harness('run', 'null', '--device', `fake:base=2000,seed=${++seed}`,
    '--seed', '1', '--iterations', '40', '--launches', '3', '--label', label, '--db', file);
  labels.forEach(measure);
  return { file, measure };
}

/**
 * Serves a history until the tests end.
 * @returns {Promise<{url: string, stop: function(string): Promise}>} the url is "" in a build that
 *   cannot serve; stop(signal) resolves when the server is gone
 */
export const serve = (file, ...options) => serveWith('--db', file, ...options);

/** The same with options alone. */
export function serveWith(...options) {
  const open = options.includes('--edit') ? [] : ['--open'];
  const child = spawn(PROGRAM, ['serve', ...open, ...options], { cwd: workFolder() });
  const gone = new Promise((resolve) => { child.on('exit', resolve); });
  const stop = (signal = 'SIGTERM') => {
    child.kill(signal);
    return gone;
  };
  after(() => stop());
  return new Promise((resolve, reject) => {
    let said = '';
    child.stdout.on('data', (data) => resolve({ url: String(data).split('\n')[0], stop }));
    child.stderr.on('data', (data) => { said += data; });
    child.on('exit', () => (said.includes('built without') ? resolve({ url: '', stop })
      : reject(new Error(`harness serve: ${said}`))));
  });
}
