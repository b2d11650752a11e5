# shellcheck shell=bash
# A build with CUDA on a machine without a driver: one clear line, and the CPU part goes on.
export CUDA_HOST=no-driver # the host layer plays such a machine
"$HARNESS" list devices | grep -q 'there is no NVIDIA driver' || {
  echo "no CUDA in this build, or a driver on this machine"
  exit 77
}

# The versions are those of the toolkit.
toolkit() { sed -E 's/CUDA [0-9.]+ needs one.*/CUDA N needs one/'; }

say Lists go on
"$HARNESS" list devices | sed -E 's/CPU, .*/CPU/' | toolkit
check "kernels are listed" "$HARNESS" list kernels
check "variants are listed, those for CUDA too" grep -q cuda_naive <("$HARNESS" list variants)

say What needs the device does not start
t run gemm --device cuda | toolkit
t run gemm --device cuda:graph | toolkit
t roofline --device cuda:1 | toolkit
t verify gemm/nn/cuda_naive --device cuda --test-shapes | toolkit
echo '[1, 2]' >tokens.json
t model generate --model nano --tokens tokens.json --backend cuda_bf16 | toolkit
check "no history was made" test ! -e .harness

say What is no device says so first
t run gemm --device cuda:first
t verify gemm --device cuda:1,graphs

say The CPU goes on
quiet verify gemm/nn/naive --device cpu:1 --test-shapes
quiet run pointwise/bias/naive --device cpu:1 --batch 1 --seq 8 --dim width=8 --iterations 3 --launches 1
check "a run is kept" test -e .harness/history.db
