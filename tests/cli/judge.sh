# shellcheck shell=bash
# A judge: known cheats are found, each for its reason, as the table of docs/judge.md says; odd but
# honest ones are not refused (kernels of this tree: judge_tree.sh); times are those of who was judged.
plugins=$JUDGE_PLUGINS
quick=(--rounds 1 --iterations 3 --other-shapes 1 --device cpu:1)
small=(--spec gemm/nt --dim 'batch=1,seq=33,n=40,k=48')
# Lines "NAME VERDICT [FAULT]".
verdicts() {
  sed -nE 's/^[a-z_/]+\/([a-z0-9_]+)\/[a-z0-9]+: (VALID|INVALID)(, ([a-z]+): .*)?$/\1 \2 \4/p' | sed 's/ $//'
}

# By its number a working folder's mark has the name that an earlier one's may have had.
mark=/dev/shm/had_its_way_$(stat -c %i .)
rm -f "$mark"

say "Known cheats"
# A second round for who waits for it.
"$HARNESS" judge "$plugins/cheats.so" "${small[@]}" --rounds 2 "${quick[@]:2}" --timeout 5s >cheats 2>err || echo "status $?"
! grep seccomp err || skip "the kernel has no seccomp"
echo "of who judges" >emptied
"$HARNESS" judge "$plugins/intruders.so" "${small[@]}" --rounds 2 "${quick[@]:2}" --timeout 5s >>cheats || echo "status $?"
"$HARNESS" judge "$plugins/interposer.so" "${small[@]}" "${quick[@]}" >>cheats || echo "status $?"
"$HARNESS" judge "$plugins/early_read.so" "${small[@]}" "${quick[@]}" >>cheats || echo "status $?"
# As it is loaded there is no variant yet that a verdict could name: the file is refused.
"$HARNESS" judge "$plugins/early_trace.so" "${small[@]}" "${quick[@]}" >early 2>err || echo "status $?"
cat early >>cheats
sed -n 's|.* loading it makes a system call that is forbidden here.*|gemm/nt/trace_early/fp32: INVALID, refused: so|p' err >>cheats
narrow=("$HARNESS" judge "$plugins/narrow.so" --spec gemm/nt "${quick[@]}")
"${narrow[@]}" --dtype bf16,fp16 --variant sums_in_bf16,x_of_6_bits,fp16_all_through \
  --dim batch=1,seq=33,n=40,k=24 >>cheats || echo "status $?"
# Sums of many terms, or what fp16 loses is too little to be seen beside the rounding of the result.
"${narrow[@]}" --dtype bf16 --variant sums_in_fp16 --dim batch=1,seq=9,n=24,k=640 >>cheats || echo "status $?"
# Which of the two it is depends on when a timer goes off, on what a thread has done by then, on how inputs
# are changed in the middle, or on the sizes that are drawn: sums of few terms have a small tolerance.
verdicts <cheats | sed 's/^\(wake_itself INVALID\) .*/\1 late or awake/
  s/^\(work_ahead INVALID\) .*/\1 wrong or stale/
  s/^\(work_for_the_next INVALID\) \(unwritten\|wrong\)$/\1 unwritten or wrong/
  s/^\(\(few_bits_less\|few_bits_later\|sums_in_bf16\|x_of_6_bits\|sums_in_fp16\|fp16_all_through\) INVALID\) \(precision\|wrong\)$/\1 precision or wrong/' |
  tee found
check "none is valid" not grep -q ' VALID' found
check "nobody had his way with the judge as it was loaded" test ! -e "$mark"
rm -f "$mark"
check "nobody has emptied a file" test -s emptied
check "they are 20 or more" test "$(wc -l <found)" -ge 20
# shellcheck disable=SC2016  # backquotes of Markdown
sed -nE 's/^\| `([a-z0-9_]+)`[^|]*\| ([a-z ]+) \| .* \|$/\1 INVALID \2/p' "$CLI/../../docs/judge.md" >documented
check "docs/judge.md tells of them, and why" diff documented found

say "OpenMP's threads are behind the filter, too"
# Of one processor there is no team before the guest is loaded.
of_a_team() {
  test "$(nproc)" -ge 2 || return 0
  "$HARNESS" judge "$plugins/intruders.so" --variant rights_of_a_team "${small[@]}" "${quick[@]:0:6}" --device cpu:2 >team
  grep -q 'INVALID, wrong' team
}
check "none of a team of two has other rights" of_a_team

say "What a plugin declares is no way out of what is asked for"
declared=("$HARNESS" judge "$plugins/cheats.so" --variant declare_tf32 "${small[@]}" "${quick[@]}")
"${declared[@]}" || echo "status $?"
"${declared[@]}" --json >declared.json || echo "status $?"
json declared.json judgements 0 reason
"${declared[@]}" --dtype tf32 >as_tf32 || echo "status $?"
head -n 1 as_tf32
check "it stands beside no fp32" not grep -qE 'times as fast as (simd|openblas)' as_tf32

