/* SPDX-License-Identifier: MIT */
/* A small profile to look at before there is one: six tokens of a transformer, some calls, made up
 * and the same each time. */

const OPERATIONS = [
  { operation: 'embedding', device: 'gpu', ms: 0.11, gpu: 0.8, transfer: 0.1, mb: 40 },
  { operation: 'layernorm', device: 'gpu', ms: 0.06, gpu: 0.7, transfer: 0, mb: 42 },
  { operation: 'qkv_projection', device: 'gpu', ms: 0.72, gpu: 0.94, transfer: 0, mb: 58 },
  { operation: 'attention', device: 'gpu', ms: 1.31, gpu: 0.92, transfer: 0, mb: 96 },
  { operation: 'layernorm', device: 'gpu', ms: 0.06, gpu: 0.7, transfer: 0, mb: 60 },
  { operation: 'mlp', device: 'gpu', ms: 1.64, gpu: 0.96, transfer: 0, mb: 82 },
  { operation: 'copy_to_host', device: 'gpu', ms: 0.34, gpu: 0.1, transfer: 0.85, mb: 44 },
  { operation: 'sampling', device: 'cpu', ms: 0.42, gpu: 0, transfer: 0, mb: 44 },
];
const TOKENS = 6, NS = 1e6, MB = 2 ** 20;

/* A number in [0, 1) that looks random and is not. */
function wobble(i) {
  return (i * 0.6180339887) % 1;
}

/** @returns {object} a profile */
export function demoProfile() {
  const entries = [];
  let start = 0, peak = 0;
  for (let i = 0; i < TOKENS * OPERATIONS.length; i++) {
    const one = OPERATIONS[i % OPERATIONS.length];
    const duration = Math.round(one.ms * NS * (0.9 + 0.3 * wobble(i)));
    const gpu = Math.round(duration * one.gpu), transfer = Math.round(duration * one.transfer);
    const overhead = Math.round(duration * 0.03);
    const allocated = Math.round((one.mb + 2 * Math.floor(i / OPERATIONS.length)) * MB);
    peak = Math.max(peak, allocated);
    entries.push({ operation: one.operation, start_ns: start, end_ns: start + duration,
      duration_ns: duration, device: one.device, backend: one.device === 'gpu' ? 'cuda' : 'simd',
      gpu_ns: gpu, transfer_ns: transfer, overhead_ns: overhead,
      cpu_ns: duration - gpu - transfer - overhead, allocated_bytes: allocated, peak_bytes: peak });
    start += duration + Math.round(0.02 * NS);
  }
  return { schema_version: 1, entries };
}
