# shellcheck shell=bash
# A judge of functions of PyTorch: known cheats are found, each for its reason, as the table of
# docs/judge-python.md says; what is right is not refused.
source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:[A-Z]*=//p' "$(dirname "$HARNESS")/CMakeCache.txt" 2>/dev/null)
[ -n "$source" ] || skip "not a build tree"
for python in python3 /usr/bin/python3; do
  "$python" -c 'import torch' 2>/dev/null && break
  python=
done
[ -n "$python" ] || skip "no Python has PyTorch here (Debian's is python3-torch)"
export HARNESS_PYTHON=$python
cp "$source/tests/judge/torch_cheats.py" "$source/tests/judge/torch_honest.py" .
# A process that imports PyTorch takes its time, and is none of the windows that hang.
quick=(--like gemm/nt --dim 'batch=1,seq=9,n=24,k=64' --rounds 1 --iterations 3 --other-shapes 1
  --device cpu:1 --against naive --timeout 180s)
# judge FILE: all its functions
judge() {
  local names
  names=$(sed -nE 's/^def ([a-z][a-z0-9_]*)\(.*/\1/p' "$1" | paste -sd,)
  "$HARNESS" judge --python "$1::$names" "${quick[@]}"
}
# Lines "NAME VERDICT [FAULT]".
verdicts() {
  sed -nE 's/^[a-z_/]+\/([a-z0-9_]+)\/[a-z0-9]+: (VALID|INVALID)(, ([a-z]+): .*)?$/\1 \2 \4/p' | sed 's/ $//'
}

say "Known cheats"
judge torch_cheats.py >cheats 2>err || echo "status $?"
! grep seccomp err || skip "the kernel has no seccomp"
# Which of the two it is depends on whether the launch before it was in the same window, and on the data.
verdicts <cheats | sed -E 's/^((last_result|previous_output|memo_by_corner) INVALID) (wrong|stale)$/\1 wrong or stale/
  s/^(few_bits_less INVALID) (precision|wrong)$/\1 precision or wrong/' | tee found
check "none is valid" not grep -q ' VALID' found
# shellcheck disable=SC2016  # backquotes of Markdown
sed '1,/^### Of PyTorch/d; /^### Low/,$d' "$source/docs/judge-python.md" |
  sed -nE 's/^\| `([a-z0-9_]+)`[^|]*\| ([a-z ]+) \| .* \|$/\1 INVALID \2/p' >documented
check "docs/judge-python.md tells of them, and why" diff documented found

say "Honest ones"
judge torch_honest.py >honest 2>err || echo "status $?"
verdicts <honest
