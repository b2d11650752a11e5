#!/usr/bin/env bash
# What the compiler made of the CUDA kernels: no kernel spills registers to memory or keeps an array
# there, unless kernels/cuda/spills.txt allows it, and ptxas had no complaint (such as wgmma
# serialised). Prints those that do; with --table a row for each kernel, and which instructions of sm_90a
# are where they must be (machine_code.py); U-03.
#   tests/cuda/resources.sh BUILD_FOLDER [--table]
set -euo pipefail
build=$1 table=${2:-}
here=$(cd "$(dirname "$0")" && pwd)
allowed=$here/../../kernels/cuda/spills.txt

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

# kernels FORMAT: of each kernel the architecture, registers, bytes of stack and of spills, its name.
kernels() {
  awk -v format="$1" '
    /Compiling entry function/ { split($0, part, "\047"); kernel = part[2]; arch = part[4] }
    /bytes stack frame/ { stack = $1; spilled = $5 + $9 }
    /Used [0-9]+ registers/ {
      for (i = 1; i < NF; i++) if ($i == "Used") registers = $(i + 1)
      printf format, arch, registers, stack, spilled, kernel
    }' "${logs[@]}"
}
readable() { if command -v c++filt >/dev/null; then c++filt; else cat; fi; }

if [ "$table" = --table ]; then
  kernels '%-7s %3d registers %4d bytes of stack %4d spilled  %s\n' | readable | sort
  python3 "$here/machine_code.py" "$build" --gates || true # its own test judges
fi
kernels '%s %s %s %s %s\n' | awk -v allowed="$allowed" '
  BEGIN { while ((getline line < allowed) > 0) if (line !~ /^#|^$/) may[line] = 1 }
  {
    arch = $1; registers = $2; stack = $3; spilled = $4; kernel = $5
    nr++
    if (stack + spilled > 0) {
      excused = 0
      for (pattern in may) if (kernel ~ pattern) excused = 1
      printf "%s %s: %d registers, %d bytes of stack, %d spilled%s\n", arch, kernel, registers,
        stack, spilled, excused ? " (allowed)" : ""
      if (!excused) bad++
    }
    if (registers > most) most = registers
  }
  END {
    printf "%d kernels compiled, at most %d registers, %d with stack or spills not allowed\n", nr,
      most, bad
    exit nr == 0 ? 77 : bad > 0
  }'
