# shellcheck shell=bash
# ci/gpu.sh where no GPU is, and its stage verify where the kernels run on the CPU. S4-28.
script=$CLI/../../ci/gpu.sh

# No device, whatever this machine and build have.
none() { CUDA_VISIBLE_DEVICES='' CUDA_HOST=devices=0 "$script" "$@"; }
outcome() {
  local status=0
  "$@" >"$WORK.log/script" 2>&1 || status=$?
  echo "status $status, $(wc -l <"$WORK.log/script") lines"
}

say "No GPU"
outcome none --output out
check "it says so" grep -q '^gpu.sh: no GPU to run on: .' "$WORK.log/script"
check "it leaves nothing behind" not test -e out

say "Bad input"
outcome none measure sanitise
cat "$WORK.log/script"
outcome none --agian verify | sed 's|, .*||'

# A build with HARNESS_CUDA=HOST has a device; others have nothing to try.
host() { "$HARNESS" verify gemm --device cuda --record x.json 2>&1 | grep -q HARNESS_CUDA=HOST; }
trial() { "$script" --output trial --filter 'layernorm/plain/cuda_rows' --no-record "$@"; }
passes() {
  host || return 0
  trial verify >"$WORK.log/script" 2>&1 && grep -q '^verify-cuda-graph-.*even: .* 0 wrong' "$WORK.log/script" &&
    tar -tzf trial.tar.gz | grep -q '^trial/verify-cuda-graph-.*even'
}
resumes() {
  host || return 0
  trial verify >"$WORK.log/script" 2>&1 && grep -q '^done before' "$WORK.log/script"
}
# With a stand-in for CUPTI, that of the tests: all there, and records that find no room.
profiles() { # [STUB]
  local stubs
  host || return 0
  stubs=$(dirname "$HARNESS")/tests/cuda
  [ -e "$stubs/lib/libcuda.so.1" ] || return 0
  CUPTI_STUB=${1:-} HARNESS_CUPTI=$stubs/libcupti_stub.so CUDA_STUB_CONTEXT=1 \
    LD_LIBRARY_PATH=$stubs/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
    trial --again profile profile >"$WORK.log/script" 2>&1
}
loses() { host || return 0; not profiles ranges=5000 && grep -q '^NOT RIGHT: .*dropped' "$WORK.log/script"; }
refuses() {
  host || return 0
  not "$script" --output trial --filter 'layernorm/plain/cuda_rows' --again verify verify
}

say "On the host layer"
check "the stage verify passes" passes
check "a stage that is done is not done again" resumes
check "the stage profile passes, and prints counters" profiles
check "it says what was dropped" loses
check "the host layer's results go into no record" refuses
