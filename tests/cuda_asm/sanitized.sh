#!/usr/bin/env bash
# The kernels of sm_90a with AddressSanitizer and UndefinedBehaviorSanitizer, in their small forms: for what
# they load, store and compute beside their asm statements. Ends with 1 where one fails.
#   tests/cuda_asm/sanitized.sh BUILD_FOLDER [--today | KERNEL...]     BUILD_FOLDER: of preset cuda-host
# KERNEL: as in mutation.py, attention_fp8, primitives or wrappers; without, all. --today: the day's. Each
# takes 2 to 17 s of a processor, built and run.
set -euo pipefail
build=$1
shift
all=(primitives head gemm attention attention_fp8 cluster decode layernorm mma flash flash32 simt tiled cache
  naive wrappers)
case ${1-} in
--today) set -- "${all[$((10#$(date -u +%j) % ${#all[@]}))]}" ;;
"") set -- "${all[@]}" ;;
esac
export TIMEFORMAT='%U s of a processor'
wrong=()
for kernel in "$@"; do
  program=drive_${kernel}_sanitized log=$build/tests/cuda_asm/drive_${kernel}_sanitized.log
  printf '%s: built in ' "$kernel"
  time cmake --build "$build" --target "$program" >"$log" 2>&1 || {
    cat "$log"
    exit 1
  }
  printf '%s: run in ' "$kernel"
  time "$build/tests/cuda_asm/$program" >"$log" 2>&1 || {
    cat "$log"
    wrong+=("$kernel")
  }
done
[ ${#wrong[@]} -eq 0 ] || {
  echo "wrong with the sanitizers: ${wrong[*]}"
  exit 1
}
