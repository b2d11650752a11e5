# shellcheck shell=bash
# A history made smaller, words about a run, and what can still be read of a damaged file. U-11, U-05.

for i in 1 2 3 4 5; do fake "seed=$i,sd=0.05" --launches 2 --iterations 400 --label "run-$i"; done
db=.harness/history.db
change $db "UPDATE run SET started_ms = started_ms - (6 - id) * 30 * 86400000"
quiet baseline save good --ref 2
bytes() { sed -E 's/[0-9.]+ ([KMG]iB|B)/SIZE/g'; }

say "Annotate"
t history annotate 3 'the fan was broken'
t history annotate run-4 'new BIOS'
t history annotate 99 'what' | sed 's/\(is "99"\).*/\1 .../'
t history annotate 3 ''
t history annotate 3
t history list | sed -E 's/[0-9]{4}-[0-9-]+: /DAY: /'
"$HARNESS" history list --json >list.json
echo "in JSON: $(json list.json 2 annotations 0 text)"

say "Prune: what would go"
t history prune --samples-older-than 100d --keep-days 130 --dry-run | bytes
t history verify
say "Prune"
changes() { "$HARNESS" compare --baseline 2 --head 4 --no-record --json | grep '"change"'; }
before=$(changes)
t history prune --samples-older-than 40d --keep-days 130 | bytes
check "a comparison says the same of medians" test "$before" = "$(changes)"
t history verify
t history list | sed -E 's/[0-9]{4}-[0-9-]+: /DAY: /'
"$HARNESS" history show 3 >thin.json
echo "thinned: $(json thin.json runs 0 measurements 0 thinned)," \
  "samples: $(json_length thin.json runs 0 measurements 0 samples_ns)"
t history prune --vacuum | bytes
check "nothing is free now" grep -qE ' 0(\.0+)? B of it' \
  <("$HARNESS" history prune --keep-runs 100)
t history prune
t history prune --keep-runs 0
t history prune --keep-runs 3 --dry-run --vacuum
t history prune --keep-runs 3 --db none.db
check "no history was made" test ! -e none.db

say "Salvage"
for i in 6 7 8 9; do fake "seed=$i,sd=0.05" --launches 5 --iterations 400 --label "run-$i"; done
cp $db damaged.db
t history salvage damaged.db saved.db
check "nothing changed" cmp damaged.db $db
t history verify --db saved.db
head -c $(($(stat -c %s damaged.db) * 7 / 10)) damaged.db >short.db
"$HARNESS" history salvage short.db short-saved.db >out || echo "status $?"
grep -E 'shorter|wrote' out
check "some is lost" grep -qE 'measurement .* (lost|perhaps)' out
check "what is saved is sound" "$HARNESS" history verify --db short-saved.db
t history salvage short.db short-saved.db
t history salvage short.db
t history salvage none.db x.db
check "nothing is left lying about" test -z "$(find . -name '*.damaged*' -o -name '*.partial*')"
