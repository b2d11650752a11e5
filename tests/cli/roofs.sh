# shellcheck shell=bash
# A run whose roofs cannot be measured goes on without them, and says so; the command for roofs does not.
# The process that measures them is killed in place of taking too long. U-05, S0-11.

# without ARG...: the call, whose first child that measures is killed.
without() {
  local pid child status=0
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
