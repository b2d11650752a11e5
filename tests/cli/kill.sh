# shellcheck shell=bash
# kill -9 at any moment: a readable history with all that was finished, and no process left behind.

export CLI_TEST_MARK=$$
"$HARNESS" run null/copy/right --device "$FAKE,hang=3" --seed 2 --launches 2 --iterations 5 \
  >out 2>err &
pid=$!
check "five cases get finished" wait_for finished 1 5
check "reading goes on beside it" "$HARNESS" history verify
measuring() { marked_with "$CLI_TEST_MARK" internal-launch; }
check "a child is measuring" measuring
disown $pid # or bash remarks on its end, at a moment of its own
kill -KILL $pid
check "the child goes with its parent" wait_for not measuring
t history list
t history verify

say "The next run is none the worse"
t run null/copy/right --device "$FAKE" --seed 1 --batch 1 --launches 1 --iterations 5
t history list

say "At random moments"
seed=$(random_seed)
RANDOM=$seed
kills=20 held=0 before=0
stored() { "$HARNESS" history verify | sed -nE 's/.* ([0-9]+) measurements.*/\1/p'; }
more() { [ "$(stored)" -gt 6 ]; } # than there were before
# As long as it takes here and now until something is measured, and a while.
started=$(date +%s%3N)
"$HARNESS" run null/copy/right --device "$FAKE" --launches 3 --iterations 5 --no-store >out 2>err
span=$(($(date +%s%3N) - started + 300))
for ((i = 0; i < kills; i++)); do
  "$HARNESS" run null/copy/right --device "$FAKE" --launches 100 --iterations 5 >out 2>err &
  pid=$!
  disown $pid
  delay=$((RANDOM % span))
  sleep "$((delay / 1000)).$(printf %03d $((delay % 1000)))"
  [ $i -lt $((kills - 1)) ] || wait_for more # on a busy machine all others may have come before
  kill -KILL $pid
  wait_for not measuring || break
  now=$(stored)
  [ "${now:-0}" -lt "$before" ] || held=$((held + 1))
  before=${now:-0}
done
check "each time the history is sound, and holds what it held" test $held -eq $kills
check "and more" more
knock "kill -9 of \`harness run\`" $held $kills \
  "$before measurements kept, file sound, no process left (seed $seed)"

say "While it times a program that starts others"
unset CLI_TEST_MARK
# Run after run, each of which leaves one behind; and one run without end.
programs=('sleep 1000 & exit 0' 'sleep 1000 & sleep 1000')
start() { # MARK PROGRAM
  CLI_TEST_MARK=$1 "$HARNESS" run --launches 100 --iterations 5 --name family -- sh -c "$2" \
    >out 2>err &
  pid=$!
  disown $pid
}
for i in 0 1; do
  start "$$.first$i" "${programs[i]}"
  check "it runs" wait_for marked_with "$$.first$i" 1000
  kill -KILL $pid
  check "and goes with harness, as do its children" wait_for not marked "$$.first$i"
done
seed=$(random_seed)
RANDOM=$seed
held=0
for ((i = 0; i < kills; i++)); do
  start "$$.$i" "${programs[i % 2]}"
  sleep "0.$(printf %03d $((RANDOM % 600)))"
  kill -KILL $pid
  wait_for not marked "$$.$i" || break
  held=$((held + 1))
done
check "at random moments, too" test $held -eq $kills
check "and the history is sound" "$HARNESS" history verify
knock "kill -9 of \`harness run -- PROGRAM\`" $held $kills \
  "neither the program is left, nor what it started (seed $seed)"
