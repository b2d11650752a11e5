# shellcheck shell=bash
# Functions of PyTorch on a GPU, where there is one: tensors by annotation, by DLPack and, for a kernel of
# Triton, as harness has them; written into, returned, on a stream aside and in a graph of their own. On
# the host layer: cli.python_cuda. U-02, U-11.
"$HARNESS" list devices | grep -q '^  cuda  .* compute ' || skip "no GPU here, or a build without CUDA"
! "$HARNESS" list devices | grep -q 'CUDA host layer' || skip "the GPU is the host layer, which PyTorch does not know"
source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:[A-Z]*=//p' "$(dirname "$HARNESS")/CMakeCache.txt" 2>/dev/null)
[ -n "$source" ] || skip "not a build tree"
for python in python3 /usr/bin/python3; do
  "$python" -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null && break
  python=
done
[ -n "$python" ] || skip "no Python has a PyTorch with CUDA here"
export HARNESS_PYTHON=$python
cp "$source"/tests/fixtures/python/{torch_on_cuda,torch_named,triton_form}.py .
small=(--like gemm/nn --device cuda --batch 1 --seq 8 --dim n=64 --dim k=64)
# measured FILE FUNCTIONS OPTION...: the outcome of each.
measured() {
  "$HARNESS" run --python "$1::$2" "${small[@]}" --launches 1 --iterations 3 --seed 1 --format csv "${@:3}" \
    2>"$WORK.log/err" | sed -nE 's/^.*"?gemm\/nn\/([^/]*\/[^/]*)\/.*\/cuda\/([a-z]*)",.*(OK|WRONG|FAILED|UNSUPPORTED).*/\3 \1 \2/p' |
    grep -v ' cublas' | sort
}

say "Each way of tensors and results"
measured torch_on_cuda.py writes,returns,turned,aside,replays
measured torch_named.py writes,returns,out --dtype fp32,bf16,fp16

say "In each state of the caches"
measured torch_on_cuda.py writes,returns --cache warm,cold,rotate

say "By DLPack"
sed 's/a: torch.Tensor/a/; s/^import torch$/&\nharness_framework = torch.from_dlpack/' torch_on_cuda.py >by_dlpack.py
measured by_dlpack.py writes,returns --dtype fp32,bf16

say "What is wrong is found"
measured torch_on_cuda.py on_cpu
quiet history show latest
grep -o 'on_cpu returns a tensor on cpu, not on cuda:0' "$WORK.log/out" | sort -u

if "$python" -c 'import triton' 2>/dev/null; then
  sed 's/^    harness_framework = .*/    harness_framework = "raw"/' triton_form.py >triton_raw.py
  measured triton_form.py writes >form
  measured triton_raw.py writes >raw
  fact "a kernel of Triton takes tensors of PyTorch" grep -qx 'OK writes/fp32 warm' form
  fact "and harness's own" grep -qx 'OK writes/fp32 warm' raw
else
  echo "skipped: a kernel of Triton: $python has no Triton"
fi
