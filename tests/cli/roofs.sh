# shellcheck shell=bash
# A run whose roofs cannot be measured goes on without them, and says so; the command for roofs does not.
# The process that measures them is killed in place of taking too long. U-05, S0-11.

export HARNESS_ROOFS=full # so that it takes long enough to be met

# without ARG...: the call, whose first child that measures is killed.
without() {
  local pid child status=0
  : >err # what the call before has said is not this one's
  "$HARNESS" "$@" >out 2>err &
  pid=$!
  wait_for grep -q 'measuring the roofs' err || true
  of_call() { child=$(grep -lsx "PPid:[[:space:]]*$pid" /proc/[0-9]*/status | head -1 | tr -dc 0-9) && [ "$child" ]; }
  wait_for of_call || true
  kill -KILL "$child"
  wait $pid || status=$?
  echo "harness $* [$status]"
}

say "A run"
without run pointwise/gelu/naive --device cpu:1 --batch 1 --seq 8 --dim width=64 --launches 1 --iterations 5
grep -o 'it goes on without roofs.*' err
check "it is measured" grep -q ' 1 OK$' <("$HARNESS" history list)
check "shares of a roof are absent" not grep -qi 'roof' out
"$HARNESS" export latest >run.json
check "in JSON, too" test "$(json_length run.json ceilings)" = 0

say "The roofs themselves"
without roofline --device cpu:1
grep '^harness: ' err

say "Where nothing is timed, nobody waits for roofs"
refused() {
  local status=0
  "$HARNESS" "$@" --device cpu:1 --batch 1 --launches 1 --db fresh.db >out 2>err || status=$?
  cat out err | grep -oE 'iterations of [0-9]+ scopes each are more than|seq is beyond the block size [0-9]+ of nano' | head -1
  check "[$status], without any" not grep -q 'measuring the roofs' err
}
refused profile gpt/nano/prefill --seq 8 --iterations 100000 -o none
refused run gpt/nano/prefill/simd --seq 1000
