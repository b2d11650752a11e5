# shellcheck shell=bash
# A system clock that jumps by a day to and fro while measuring goes on: times, limits and budgets are
# none of its business, and the history stays in order. U-05, S0-12.

command -v cc >/dev/null || skip "no C compiler"
cc -O1 -shared -fPIC -o clock.so "$CLI/../fixtures/clock/clock_shim.c" -ldl
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0 CLOCK_JUMPS=1
jumping() { LD_PRELOAD=$PWD/clock.so "$HARNESS" "$@"; }
# Each process begins with the jump that its number says, so that a few may be alike by chance.
# dates: until there are two and one of them again.
dates() {
  : >dates
  for _ in $(seq 200); do
    LD_PRELOAD=$PWD/clock.so date +%F >>dates
    [ "$(sort -u dates | wc -l)" -gt 1 ] && [ -n "$(sort dates | uniq -d)" ] && return
  done
  false
}
check "the clock jumps" dates

say "Runs"
for i in 1 2 3 4 5 6; do
  jumping run null/copy/right --device "$FAKE,sd=0.004" --launches 3 --iterations 20 --label "run-$i" \
    >out 2>err || echo "run $i: exit status $?: $(cat err)"
done
check "none ends early, and no case times out" \
  test "$("$HARNESS" history list | grep -cE '  3  18 OK +run-[1-6]$')" -eq 6
t history verify
check "each finds its own launches" test "$(for i in 1 2 3 4 5 6; do
  "$HARNESS" history show "run-$i" | grep -c '"launch"'
done | sort -u)" = 18
times() {
  "$HARNESS" history show run-1 >show.json
  for i in $(seq 0 17); do json show.json runs 0 measurements "$i" samples_ns 0; done
}
check "times are those of the kernel" test "$(times | awk '$1 > 1900 && $1 < 2100' | wc -l)" -eq 18

say "A real kernel, and limits of time"
jumping run pointwise/gelu --batch 1 --seq 16 --launches 2 --max-time 0.2s --budget 10m --timeout 4m \
  --label real >out 2>err
check "all is measured" test "$("$HARNESS" history list | grep -cE ' real$')" -eq 1 -a \
  -z "$(grep -E 'FAILED|budget' out err)"
jumping compare --baseline label:run-1 --head label:run-2 --any-machine >compare.txt 2>&1
check "what is compared is the same" grep -qE '^run-1 .*: .* same|same' compare.txt
knock_checks "a system clock that jumps by a day while measuring" "times, limits and order are none of its business"
