# shellcheck shell=bash
# Operations of a profile are benchmarks of their own in the history: trend, compare, plot and report
# know them, ordinary runs are not mixed with them, and a slow-down planted in one operation is found
# there and nowhere else. S0-28, S4-31, S4-33, U-12.

forward=(gpt/nano/prefill --device cpu:1 --batch 4 --seq 64 --iterations 15)
profile() { quiet profile "${forward[@]}" -o profile "$@"; }

say "A series for each operation, of ordinary profiles alone"
small=(gpt/nano/prefill --device cpu:1 --batch 1 --seq 8 --iterations 3 --launches 1 -o profile)
for _ in $(seq 12); do quiet profile "${small[@]}"; done
quiet profile "${small[@]}" --plant head=100%
"$HARNESS" trend 'gpt/nano/prefill:head' --all --json -o trend.json
for found in quiet steps drifts; do
  json trend.json $found 0 key 2>/dev/null | cut -d/ -f1-3
  json trend.json $found 0 points 2>/dev/null
done
"$HARNESS" trend 'gpt/nano/prefill:*' --all --json -o trend.json
json trend.json family

# Both sides, until the machine was quiet enough to tell.
verdicts() {
  "$HARNESS" compare --baseline "label:$1" --head "label:$2" --delta 60% --all --json -o verdicts.json \
    >/dev/null 2>&1
  echo "$?" >status
  for i in $(seq 0 $(($(json_length verdicts.json rows) - 1))); do
    echo "$(json verdicts.json rows "$i" verdict) $(json verdicts.json rows "$i" key | cut -d/ -f1-3)"
  done >verdicts
}
for try in 1 2 3 4; do
  profile --launches 6 --label "before $try"
  profile --launches 6 --label "slower $try" --plant ln_f=400%
  verdicts "before $try" "slower $try"
  ! grep -q '^regressed' verdicts || break
done

say "What was made slower, and nothing else"
grep -E '^(regressed|improved|new|missing|broken)' verdicts
echo "exit status $(cat status), of $(grep -c . verdicts) rows"
"$HARNESS" history show "slower $try" >show.json
for i in $(seq 0 $(($(json_length show.json runs 0 measurements) - 1))); do
  if json show.json runs 0 measurements "$i" telemetry planted_percent >planted 2>/dev/null; then
    echo "$(json show.json runs 0 measurements "$i" key | cut -d/ -f1-3) $(cat planted)"
  fi
done | sort | uniq -c
json show.json runs 0 settings planted

say "An ordinary run is not mixed with profiles"
quiet run gpt/nano/prefill/simd --device cpu:1 --batch 4 --seq 64 --launches 3 --iterations 10 \
  --label "before $try"
verdicts "before $try" "slower $try"
cut -d' ' -f1 verdicts | sort | uniq -c
cat status
"$HARNESS" history show latest >show.json
json show.json runs 0 measurements 0 key | cut -d/ -f1-3

say "Figures and a report of operations"
if command -v gnuplot >/dev/null; then
  quiet plot "slower 1" -o plots --format svg
  check "figures were drawn" test "$(find plots -name '*.svg' | wc -l)" -gt 3
  check "with operations in them" grep -rq 'prefill:head' plots
fi
quiet report "slower 1" -o report.html
check "the report names them" grep -q 'gpt/nano/prefill:ln_f' report.html

say "Mistakes"
t profile gpt/nano/prefill --device cpu:1 --plant head
t profile gpt/nano/prefill --device cpu:1 --plant head=0%
t profile gpt/nano/prefill --device cpu:1 --plant head=much
t profile gpt/nano/prefill --device cpu:1 --batch 1 --seq 8 --launches 1 --no-store -o none \
  --plant tail=50% 2>&1 | sed -n 's/\(there are\): .*/\1 .../; /no operation/p'
