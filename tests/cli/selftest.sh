# shellcheck shell=bash
# How often comparisons raise false alarms, and the changes they find: on the device with a scripted clock, where
# both are known. U-06, U-12.

# selftest ARG...: without the times of this machine.
selftest() {
  t selftest null/copy/right --iterations 20 --seed 7 "$@" |
    sed -E 's/(about) [0-9]+:[0-9]+/\1 T/; s/^(2> comparison .*), [0-9]+ % planted/\1, S % planted/'
}

say "The same against itself"
selftest --aa 2 --device "$FAKE"
t history list
t history show | sed 's/\. Newest runs: .*//' # with this build's commit

say "Without noise, what is beyond the floor is found and nothing else"
selftest --power --repeats 2 --device "$FAKE" | brief # too few to tell
check "planted runs are in no history" test "$("$HARNESS" history list | grep -c ' OK')" -eq 3
check "they are beside it" test "$("$HARNESS" history list --db .harness/selftest.db | grep -c ' OK')" -eq 16
quiet selftest null/copy/right --iterations 20 --aa 2 --power --repeats 6 --plant 2%,5% \
  --device "$FAKE" --json
cp "$WORK.log/out" both.json
json both.json schema_version
json both.json exit_status
json both.json tests 0 kind
json both.json tests 0 sizes 0 comparisons of
json both.json tests 1 kind
json both.json tests 1 carries
json both.json tests 1 answer
json both.json tests 1 sizes 1 found hits
json both.json tests 1 sizes 1 alarms hits

say "A gate below what can be planted, and one above all of it"
selftest --power --repeats 6 --plant 2% --device "$FAKE" --delta 1% | brief
selftest --power --repeats 1 --device "$FAKE" --delta 20% | brief

say "Sides in turn"
selftest --aa 2 --ab --device "$FAKE" | grep -v '^2> block'

say "A machine so noisy that it carries no gate of 3 %"
"$HARNESS" selftest null/copy/right --iterations 5 --seed 7 --launches 4 --aa 1 --power \
  --repeats 2 --device fake:base=2000,launch=0.2,draw=1 --json >noisy.json 2>/dev/null
echo "[$?]"
json noisy.json tests 1 carries
check "it says so" grep -q 'cannot carry a gate of 3 %' noisy.json

say "What cannot be measured is not counted"
selftest --aa 1 --batch 1,2 --device "$FAKE,crash=2" | brief
selftest --aa 1 --batch 2 --device "$FAKE,crash=2" | brief
selftest --power --repeats 1 --batch 2 --device "$FAKE,crash=2" | brief
"$HARNESS" selftest null/copy/right --batch 1,2 --iterations 5 --seed 7 --power --repeats 7 \
  --plant 5%,12% --delta 6% --device "$FAKE,crash=2" --json >some.json 2>/dev/null # learns which one it is
echo "[$?]"
json some.json tests 0 carries
json some.json tests 0 sizes 1 found of

say "What a comparison is warned of, until a test shows better"
mkdir warned
export HARNESS_DB=$PWD/warned/history.db
fake seed=3 --launches 3 --batch 1,3
quiet baseline save main
fake seed=3 --launches 3 --batch 1,3
# one MORE...: a self-test, of which its answer alone is shown
one() {
  "$HARNESS" selftest null/copy/right --iterations 5 --seed 7 "$@" 2>&1 |
    grep -oE '^(This machine (cannot carry|carries) a gate|Nobody can tell|error: .*)' || true
}
warned() {
  "$HARNESS" compare --baseline main >text || true
  grep -c 'The last self-test here: This machine cannot carry' text || true
}
warned
one --aa 1 --launches 4 --device fake:base=2000,launch=0.2,draw=1
warned
one --aa 1 --batch 2 --device "$FAKE,crash=2" # judges nothing
warned
one --power --repeats 1 --plant 5% --device "$FAKE" # too few to tell
warned
one --power --repeats 6 --plant 5% --device "$FAKE"
warned
unset HARNESS_DB

say "Bad input"
t selftest
t selftest --aa 0
t selftest --aa 2 --repeats 2
t selftest --aa 2 --budget 10s
t selftest null/copy/right --power --device "$FAKE" --db selftest.db
t selftest null/copy/right --power --device "$FAKE" --db ./.harness/selftest.db
ln -s selftest.db .harness/elsewhere.db
t selftest null/copy/right --power --device "$FAKE" --db .harness/elsewhere.db
t selftest --aa 2 --suite nothing
t selftest --aa 2 nothing/at/all --device "$FAKE"

say "Interrupted: what was compared until then is shown"
# cut_short ARG...: a test that would take long, what it prints goes to cut.out.
cut_short() {
  local status=0
  rm -f cut.err
  "$HARNESS" selftest null/copy/right --iterations 20 --seed 7 --aa 1000 --device "$FAKE" \
    --db cut.db "$@" >cut.out 2>cut.err &
  pid=$!
  check "it compares" wait_for grep -q 'comparison 4 of' cut.err
  kill -INT $pid
  wait $pid || status=$?
  echo "status $status"
}
cut_short
check "it says so" grep -q '^interrupted: the runs are kept, .* what was compared shows:' cut.err
check "with the rates" grep -q 'false alarms' cut.out

say "Interrupted, in JSON"
cut_short --json
echo "told: $(json cut.out exit_status), $(json_length cut.out tests) test"
