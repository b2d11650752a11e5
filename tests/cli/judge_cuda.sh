# shellcheck shell=bash
# A judge of kernels for a GPU, on the host layer: known cheats are found, each for its reason, as
# the table of docs/judge-cuda.md says, with streams that lag as on a busy device; what is odd but
# honest is not refused, nor is a kernel of this tree, nor the template. U-02.
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
# Lines "NAME VERDICT [FAULT]".
verdicts() {
  sed -nE 's/^[a-z_/]+\/([a-z0-9_]+)\/[a-z0-9]+: (VALID|INVALID)(, ([a-z]+): .*)?$/\1 \2 \4/p' | sed 's/ $//'
}
quick=(--device cuda --rounds 1 --iterations 3 --other-shapes 1)
small=(--spec gemm/nt --dim 'batch=1,seq=5,n=24,k=32')
make_cuda cheats.so "$source/tests/judge/cuda_cheats.cu" &
make_cuda honest.so "$source/tests/judge/cuda_honest.cu"
wait

say "Known cheats"
judge_cheats() {
  CUDA_HOST=lag "$HARNESS" judge ./cheats.so "${small[@]}" "${quick[@]}" --against cuda_naive --timeout 30s "$@"
}
judge_cheats >cheats 2>err || echo "status $?"
! grep seccomp err || skip "the kernel has no seccomp"
cat err
# What is under way on another stream may be over before a busy machine has looked, and what the layer has
# enqueued stands still with the process: beside six busy processes 1 judgement in 13 finds nothing.
for _ in 1 2 3 4; do
  for name in $(verdicts <cheats | sed -n 's/ VALID$//p'); do
    judge_cheats --variant "$name" >again 2>/dev/null || true
    sed -i "s|^gemm/nt/$name/.*|$(grep -m 1 "^gemm/nt/$name/" again)|" cheats
  done
done
verdicts <cheats | sed 's/^\(few_bits_less INVALID\) \(precision\|wrong\)$/\1 precision or wrong/
  s/^\(work_for_the_next INVALID\) \(unwritten\|wrong\)$/\1 unwritten or wrong/' | tee found
check "none is valid" not grep -q ' VALID' found
check "they are 20 or more" test "$(wc -l <found)" -ge 20
# shellcheck disable=SC2016  # backquotes of Markdown
sed -nE 's/^\| `([a-z0-9_]+)`[^|]*\| ([a-z ]+) \| .* \|$/\1 INVALID \2/p' "$CLI/../../docs/judge-cuda.md" >documented
check "docs/judge-cuda.md tells of them, and why" diff documented found
grep 'bad_launch' cheats | grep -o 'launch(): .*'

say "Honest ones"
CUDA_HOST=lag "$HARNESS" judge ./honest.so "${small[@]}" "${quick[@]}" --against cuda_naive >honest || echo "status $?"
verdicts <honest

say "A kernel of this tree"
"$HARNESS" judge "${small[@]}" "${quick[@]}" --variant cuda_tiled --against cuda_naive >out 2>&1 || cat out
verdicts <out

say "From the template to a verdict"
quiet plugin new fast --cuda --like gemm/nt
make_cuda fast.so fast.cu
"$HARNESS" judge ./fast.so "${small[@]}" "${quick[@]}" --against cuda_naive --json >judged.json || echo "status $?"
json judged.json judgements 0 valid
json judged.json judgements 0 device
json judged.json judgements 0 beyond_reach 0 name
json judged.json judgements 0 shapes 0 references 0 variant
check "there are times of both" test "$(grep -cE '"ns":[[:space:]]*[1-9]' judged.json)" -eq 2

say "Not understood"
t judge ./fast.so "${small[@]}" --device cuda:graph
t judge ./fast.so "${small[@]}"
