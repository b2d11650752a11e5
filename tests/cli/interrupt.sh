# shellcheck shell=bash
# Ctrl-C: what is finished is kept, and the program says so.

# The sixth case never ends; the five before it are done then.
"$HARNESS" run null/copy/right --device "$FAKE,hang=3" --seed 2 --launches 2 --iterations 5 \
  >out 2>err &
pid=$!
check "five cases get finished" wait_for finished 1 5
kill -INT $pid
status=0
wait $pid || status=$?
cat out
sed 's/^/2> /' err
echo "[$status]"
interrupted() { [ "$status" = "$1" ] && "$HARNESS" history list | grep -qE "^ +$2 .* 5 OK, unfinished"; }
knock_if "SIGINT" "5 of 5 finished measurements kept, and it says so" interrupted 130 1
t history list
t history verify
check "an unfinished run is no REF of its own accord" \
  not "$HARNESS" compare --baseline latest --head 1
t compare --baseline 1 --head 1

say "SIGTERM is the same"
"$HARNESS" run null/copy/right --device "$FAKE,hang=3" --seed 2 --launches 1 --iterations 5 \
  >out 2>err &
pid=$!
check "five cases get finished" wait_for finished 2 5
kill -TERM $pid
status=0
wait $pid || status=$?
sed 's/^/2> /' err
echo "[$status]"
knock_if "SIGTERM" "5 of 5 finished measurements kept, and it says so" interrupted 143 2
