#!/usr/bin/env bash
# The kernels of sm_90a with AddressSanitizer and UndefinedBehaviorSanitizer, their small forms: what of
# ordinary loads, stores and arithmetic is wrong. gcc takes a minute for some: no part of CI.
#   tests/cuda_asm/sanitized.sh BUILD_FOLDER [KERNEL...]     BUILD_FOLDER: of preset cuda-host
# KERNEL: as in mutation.py, attention_fp8, primitives or wrappers; without, all. Ends with 1 where one fails.
set -euo pipefail
build=$1
shift
[ $# -gt 0 ] || set -- primitives wrappers layernorm cache naive tiled head flash flash32 simt decode mma \
  attention attention_fp8 gemm cluster
export TIMEFORMAT='%U s'
wrong=()
for kernel in "$@"; do
  program=drive_${kernel}_sanitized
  printf '%s: built in ' "$kernel"
  time cmake --build "$build" --target "$program" >"$build/$program.log" 2>&1 || { cat "$build/$program.log"; exit 1; }
  printf '%s: run in ' "$kernel"
  time "$build/tests/cuda_asm/$program" >"$build/$program.log" 2>&1 || {
    wrong+=("$kernel")
    cat "$build/$program.log"
  }
done
[ ${#wrong[@]} -eq 0 ] || { echo "wrong: ${wrong[*]}" && exit 1; }
