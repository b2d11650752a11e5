# shellcheck shell=bash
# A judge: known cheats are found, each for its reason, as the table of docs/judge.md says; kernels
# of this tree and odd but honest ones are not refused; times are those of who was judged.
plugins=$JUDGE_PLUGINS
quick=(--rounds 1 --iterations 3 --other-shapes 1 --device cpu:1)
small=(--spec gemm/nt --dim 'batch=1,seq=33,n=40,k=48')
# Lines "NAME VERDICT [FAULT]".
verdicts() {
  sed -nE 's/^[a-z_/]+\/([a-z0-9_]+)\/[a-z0-9]+: (VALID|INVALID)(, ([a-z]+): .*)?$/\1 \2 \4/p' | sed 's/ $//'
}

say "Known cheats"
"$HARNESS" judge "$plugins/cheats.so" "${small[@]}" "${quick[@]}" --timeout 5s >cheats 2>err || echo "status $?"
! grep seccomp err || skip "the kernel has no seccomp"
"$HARNESS" judge "$plugins/interposer.so" "${small[@]}" "${quick[@]}" >>cheats || echo "status $?"
# Which of the two it is depends on when a timer goes off, on what a thread has done by then, or on the
# sizes that are drawn: sums of few terms have a small tolerance.
verdicts <cheats | sed 's/^\(wake_itself INVALID\) .*/\1 late or awake/
  s/^\(work_ahead INVALID\) .*/\1 wrong or stale/
  s/^\(few_bits_less INVALID\) \(precision\|wrong\)$/\1 precision or wrong/' | tee found
check "none is valid" not grep -q ' VALID' found
check "they are 20 or more" test "$(wc -l <found)" -ge 20
# shellcheck disable=SC2016  # backquotes of Markdown
sed -nE 's/^\| `([a-z0-9_]+)`[^|]*\| ([a-z ]+) \| .* \|$/\1 INVALID \2/p' "$CLI/../../docs/judge.md" >documented
check "docs/judge.md tells of them, and why" diff documented found

say "What a plugin declares is no way out of what is asked for"
declared=("$HARNESS" judge "$plugins/cheats.so" --variant declare_tf32 "${small[@]}" "${quick[@]}")
"${declared[@]}" || echo "status $?"
"${declared[@]}" --json >declared.json || echo "status $?"
json declared.json judgements 0 reason
"${declared[@]}" --dtype tf32 >as_tf32 || echo "status $?"
head -n 1 as_tf32
check "it stands beside no fp32" not grep -qE 'times as fast as (simd|openblas)' as_tf32

say "Honest ones"
"$HARNESS" judge "$plugins/honest.so" "${small[@]}" "${quick[@]}" >honest || echo "status $?"
if grep -q 'UNSUPPORTED: there is no OpenBLAS' honest; then
  say "skipped: no OpenBLAS"
else
  check "a vendor's library is told" grep -q "A vendor's library is among them" honest
fi
verdicts <honest | grep -v '^vendor '

say "Kernels of this tree"
# tree DIMS KERNEL...
tree() {
  local dims=$1 kernel
  shift
  for kernel in "$@"; do
    "$HARNESS" judge --spec "$kernel" --variant naive,simd --dim "$dims" "${quick[@]}" >out 2>&1 || echo "status $?"
    [ "$(verdicts <out | grep -c ' VALID')" -eq 2 ] || cat out
    echo "$kernel $(verdicts <out | tr '\n' ',')"
  done
}
tree batch=1,seq=9,n=33,k=40 gemm/linear gemm/linear_gelu gemm/linear_residual gemm/nt gemm/nn
tree batch=1,seq=19,heads=2,headdim=16 attention/causal attention/full attention/decode
tree batch=2,seq=9,width=48 layernorm/plain layernorm/residual pointwise/gelu pointwise/bias \
  pointwise/bias_gelu pointwise/residual
tree batch=2,seq=9,width=48,vocab=100 embedding/gpt

say "JSON"
"$HARNESS" judge "$plugins/honest.so" "${small[@]}" "${quick[@]}" --variant loops --against naive --json >judged.json
json judged.json judgements 0 valid
json judged.json judgements 0 shapes 0 references 0 variant
check "there are times of both" test "$(grep -cE '"ns":[[:space:]]*[1-9]' judged.json)" -eq 2
json judged.json exit_status

say "Without a word about them four more sizes are looked at"
"$HARNESS" judge --spec pointwise/gelu --variant simd --dim batch=2,seq=9,width=48 --rounds 1 --iterations 1 \
  --device cpu:1 --against naive >out || echo "status $?"
check "the one that is timed, and four" test "$(grep -c '^  batch=' out)" -eq 5
sizes() { grep -oE '^  batch=[^ ]*' "$1"; }
seed=$(sed -nE 's/^  sizes by lot: --seed ([0-9]+) .*/\1/p' out)
"$HARNESS" judge --spec pointwise/gelu --variant simd --dim batch=2,seq=9,width=48 --rounds 2 --iterations 1 \
  --device cpu:1 --against naive --seed "$seed" >again || echo "status $?"
check "the seed draws them again, and another one for the second round" \
  diff <(sizes out) <(sizes again | head -n 5)
check "which is one more" test "$(sizes again | wc -l)" -eq 6

say "Not understood"
t judge
t judge --variant naive
t judge --spec gemm/mm --variant naive
t judge --spec gemm/nt --variant naive --against nobody
t judge --spec gemm/nt --variant naive --against simd_bf16
t judge --spec gemm/nt --variant naive --dtype bf16
cp "$plugins/honest.so" .
t judge --spec gemm/nn ./honest.so
t judge --spec gemm/nt --variant naive --device fake
