# shellcheck shell=bash
# Several least times: a run of each, with its own setting; what one run cannot hold is refused.
run=(run null/copy/right --batch 1 --seq 8 --seed 1 --device "fake:base=2000,sd=0.1" --launches 1)
least_times() { sed -n 's/.*"min_time":[[:space:]]*\([0-9.]*\).*/\1/p' | sort -u | paste -sd' '; }

quiet "${run[@]}" --min-time 1ms,3ms
check "two runs" test "$("$HARNESS" history list --json | grep -c '"uuid"')" -eq 2
times=$("$HARNESS" "${run[@]}" --min-time 2ms,4ms --json 2>/dev/null | least_times)
check "each has its own" test "$times" = "0.002 0.004"
t "${run[@]}" --min-time 0
t "${run[@]}" --min-time 1ms,
t "${run[@]}" --min-time 1ms,2ms --shard 1/2
t "${run[@]}" --min-time 1ms,2ms --format csv
check "what is refused leaves nothing" test "$("$HARNESS" history list --json | grep -c '"uuid"')" -eq 4
