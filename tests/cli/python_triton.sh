# shellcheck shell=bash
# A kernel of Triton, which computes on the CPU, measured by the functions that launch it. That the form is
# taken where there is no Triton, tests/plugin/test_plugin_python.c says. U-11.
source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:[A-Z]*=//p' "$(dirname "$HARNESS")/CMakeCache.txt" 2>/dev/null)
[ -n "$source" ] || skip "not a build tree"
export TRITON_INTERPRET=1
for python in python3 /usr/bin/python3; do
  "$python" -c 'import torch, triton' 2>/dev/null && break
  python=
done
[ -n "$python" ] || skip "no Python has Triton here, with PyTorch"
export HARNESS_PYTHON=$python
cp "$source/tests/fixtures/python/triton_form.py" .

say "Launched by a function"
"$HARNESS" run --python triton_form.py::writes,returns --like gemm/nn --dtype fp32,bf16 --batch 1 --seq 2 \
  --dim n=3 --dim k=4 --device cpu:1 --launches 1 --iterations 3 --seed 1 --format csv 2>"$WORK.log/err" |
  sed -nE 's/^.*"?gemm\/nn\/([^/]*\/[^/]*)\/.*(OK|WRONG|FAILED|UNSUPPORTED).*/\2 \1/p' |
  grep -E ' (writes|returns)' | sort
