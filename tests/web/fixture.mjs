/* SPDX-License-Identifier: MIT */
/*
 * Histories made up for tests of the page: records of two or three runs with known faults, and the
 * report that the program makes of them. Numbers follow from a seed, so that they never change.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROGRAM, workFolder } from './lib.mjs';

export const SLOWER = 'attention/causal/simd/fp32/batch=4,seq=64,heads=8,headdim=32/cpu-2t/warm';
export const BROKEN = 'layernorm/plain/simd/fp32/batch=4,seq=64,width=256/cpu-2t/warm';

/** Numbers in [0, 1) from a seed (mulberry32). */
function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/* About normal, with a tail on the slow side. */
function sample(random, median, spread) {
  const sum = random() + random() + random() - 1.5;
  const tail = random() < 0.02 ? 3 * random() : 0;
  return Math.round(median * Math.exp(spread * (sum + tail)));
}

/** [key, median in ns, FLOPs, bytes, samples a launch] */
function benchmarks() {
  const list = [[SLOWER, 86000, 4.2e6, 1.3e6, 150], [BROKEN, 23000, 1.3e5, 5.2e5, 150]];
  for (const variant of ['naive', 'openblas', 'simd'])
    for (const batch of [1, 4, 16])
      for (const seq of [64, 128]) {
        const work = batch * seq * 64 * 64 * 2, rate = { naive: 4, openblas: 90, simd: 60 }[variant];
        list.push([`gemm/linear/${variant}/fp32/batch=${batch},seq=${seq},n=64,k=64/cpu-2t/warm`,
          2000 + work / rate, work, 4 * 64 * (batch * seq * 2 + 64), 60]);
      }
  for (const batch of [1, 4])
    list.push([`gpt/nano/prefill/simd/fp32/batch=${batch},seq=64/cpu-2t/warm`, 3e6 * batch, 8e6 * batch,
      4e5, 12]);
  return list;
}

function measurement([key, median, flops, bytes, nr], launch, factor, random, started) {
  const own = median * factor * Math.exp(0.004 * (random() - 0.5));
  return { key, launch, outcome: 'OK', max_error: 1e-6, tolerance: 1e-4, checked: 1, flops, bytes,
    footprint: 3 * bytes, batch: 1, samples_ns: Array.from({ length: nr }, () =>
      sample(random, own, 0.02)), stop: 'precision', warmups: 3, clock: 'CLOCK_MONOTONIC_RAW',
    started_ms: started, seconds: 0.1, telemetry: { cpu_mhz: 3000, load1: 0.5 },
    ...(key.includes('/openblas/') ? { vendor: true } : {}) };
}

const MACHINE = { id: '0123456789abcdef', class_name: 'test-machine', cpu: 'Test CPU', cores: 2,
  threads: 2, isa: 'avx2', l1d: 32768, l2: 1048576, l3: 33554432, l3_shared_by: 2, memory: 8589934592 };

/**
 * @param {object} [options]  seed, hour (of the start), label, commit, slower (a factor for SLOWER),
 *   broken (BROKEN fails), rename (key → key), launches, build (members of it)
 * @returns {object} records of one run
 */
export function records({ seed = 1, hour = 1, label = '', commit = '', slower = 1, broken = false,
  rename = (key) => key, launches = 5, ...rest } = {}) {
  const random = randomOf(seed), start = Date.UTC(2026, 10, 1, hour), measurements = [];
  for (let launch = 0; launch < launches; launch++)
    benchmarks().forEach((bench, i) => {
      const factor = bench[0] === SLOWER ? slower : 1, at = start + launch * 60000 + i * 500;
      const one = measurement(bench, launch, factor, random, at);
      if (broken && bench[0] === BROKEN)
        Object.assign(one, { outcome: 'WRONG', message: 'element 3 is 1.5, expected 1.0',
          max_error: 0.5, samples_ns: [] });
      measurements.push({ ...one, key: rename(one.key) });
    });
  return { schema_version: 1, ceilings: [], runs: [{
    uuid: `00000000-0000-4000-8000-${String(seed).padStart(12, '0')}`, started_ms: start,
    ended_ms: start + 600000, suite: 'test', label, machine: MACHINE,
    build: { version: '0.1.0', commit: commit || String(seed).repeat(40).slice(0, 40), branch: 'main',
      dirty: false, compiler: 'GNU 12.2.0', flags: '-O3', build_type: 'Release', ...rest.build },
    environment: { governor: 'performance', load1: 0.5 },
    settings: { device: 'cpu', launches, sampling: { max_time: 0.1 } }, measurements }] };
}

/** @returns {string} the file */
export function recordsFile(name, json) {
  const file = join(workFolder(), name);
  writeFileSync(file, JSON.stringify(json));
  return file;
}

/** Runs the program; its status may be that of a regression. @returns {string} what it printed */
export function harness(...args) {
  try {
    return execFileSync(PROGRAM, args, { cwd: workFolder(), encoding: 'utf8',
      env: { ...process.env, XDG_CONFIG_HOME: workFolder(), HOME: workFolder() },
      stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    if (error.status === 1)
      return error.stdout;
    throw new Error(`harness ${args.join(' ')}: ${error.stderr}`);
  }
}

/** A base and a head in which SLOWER took 12 % more time and BROKEN is wrong. */
export function twoSides() {
  return [recordsFile('base.json', records({ seed: 1, hour: 1, label: 'before' })),
    recordsFile('head.json', records({ seed: 2, hour: 2, label: 'after', slower: 1.12, broken: true }))];
}

/** @param {string[]} args  of `harness report` @returns {string} the page */
export function reportPage(name, args) {
  const file = join(workFolder(), name);
  harness('report', ...args, '-o', file);
  return file;
}

/** The blocks of a page: { core, table, ... } as the page itself reads them. */
export function coreOf(file) {
  const html = readFileSync(file, 'utf8');
  const block = /<script type="application\/json" id="harness-core">([^]*?)<\/script>/.exec(html);
  return JSON.parse(block[1]);
}
