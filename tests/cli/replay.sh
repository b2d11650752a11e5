# shellcheck shell=bash
# Verdicts are recorded with what they rest on, and a rule can be held against old ones. U-12.

# Another rule's verdicts: words of the same length in the file, and nothing else.
forge() { LC_ALL=C sed "s/$2/$3/g" history.db >"$1" && "$SEAL_HISTORY" "$1"; }

export HARNESS_DB=history.db
fake seed=3 --launches 5
t history verdicts
t compare --replay
t baseline save main

say "Every comparison is recorded"
fake seed=3,slow=1.10,only=4 --launches 5 --label slow
status=0
"$HARNESS" compare --baseline main >text || status=$?
echo "exit status $status"
"$HARNESS" compare --baseline main '*/batch=4,*' --delta 20% --delta 'null/*/batch=4*=5%' --metric p50,gflops >text || true
"$HARNESS" compare --baseline main --no-record >text || true
t history verdicts
t history verdicts --limit 1
t history verdicts 1
t history verdicts 7
t history verdicts x

say "With what it rests on"
"$HARNESS" history verdicts 1 --json >one.json
"$HARNESS" history verdicts --json >list.json
echo "rows $(json_length one.json rows), the fourth $(json one.json rows 3 verdict)," \
  "launches $(json_length one.json rows 3 evidence base values)," \
  "the first $(json one.json rows 3 evidence base values 0) ns," \
  "kept result $(json one.json rows 3 result verdict)"
echo "list $(json_length list.json), floors of the second $(json_length list.json 0 settings floors)"

say "Decided again: nothing differs"
t compare --replay
t compare --replay all
t compare --replay 1 2
t compare --replay 2 --json -o replay.json
echo "verdicts $(json replay.json verdicts), differ $(json replay.json differ)," \
  "exit $(json replay.json exit_status), comparisons $(json_length replay.json comparisons)"

say "Broken, failing, missing and new ones, too"
fake seed=3 --launches 3 --batch 1,2,3 --label all-ok
"$HARNESS" run null/copy/right --device "$FAKE,crash=2" --seed 1 --launches 3 --iterations 20 \
  --batch 2,3,4 --label two-dies >/dev/null 2>&1
quiet_status() { "$HARNESS" "$@" >/dev/null 2>&1 || true; }
quiet_status compare --baseline all-ok --head two-dies
quiet_status compare --baseline two-dies --head all-ok
quiet_status compare --baseline two-dies --head two-dies
t history verdicts 3
t compare --replay
check "the history is sound" "$HARNESS" history verify

say "What differs is shown"
forge forged.db regressed undecided
t compare --replay --db forged.db
t compare --replay 2 --db forged.db
t compare --replay 1 --db forged.db --json -o replay.json
echo "differ $(json replay.json differ): $(json replay.json differences 0 key)" \
  "was $(json replay.json differences 0 was verdict)," \
  "is $(json replay.json differences 0 now verdict)"
cp history.db forged.db
change forged.db "UPDATE verdict SET verdict = 'fixed' WHERE verdict = 'broken'"
t compare --replay --db forged.db | sed '/ broken /!d'

say "What cannot be decided again is told"
forge forged.db '"design":"launches"' '"design":"hearsays"'
t compare --replay --db forged.db
forge forged.db '{"design":"' '["design":"'
t compare --replay 1 --db forged.db
t history verify --db forged.db | sed -E 's/[0-9]+ problems.*/PROBLEMS/'

forge forged.db '"interval":' '"interval";'
behind_class() { sed -E 's/column [0-9]+$/column N/'; } # whose name is as long as the machine has it
t history verdicts 1 --db forged.db | behind_class
t history verdicts 1 --json --db forged.db | behind_class
forge forged.db '"fdr":' '"fdr";'
t history verdicts --json --db forged.db
t history verdicts 2 --json --db forged.db

say "Mistakes"
t compare --replay --baseline main
t compare --replay 1 --delta 5%
t compare --replay --build
t compare --replay --suite ci
t compare --replay --label new
for given in --tuned '--explain-budget 1m' '--images .' '--image-base http://a/' '--comment-id x' \
  '--link-report http://a/' '--link-plots http://a/'; do
  # shellcheck disable=SC2086 # an option and its value
  t compare --replay $given
done
t compare --replay -- true --versus true
t compare --replay --runs 2 -- true --versus true
t compare --replay 9
t compare --replay yesterday
