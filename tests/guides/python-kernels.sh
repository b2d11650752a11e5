# shellcheck shell=bash
# Around docs/guides/python-kernels.md. U-11.
not_run 'harness run *--device cuda*' 'a GPU, and a PyTorch that has CUDA; cli.python_cuda_torch'
before() {
  in_path
  began=$SECONDS
  local python
  for python in python3 /usr/bin/python3; do
    "$python" -c 'import numpy' 2>/dev/null || continue
    export HARNESS_PYTHON=$python
    return
  done
  skip "no Python has NumPy here"
}
after() {
  local took=$((SECONDS - began))
  echo "from the empty folder to the end: $took s"
  check "that is less than five minutes" test "$took" -lt 300
  check "both functions stand in the history" grep -qE '"matmul":[[:space:]]*"einsum"' <(harness history show 2)
  check "the cost of a call is in the history" grep -q empty_call_ns <(harness history show latest)
}