say "Honest ones"
mkdir temporary
TMPDIR=$PWD/temporary "$HARNESS" judge "$plugins/honest.so" "${small[@]}" "${quick[@]}" >honest || echo "status $?"
check "what they wrote is gone with them" rmdir temporary
if grep -q 'UNSUPPORTED: there is no OpenBLAS' honest; then
  say "skipped: no OpenBLAS"
else
  check "a vendor's library is told" grep -q "A vendor's library is among them" honest
fi
verdicts <honest | grep -v '^vendor '
grep '/memfd:' honest
check "code without a file is told, and what that means" grep -q '^  (deleted): loaded from a file that has no such name' honest
"${narrow[@]}" --dtype bf16,fp16 --variant honest_bf16,honest_fp16,honest_slices \
  --dim batch=1,seq=33,n=40,k=24 >narrow || echo "status $?"
verdicts <narrow
check "their errors stand beside those of one rounding" grep -q '(one rounding gives 1\.[67][0-9]e-03)' narrow

say "OpenMP's places are the user's, and none of the judge's"
# In the sandbox no thread can be bound: libgomp would end the process with its first team of two.
of_a_place() {
  test "$(nproc)" -lt 2 || OMP_PLACES='{0,1}' "$HARNESS" judge "${small[@]}" --variant simd --rounds 1 \
    --iterations 3 --other-shapes 1 --device cpu:2 >placed
}
check "a variant of two threads is valid within a place of two processors" of_a_place

say "A setting of its parameters"
"$HARNESS" judge "$plugins/honest.so" "${small[@]}" "${quick[@]}" --variant rows_at_a_time --param rows=4 >of_plugin ||
  echo "status $?"
head -n 1 of_plugin
"$HARNESS" judge --spec gemm/nn --variant simd:depth=64 --param depth=64 --dim batch=1,seq=9,n=33,k=40 "${quick[@]}" >of_build ||
  echo "status $?"
head -n 1 of_build
check "beside the variant as it is" grep -qE 'times as fast as simd[ ,]' of_build

say "The settings that are kept"
kept=("$HARNESS" judge "$plugins/honest.so" "${small[@]}" "${quick[@]}" --variant rows_at_a_time --tuned)
"${kept[@]}" 2>&1 | sed 's/no history .*, so/no history FILE, so/'
"$HARNESS" tune "$plugins/honest.so" "${small[@]:2}" --device cpu:1 --variant rows_at_a_time --param rows=2,4 --rounds 2 \
  >/dev/null 2>err || [ $? -eq 77 ] || cat err
"${kept[@]}" >out 2>err || echo "status $?"
sed -E 's/rows=[24]/rows=N/; s/[0-9]{4}-..-../DAY/; s/, not decided//' err
head -n 2 out | sed -E 's/rows=[24]/rows=N/'
"${kept[@]}" --json >kept.json 2>/dev/null || echo "status $?"
check "it is that of the table" grep -q "  with $(json kept.json judgements 0 setting)," out
json kept.json judgements 0 tuned
"${kept[@]}" --dim n=41 2>&1 | sed -n 's/^harness: //p'
t judge --spec gemm/nt --variant simd --tuned --param depth=64
t judge --python mine.py::f --like gemm/nt --tuned

say "JSON"
"$HARNESS" judge "$plugins/honest.so" "${small[@]}" "${quick[@]}" --variant loops --against naive --json >judged.json
json judged.json judgements 0 valid
json judged.json judgements 0 shapes 0 references 0 variant
check "there are times of both" test "$(grep -cE '"ns":[[:space:]]*[1-9]' judged.json)" -eq 2
json judged.json exit_status

say "Intervals hold the time beside them: of the samples of one round, of three rounds, none of two"
for rounds in 1 2 3; do
  "$HARNESS" judge --spec pointwise/gelu --variant simd --dim batch=2,seq=9,width=48 --rounds "$rounds" \
    --iterations 8 --other-shapes 1 --device cpu:1 --against naive --json >rounds.json || echo "status $?"
  echo "$rounds: $(grep -c '"interval"' rounds.json) of times, $(grep -c '"ratio_interval"' rounds.json) of ratios"
done

say "A size that takes the textbook's loops too long"
"$HARNESS" judge --spec gemm/nt --variant simd --dim batch=1,seq=640,n=640,k=384 --rounds 1 --iterations 1 \
  --other-shapes 1 --device cpu:1 --json >large.json || echo "status $?"
json large.json judgements 0 valid
json large.json judgements 0 shapes 0 textbook_dims seq
check "their errors at a smaller one are its measure" \
  grep -qE '"textbook_rms_error":[[:space:]]*[1-9]' <(sed '/"references"/q' large.json)

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
