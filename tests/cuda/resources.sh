#!/usr/bin/env bash
# What the compiler made of the CUDA kernels: no kernel spills registers to memory or keeps an array
# there, unless kernels/cuda/spills.txt allows it, and ptxas had no complaint (such as wgmma
# serialised). Prints a table of registers; U-03.
#   tests/cuda/resources.sh BUILD_FOLDER
set -euo pipefail
build=$1
allowed=$(cd "$(dirname "$0")/../.." && pwd)/kernels/cuda/spills.txt

# Not the device programs of the tests, whose plain kernels are to be compared with.
mapfile -t logs < <(find "$build" -path "$build/tests" -prune -o -name '*.ptxas' -print | sort)
if [ ${#logs[@]} -eq 0 ]; then
  echo "no .ptxas files under $build: CUDA is not built by nvcc here"
  exit 77
fi
if grep -n -E 'warning|C75[0-9]{2}' "${logs[@]}"; then
  echo "ptxas warns (above)"
  exit 1
fi
awk -v allowed="$allowed" '
  BEGIN { while ((getline line < allowed) > 0) if (line !~ /^#|^$/) may[line] = 1 }
  /Compiling entry function/ { split($0, part, "\047"); kernel = part[2]; arch = part[4] }
  /bytes stack frame/ { stack = $1; stores = $5; loads = $9 }
  /Used [0-9]+ registers/ {
    for (i = 1; i < NF; i++) if ($i == "Used") registers = $(i + 1)
    nr++
    if (stack + stores + loads > 0) {
      excused = 0
      for (pattern in may) if (kernel ~ pattern) excused = 1
      printf "%s %s: %d registers, %d bytes of stack, %d spilled%s\n", arch, kernel, registers,
        stack, stores + loads, excused ? " (allowed)" : ""
      if (!excused) bad++
    }
    if (registers > most) most = registers
  }
  END {
    printf "%d kernels compiled, at most %d registers, %d with stack or spills not allowed\n", nr,
      most, bad
    exit nr == 0 ? 77 : bad > 0
  }' "${logs[@]}"
