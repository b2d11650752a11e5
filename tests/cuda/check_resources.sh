#!/usr/bin/env bash
# tests/cuda/resources.sh, of what ptxas says of kernels that are made up. U-03.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# ptxas NAME STACK SPILLED: what it says of a kernel
ptxas() {
  cat <<END
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '$1' for 'sm_90a'
ptxas info    : Function properties for $1
    $2 bytes stack frame, $3 bytes spill stores, $3 bytes spill loads
ptxas info    : Used 168 registers, used 1 barriers, $2 bytes cumulative stack size
ptxas info    : Compile time = 1.000 ms
END
}

# says STATUS TEXT [OPTION]: of the folder
says() {
  local status=0 said
  said=$("$here/resources.sh" "$work" "${@:3}" 2>&1) || status=$?
  if [ $status -eq "$1" ] && [[ $said == *"$2"* ]]; then return; fi
  printf 'status %s, not %s with "%s":\n%s\n' "$status" "$1" "$2" "$said"
  failed=1
}

says 77 'no .ptxas files'
ptxas fine 0 0 >"$work/fine.cu.o.ptxas"
says 0 '1 kernels compiled, at most 168 registers, 0 with stack or spills not allowed'
says 0 'sm_90a  168 registers    0 bytes of stack    0 spilled  fine' --table
says 0 'skipped: nothing is compiled for sm_90 here' --table
ptxas spills 8 4 >"$work/spills.cu.o.ptxas"
says 1 'sm_90a spills: 168 registers, 8 bytes of stack, 8 spilled'
says 1 'sm_90a  168 registers    8 bytes of stack    8 spilled  spills' --table
echo 'ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized' >>"$work/fine.cu.o.ptxas"
says 1 'ptxas warns (above)'
exit $failed
