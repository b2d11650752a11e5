# shellcheck shell=bash
# Functions of PyTorch, measured: tensors by annotation, by the file's word and by DLPack, written into,
# returned and by out=, fp32 and bf16. U-11.
source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:[A-Z]*=//p' "$(dirname "$HARNESS")/CMakeCache.txt" 2>/dev/null)
[ -n "$source" ] || skip "not a build tree"
for python in python3 /usr/bin/python3; do
  "$python" -c 'import torch' 2>/dev/null && break
  python=
done
[ -n "$python" ] || skip "no Python has PyTorch here (Debian's is python3-torch)"
export HARNESS_PYTHON=$python
cp "$source"/tests/fixtures/python/{functions,torch_named,torch_dlpack}.py .
# measured FILE FUNCTIONS DTYPES: the outcome of each. All ways in all types: tests/plugin/test_plugin_python.c.
measured() {
  "$HARNESS" run --python "$1::$2" --like gemm/nn --dtype "$3" --batch 1 --seq 2 --dim n=3 --dim k=4 \
    --device cpu:1 --launches 1 --iterations 3 --seed 1 --format csv 2>"$WORK.log/err" |
    sed -nE 's/^.*"?gemm\/nn\/([^/]*\/[^/]*)\/.*(OK|WRONG|FAILED|UNSUPPORTED).*/\2 \1/p' |
    grep -E " (${2//,/|})" | sort
}

say "A parameter is annotated"
measured functions.py with_torch fp32,bf16

say "The file says torch"
measured torch_named.py writes,out fp32
measured torch_named.py returns bf16

say "The file says from_dlpack"
measured torch_dlpack.py returns bf16
