# shellcheck shell=bash
# A judge of functions of Python: known cheats are found, each for its reason, as the table of
# docs/judge-python.md says; odd but honest ones are not refused; how sure it is, is told.
source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:[A-Z]*=//p' "$(dirname "$HARNESS")/CMakeCache.txt" 2>/dev/null)
[ -n "$source" ] || skip "not a build tree"
for python in python3 /usr/bin/python3; do
  "$python" -c 'import numpy' 2>/dev/null && break
  python=
done
[ -n "$python" ] || skip "no Python has NumPy here"
export HARNESS_PYTHON=$python
cp "$source/tests/judge/cheats.py" "$source/tests/judge/honest.py" .
quick=(--like gemm/nt --dim 'batch=1,seq=5,n=7,k=16' --rounds 1 --iterations 3 --other-shapes 1
  --device cpu:1 --against naive)
# judge FILE FUNCTION...
judge() {
  local names
  names=$(printf '%s\n' "${@:2}" | paste -sd,)
  "$HARNESS" judge --python "$1::$names" "${quick[@]}" --timeout 10s
}
functions_of() {
  sed -nE 's/^def ([a-z][a-z_]*)\(.*/\1/p' "$1"
}
# Lines "NAME VERDICT [FAULT]".
verdicts() {
  sed -nE 's/^[a-z_/]+\/([a-z0-9_]+)\/[a-z0-9]+: (VALID|INVALID)(, ([a-z]+): .*)?$/\1 \2 \4/p' | sed 's/ $//'
}

say "Known cheats"
mapfile -t cheats < <(functions_of cheats.py)
judge cheats.py "${cheats[@]}" >cheats 2>err || echo "status $?"
! grep seccomp err || skip "the kernel has no seccomp"
# Which of the two it is depends on whether the launch before it was in the same window, on the kind of data
# that the lot had first, and on how inputs are changed in the middle of a window.
verdicts <cheats | sed 's/^\(\(last_result\|all_by_one\|memo_by_few\) INVALID\) .*/\1 wrong or stale/
  s/^\(\(work_for_the_next\|hides_how_far\) INVALID\) \(unwritten\|wrong\)$/\1 unwritten or wrong/' | tee found
check "none is valid" not grep -q ' VALID' found
# shellcheck disable=SC2016  # backquotes of Markdown
sed '/^### Of PyTorch/,$d' "$source/docs/judge-python.md" |
  sed -nE 's/^\| `([a-z0-9_]+)`[^|]*\| ([a-z ]+) \| .* \|$/\1 INVALID \2/p' >documented
check "docs/judge-python.md tells of them, and why" diff documented found
check "an exception is told, with its line" grep -q 'raise_at_once/fp32: INVALID, ended: .*ValueError: no (cheats.py:[0-9]*)' cheats

say "Honest ones"
mkdir temporary
TMPDIR=$PWD/temporary judge honest.py matmul returned loops joined memo_of_all other_clock >honest || echo "status $?"
check "what they wrote is gone with them" rmdir temporary
verdicts <honest
check "a clock of its own gains nothing" grep -qE '^    0\.[0-9]+ times as fast as naive' honest

say "How sure it is"
judge honest.py slow_to_begin >slow || echo "status $?"
sed -nE 's/^  (confidence: low).*/\1/p' slow
"$HARNESS" judge --python honest.py::slow_to_begin "${quick[@]}" --json >slow.json || echo "status $?"
json slow.json judgements 0 confidence

say "Not understood"
t judge --python honest.py::matmul
t judge --python honest.py::matmul --like gemm/nt --spec gemm/nn
t judge --python honest.py::matmul --like gemm/nt --device fake
judge honest.py nobody | grep -vE '^  (found at|sizes by lot)' || echo "status $?"
HARNESS_PYTHON=/bin/false judge honest.py matmul 2>&1 || echo "status $?"
