# shellcheck shell=bash
# What would be measured, without measuring it. U-07, U-10.
t run null/copy/right --device fake --dry-run
t run null/copy/right --device fake --batch 1,4 --seq 8 --dry-run --shard 2/2
t run null/copy/right --device fake --batch 4 --seq 8 --dry-run -o keys
cat keys
t run null/copy/right --device fake --dry-run --json
t run null/copy/right --device fake --dry-run --format csv
t run null/copy/rihgt --device fake --dry-run
# A whole key is a filter like others: what is left out beside it is not everything else.
key=null/copy/right/fp32/batch=77,seq=16/fake/warm
t run $key '!null/copy/inexact' --device fake --dry-run
t run '!null/copy' $key --device fake --dry-run
t run $key '!null/copy/right' --device fake --dry-run
t run $key '!null/copy/nosuch' --device fake --dry-run
# Devices are swept: a key for each, a launch of its own for each.
t run gemm/linear/simd --device cpu:1,fake --dry-run
t run null/copy/right --device fake,fake:base=3000,sd=0.1 --dry-run
t profile gpt/nano/prefill --device cpu:1,fake
# Each is measured once, in the order in which it is asked for.
key() { echo "null/copy/right/fp32/batch=$1,seq=8/fake/warm"; }
"$HARNESS" run "$(key 4)" "$(key 3)" "$(key 4)" --device fake --dry-run
# Choosing and dividing them takes computing in proportion to their number: of ten times as many a
# look at each beside each other takes a hundred times as much.
computing() {
  local TIMEFORMAT='%U'
  { time "$HARNESS" run null/copy/right --device fake --batch 1:10000:+1 --seq "$1" --shard 1/2 \
    --dry-run >chosen; } 2>&1
}
few=$(computing 8)
many=$(computing 8:80:+8)
check "ten times as many are chosen" test "$(wc -l <chosen)" -eq 50000
check "in less than 25 times the computing" \
  awk -v few="$few" -v many="$many" 'BEGIN { exit !(many < 25 * few) }'
check "suite ci has what it is said to have" test "$("$HARNESS" run --suite ci --dry-run | wc -l)" -eq 12
check "nothing was kept" not test -e .harness
fake seed=3 --batch 4 --seq 8 --launches 1
check "and it is what a run then measures" diff \
  <("$HARNESS" run null/copy/right --device fake --batch 4 --seq 8 --dry-run) \
  <("$HARNESS" history show --json | sed -n 's/^.*"key":[[:space:]]*"\([^"]*\)".*/\1/p' | sort -u)
