# shellcheck shell=bash
# Functions of Python on a GPU, on the host layer, whose memory an interpreter opens by a stand-in for
# the driver's library: verified, measured beside the build's, swept, compared, and refused in words.
# Each way of tensors and results, and each failure: tests/plugin/test_plugin_python_cuda.c. U-02, U-11.
"$HARNESS" list devices | grep -q 'CUDA host layer' || {
  echo "not a build with HARNESS_CUDA=HOST"
  exit 77
}
build=$(dirname "$HARNESS")
source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:[A-Z]*=//p' "$build/CMakeCache.txt")
for python in python3 /usr/bin/python3; do
  "$python" -c 'import numpy' 2>/dev/null && break
  python=
done
[ -n "$python" ] || skip "no Python has NumPy here"
export HARNESS_PYTHON=$python LD_LIBRARY_PATH=$build/tests/cuda_host/libcuda
cp "$source"/tests/fixtures/python/{on_cuda,dlpack_alone}.py .
python_on() { "$HARNESS" "$1" --python "on_cuda.py::$2" --like gemm/nn --device "$3" --seed 1 "${@:4}"; }
small=(--batch 1 --seq 2 --dim n=3 --dim k=4)
large=(--batch 1 --seq 8 --dim n=128 --dim k=128)
few=(--launches 1 --iterations 3 --format csv)
rows() { sed -nE 's/^.*"?(gemm\/[^"]*\/(warm|cold|rotate))"?,.*(OK|WRONG|FAILED|UNSUPPORTED).*/\3 \1/p' | grep -v cublas | sort -u; }
messages() {
  quiet history show latest
  grep -oE '"message":[[:space:]]*"([^"\\]|\\.)*"' "$WORK.log/out" | grep -v cuBLAS | sed -E 's/"message":[[:space:]]*//' |
    sort -u
}

say "Verified"
python_on verify writes,returns,wrong,raises cuda --test-shapes --batch 1 --seq 1 --dim n=1 --dim k=1 2>&1 |
  sed -E 's/ +error [0-9].*//; s/ +ValueError/ ValueError/; s/\.py:[0-9]+/.py:N/'

say "Measured beside the build's, in each state of the caches"
python_on run writes,returns cuda "${large[@]}" "${few[@]}" --cache warm,cold,rotate --variant writes,returns,cuda_tiled \
  gemm/nn 2>"$WORK.log/err" | rows
quiet history show latest
check "by the host's clock" grep -q CLOCK_MONOTONIC_RAW "$WORK.log/out"
check "and by the device's" grep -q cudaEvent "$WORK.log/out"

say "Swept, in each type"
python_on run speaks cuda --dtype fp32,bf16 --batch 1,2 --seq 2,3 --dim n=3 --dim k=4 "${few[@]}" 2>"$WORK.log/err" | rows

say "On a second device"
CUDA_HOST=devices=2 python_on verify second cuda:1 "${small[@]}" | sed 's/ *error .*//'

say "Compared with another"
status=0
python_on compare writes cuda --baseline-python on_cuda.py::slow "${small[@]}" --budget 4s >"$WORK.log/out" 2>&1 || status=$?
[ $status -eq 0 ] || [ $status -eq 77 ] || cat "$WORK.log/out"
check "a verdict" test $status -eq 0 -o $status -eq 77
check "of the device" grep -q 'gemm/nn.*cuda' "$WORK.log/out"

say "Failures are rows"
python_on run turned,text,never cuda "${small[@]}" "${few[@]}" 2>"$WORK.log/err" | rows
messages
LIBCUDA_FAIL=cuCtxSynchronize:3:700 python_on run writes cuda "${small[@]}" "${few[@]}" 2>"$WORK.log/err" | rows
messages

say "Without a driver"
mkdir none
: >none/libcuda.so.1 # whatever the machine has: this is found first
LD_LIBRARY_PATH=none python_on run writes cuda "${small[@]}" "${few[@]}" 2>"$WORK.log/err" | rows
messages | sed -E 's/^"[^ ]*python[^ ]* /"PYTHON /; s/: none.*/: .../'

say "Refused"
python_on run writes cuda:graph "${small[@]}" "${few[@]}" 2>"$WORK.log/err" | rows
messages
t run --python on_cuda.py::writes --like gemm/nn --device cpu,cuda
t compare --python on_cuda.py::writes --baseline-python on_cuda.py::slow --like gemm/nn --device cuda,cpu
t run --python on_cuda.py::writes --like gemm/nn --device fake
t verify --python on_cuda.py::writes --like gemm/nn --device fake
t judge --python on_cuda.py::writes --like gemm/nn --device cuda
