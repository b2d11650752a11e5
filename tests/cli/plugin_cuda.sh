# shellcheck shell=bash
# A plugin for a GPU on the host layer: from an empty folder to a verdict, as a variant of a kernel of
# the harness and as one of its own, on the stream and in a graph, cold and with parameters; what
# launches elsewhere, or wrongly, is found. U-02, U-11.
"$HARNESS" list devices | grep -q 'CUDA host layer' || {
  echo "not a build with HARNESS_CUDA=HOST"
  exit 77
}
build=$(dirname "$HARNESS")
compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:[A-Z]*=//p' "$build/CMakeCache.txt")
# make_cuda OUT FILE: what nvcc does, for the host layer
make_cuda() {
  "$compiler" -std=c++20 -x c++ -Wall -Werror -O2 -shared -fPIC -DCUDA_HOST_LAYER=1 \
    -I "$source/tests/cuda_host/include" -I "$build/include" -o "$1" "$2"
}
steady() { sed -E -e 's/\.cu:[0-9]+/.cu:N/g' -e 's/ error [0-9].*//' -e 's/ +$//'; }
# The vendor's variants stand beside, as far as the machine has them: no cuBLAS for the host layer.
rows() { grep -v '/cublas/' | sed -nE 's/.*"?((mine|gemm)\/[^"]*\/(warm|cold|rotate))"?.*(OK|WRONG|FAILED|UNSUPPORTED).*/\4 \1/p;
  s/.*((mine|gemm)[^"]*,(warm|cold|rotate)).*(OK|WRONG|FAILED|UNSUPPORTED).*/\4 \1/p' | sort -u; }
messages() {
  quiet history show latest
  grep -oE '"message":[[:space:]]*"([^"\\]|\\.)*"' "$WORK.log/out" | grep -v cuBLAS | steady |
    sed -E 's/"message":[[:space:]]*//; s/[0-9]+ (ns|us|ms)/N/g' | sort -u
}
small=(--dim n=24 --dim k=8 --batch 1 --seq 4 --seed 1 --iterations 3 --format csv)

say "From an empty folder to a verdict"
quiet plugin new fast --cuda --like gemm/nn
make_cuda fast.so fast.cu
t list variants --plugin ./fast.so
verify() { "$HARNESS" verify --plugin "./$1.so" --seed 1 --device "$2" "${@:3}" | steady; }
verify fast cuda --batch 1 --seq 1 --test-shapes | tail -1
for label in before after; do
  "$HARNESS" run --plugin ./fast.so --device cuda "${small[@]}" --launches 2 --label $label 2>"$WORK.log/err" | rows
done
status=0
"$HARNESS" compare --baseline before --head after --no-record >"$WORK.log/out" 2>&1 || status=$?
check "a verdict" test $status -eq 0 -o $status -eq 1 -o $status -eq 77
check "of the same file" grep -q 'Plugin fast.so is the same file' "$WORK.log/out"

say "The lines of the guide, from an empty folder to a verdict"
# shellcheck source=tests/guides/host_layer.sh
. "$CLI/../guides/host_layer.sh"
host_layer "$HARNESS"
# shellcheck disable=SC2016  # backquotes of Markdown
sed -n '/^## On a GPU/,/^## Some/p' "$source/docs/guides/own-kernel.md" | sed -n '/^```sh/,/^```/p' |
  grep -v '^```' >lines
guide() {
  export PREFIX=$build
  mkdir -p guide/.git guide/first # a project, with a history of its own
  cd guide/first || return
  while IFS= read -r line <&3; do
    status=0
    eval "$line" >out 2>err </dev/null || status=$?
    echo "$status  $line"
    [ $status -eq 0 ] || cat out err
  done 3<../../lines
  # A version whose threads wait before they compute.
  sed -i 's/^    float sum = 0;/    for (int i = 0; i < 100000; i++)\
        asm volatile("");\
&/' fast.cu
  nvcc -shared -Xcompiler -fPIC -O3 -arch=native -I "$PREFIX/include" -o fast.so fast.cu
  harness run --plugin ./fast.so --device cuda --label after >out 2>err || cat out err
  status=0
  harness compare --baseline before --head after --no-record >out 2>&1 || status=$?
  echo "$status  harness compare: $(grep -o regressed out | head -n 1)"
}
began=$SECONDS
(guide)
check "that is less than five minutes" test $((SECONDS - began)) -lt 300
unset -f harness nvcc

say "In a graph, cold, with parameters"
"$HARNESS" run --plugin ./fast.so --device cuda:graph "${small[@]}" --cache warm,cold --param wide=8,16 \
  --launches 1 2>"$WORK.log/err" | rows

say "Copies take turns, each at its own place; each is checked"
# It notes where its output lies, and on demand leaves out all places but the first.
sed 's/^    cudaLaunchKernelEx(.*/    static void *first; if (!first) first = call->tensor[2].data;\
    if (FILE *f = fopen(getenv("PLACES"), "a")) { fprintf(f, "%p\\n", call->tensor[2].data); fclose(f); }\
    if (getenv("ONLY_FIRST") \&\& call->tensor[2].data != first) return;\
&/; s/^#include <cuda_runtime.h>/#include <cstdio>\n&/' fast.cu >turns.cu
make_cuda turns.so turns.cu
turns=(--dim n=128 --dim k=128 --batch 1 --seq 8 --seed 1 --iterations 40 --format csv --cache rotate --launches 1)
turn() { "$HARNESS" run --plugin ./turns.so --device "$1" "${turns[@]}" gemm/nn/fast 2>"$WORK.log/err" | rows; }
export PLACES=$WORK/places
turn cuda
# 29 of 72 KiB are twice the L2 of 1 MiB; and one more.
check "they are twice the L2" test "$(sort -u places | wc -l)" -eq 30
ONLY_FIRST=1 turn cuda
messages
turn cuda:graph
messages
unset PLACES

say "A kernel of its own"
quiet plugin new sum --cuda -o sum
make_cuda sum.so sum/sum.cu
"$HARNESS" run --plugin ./sum.so --device cuda --dim n=1000 --iterations 3 --launches 1 --format csv 2>"$WORK.log/err" | rows

say "What is on the CPU is not there, and that is said"
t run --plugin ./fast.so --dim n=24

say "Work elsewhere is found"
sed 's/(cudaStream_t)call->stream/nullptr/' fast.cu >default.cu
make_cuda default.so default.cu
"$HARNESS" run --plugin ./default.so --device cuda:graph "${small[@]}" --launches 1 2>"$WORK.log/err" | rows
messages
sed 's/^    cudaLaunchKernelEx(/    static cudaStream_t own; if (!own) cudaStreamCreate(\&own); config.stream = own;\
&/' fast.cu >aside.cu
make_cuda aside.so aside.cu
"$HARNESS" run --plugin ./aside.so --device cuda:graph "${small[@]}" --launches 1 2>"$WORK.log/err" | rows
messages

say "A launch that the device refuses"
sed 's/^    cudaLaunchKernelEx(/    config.blockDim = dim3(4096);\
&/' fast.cu >large.cu
make_cuda large.so large.cu
"$HARNESS" run --plugin ./large.so --device cuda "${small[@]}" --launches 1 2>"$WORK.log/err" | rows
messages
