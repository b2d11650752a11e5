# shellcheck shell=bash
# kill -9 at any moment: a readable history with all that was finished, and no process left behind.

export CLI_TEST_MARK=$$
"$HARNESS" run null/copy/right --device "$FAKE,hang=3" --seed 2 --launches 2 --iterations 5 \
  >out 2>err &
pid=$!
check "five cases get finished" wait_for finished 1 5
check "reading goes on beside it" "$HARNESS" history verify
children() { marked "$CLI_TEST_MARK" | grep -v -e "^/proc/$$/" -e "^/proc/$BASHPID/"; }
measuring() { children | sed 's/environ$/cmdline/' | xargs grep -qsz '^internal-launch$'; }
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
for ((i = 0; i < kills; i++)); do
  "$HARNESS" run null/copy/right --device "$FAKE" --launches 100 --iterations 5 >out 2>err &
  pid=$!
  disown $pid
  sleep "0.$(printf %03d $((RANDOM % 400)))"
  kill -KILL $pid
  wait_for not measuring || break
  now=$(stored)
  [ "${now:-0}" -lt "$before" ] || held=$((held + 1))
  before=${now:-0}
done
check "each time the history is sound, and holds what it held" test $held -eq $kills
check "and more" test "$before" -gt 6
knock "kill -9 of \`harness run\`" $held $kills \
  "$before measurements kept, file sound, no process left (seed $seed)"
