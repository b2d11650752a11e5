# shellcheck shell=bash
# Functions of Python as variants: listed, verified, measured in fresh processes beside other
# variants, compared in turn, in the history with file and interpreter; what fails is a row. U-11.
source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:[A-Z]*=//p' "$(dirname "$HARNESS")/CMakeCache.txt" 2>/dev/null)
[ -n "$source" ] || skip "not a build tree"
for python in python3 /usr/bin/python3; do
  "$python" -c 'import numpy' 2>/dev/null && break
  python=
done
[ -n "$python" ] || skip "no Python has NumPy here"
export HARNESS_PYTHON=$python
cp "$source/tests/fixtures/python/functions.py" .
small=(--batch 1 --seq 2 --dim n=3 --dim k=4 --device cpu:1)
few=(--launches 1 --iterations 3 --seed 1 --format csv)
rows() {
  sed -nE 's/^.*"?(gemm\/[^"]*\/(warm|cold))"?,.*(OK|WRONG|FAILED|UNSUPPORTED).*/\3 \1/p' | sort | uniq -c
}

say "What is there"
t list variants --python functions.py::returns,writes --like gemm/nn
"$HARNESS" verify --python functions.py::writes,changes --like gemm/nn --seed 1 --batch 1 --seq 2 \
  'gemm/nn/writes/fp32/batch=1,seq=2,n=144*' 'gemm/nn/changes/fp32/batch=1,seq=2,n=144*' |
  sed -E 's/cpu-[0-9]+t/cpu/; s/ +error [0-9.e+-]+ of / error E of /'

say "Measured beside others"
"$HARNESS" run --python functions.py::returns --like gemm/nn "${small[@]}" "${few[@]}" \
  --variant returns,naive gemm/nn 2>"$WORK.log/err" | rows
quiet history show latest
check "the history has the file and the interpreter" test "$(grep -cE '"(functions.py|interpreter)"' "$WORK.log/out")" -eq 2

say "Failures are rows"
"$HARNESS" run --python functions.py::raises,dtype,returns --like gemm/nn "${small[@]}" --variant raises,dtype,returns \
  --launches 1 --iterations 3 >"$WORK.log/out" 2>"$WORK.log/err" || echo "status $?"
check "the cost of a call stands below the table" grep -q 'a call of a Python function that does nothing takes' "$WORK.log/out"
sed -nE 's/.*(ValueError.*|dtype returns.*).*/\1/p' "$WORK.log/out" | sort

say "Refused"
t run --python functions.py::returns
t run --like gemm/nn
t run --python functions.py::naive --like gemm/nn
t run --python functions.py::returns --like gemm/nn --dtype fp64
t compare --baseline-python functions.py::returns
"$HARNESS" profile --python functions.py::returns --like gemm/nn "${small[@]}" --launches 1 --no-store 2>&1 |
  grep -o 'it runs in a process of its own.*' || true
