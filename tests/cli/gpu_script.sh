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
  trial verify >"$WORK.log/script" 2>&1 && grep -q '^verify-cuda-graph-.*even: .* 0 wrong' "$WORK.log/script"
}
resumes() {
  host || return 0
  trial verify >"$WORK.log/script" 2>&1 && grep -q '^done before' "$WORK.log/script"
}
refuses() {
  host || return 0
  not "$script" --output trial --filter 'layernorm/plain/cuda_rows' --again verify verify
}

say "On the host layer"
check "the stage verify passes" passes
check "a stage that is done is not done again" resumes
check "the host layer's results go into no record" refuses
