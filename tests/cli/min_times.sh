# shellcheck shell=bash
# Least and most times: several least ones are a run of each, with its own setting; what one run cannot
# hold is refused. What the environment asks of Google Benchmark is for programs that are measured.
run=(run null/copy/right --batch 1 --seq 8 --seed 1 --device "fake:base=2000,sd=0.1" --launches 1)
setting() { sed -n 's/.*"'"$1"'":[[:space:]]*\([0-9.]*\).*/\1/p' | sort -u | paste -sd' '; }
least_times() { setting min_time; }

quiet "${run[@]}" --min-time 1ms,3ms
check "two runs" test "$("$HARNESS" history list --json | grep -c '"uuid"')" -eq 2
times=$("$HARNESS" "${run[@]}" --min-time 2ms,4ms --json 2>/dev/null | least_times)
check "each has its own" test "$times" = "0.002 0.004"
t "${run[@]}" --min-time 0
t "${run[@]}" --min-time 1ms,
t "${run[@]}" --min-time 1ms,2ms --shard 1/2
t "${run[@]}" --min-time 1ms,2ms --format csv
check "what is refused leaves nothing" test "$("$HARNESS" history list --json | grep -c '"uuid"')" -eq 4

say "The most time alone, and a least one beyond it"
"$HARNESS" "${run[@]}" --max-time 5ms --json >run.json 2>/dev/null
check "the suite's least time gives way" test "$(setting min_time <run.json):$(setting max_time <run.json)" = 0.005:0.005
t "${run[@]}" --max-time 5ms --min-time 1ms,100ms

say "Variables of Google Benchmark"
echo mine >mine.json
BENCHMARK_REPETITIONS=3 BENCHMARK_MIN_WARMUP_TIME=0.1 BENCHMARK_LIST_TESTS=1 BENCHMARK_OUT=mine.json BENCHMARK_OUT_FORMAT=xml V=2 \
  timeout 60 "$HARNESS" "${run[@]}" --iterations 20 --json >run.json 2>/dev/null
check "as many samples as asked for" test "$(json_length run.json runs 0 measurements 0 samples_ns)" = 20
check "its file stays as it was" test "$(cat mine.json)" = mine
# shellcheck disable=SC2016  # for the program that is measured
check "a program has them" env BENCHMARK_REPETITIONS=3 "$HARNESS" run --iterations 3 --launches 1 -- sh -c 'test "$BENCHMARK_REPETITIONS" = 3'
