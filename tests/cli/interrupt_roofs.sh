# shellcheck shell=bash
# Ctrl-C while the roofs are measured: it ends before they would, with what was measured kept, no roof
# of half a measurement, and no process left. U-04.
unset HARNESS_ROOFS # the whole roofs, which take seconds
export CLI_TEST_MARK=$$
gone() { not marked $$; }
small=(run gemm/linear/simd --batch 1 --seq 32 --dim n=192 --dim k=48 --device cpu:1 --launches 1 --iterations 5)
roofs_begun() { grep -q 'measuring the roofs' err; }

for signal in INT TERM; do
  expected=130
  [ $signal = INT ] || expected=143
  : >err
  "$HARNESS" "${small[@]}" >out 2>err &
  pid=$!
  check "SIG$signal: the roofs are begun" wait_for roofs_begun
  kill -$signal $pid
  status=0
  wait $pid || status=$?
  check "SIG$signal: its status" test $status = $expected
  check "SIG$signal: it says what became of the roofs" grep -q 'roofs were not measured to their end' err
  check "SIG$signal: nobody is left" wait_for gone
  check "SIG$signal: what was measured is shown" grep -q 'gemm/linear simd *OK' out
done
say "A profile is shown, too"
: >err
"$HARNESS" profile gemm/linear/simd --batch 1 --seq 32 --dim n=192 --dim k=48 --device cpu:1 --launches 1 --iterations 5 \
  --output profile >out 2>err &
pid=$!
check "the roofs are begun" wait_for roofs_begun
kill -INT $pid
status=0
wait $pid || status=$?
check "its status" test $status = 130
check "it is shown" grep -q 'By self time' out

"$HARNESS" history list --json >list.json
check "all three runs are kept" test "$(grep -c '"uuid"' list.json)" -eq 3
"$HARNESS" history show latest --json >run.json
check "no roof of half a measurement" grep -qE '"ceilings":[[:space:]]*\[\]' run.json
check "the history is sound" "$HARNESS" history verify
knock "SIGINT, SIGTERM while the roofs are measured" 2 2 "status 130, 143, the run kept, no roof, nobody left"
