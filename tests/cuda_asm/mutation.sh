#!/usr/bin/env bash
# The table of mutants of the kernels of sm_90a: each thing of mutants.py once wrong, and what finds
# it; ends with 1 where one survives that survivors.txt does not explain. Minutes: no part of CI.
# KERNEL: gemm, head, attention, decode, cluster, layernorm, mma, flash, simt or cache; without, the first three.
#   tests/cuda_asm/mutation.sh BUILD_FOLDER [KERNEL...]     BUILD_FOLDER: of preset cuda-host
set -euo pipefail
build=$1
here=$(cd "$(dirname "$0")" && pwd)
shift
[ $# -gt 0 ] || set -- gemm head attention
wrong=0
for kernel in "$@"; do
  folder=$build/tests/cuda_asm
  forms=("drive_${kernel}_mutants")
  [ "$kernel" != attention ] || forms+=(drive_attention_fp8_mutants)
  cmake --build "$build" --target "${forms[@]}"
  echo "== $kernel"
  "$here/mutate.py" "${forms[@]/#/$folder/}" "$folder/$kernel/list" \
    --reasons "$here/survivors.txt" || wrong=1
done
exit $wrong
