# shellcheck shell=bash
# What an older program made (tests/fixtures/older) is read: a history, a baseline, harness.json; what
# its runs were known for they are. A label is a word since then. U-05, U-06, S0-10.

older=$CLI/../fixtures/older
gzip -dc "$older/history.db.gz" >old.db

# export_all FOLDER: every run with raw samples, and figures of some as the older program wrote them.
export_all() {
  mkdir "$1"
  for run in 1 2 3 4 5 6 7 8 9 10; do "$HARNESS" export $run --db old.db -o "$1/$run.json"; done
  for name in plain forward profiled imported; do
    "$HARNESS" export $name --db old.db --format csv -o "$1/$name.csv"
    check "$1: the figures of $name are the same" cmp "$1/$name.csv" "$older/$name.csv"
  done
  "$HARNESS" compare --baseline kept --head slow --db old.db --no-record --json -o "$1/compare.json" ||
    echo "[$?]"
}

say "As it is"
list() { "$HARNESS" history list --db old.db; }
check "ten runs are listed" test "$(list | grep -c ' OK')" = 10
check "with what was written of one" sh -c "'$HARNESS' history list --db old.db | grep -q 'a new compiler'"
t history verify --db old.db
export_all before
for run in 1 2 3 4 5 6 7 8 9 10; do
  echo "run $run: $(json before/$run.json runs 0 kind)"
done
echo "shard $(json before/5.json runs 0 shard index) of $(json before/5.json runs 0 shard count) of" \
  "$(json before/5.json runs 0 shard sweep)"
echo "$(json before/6.json runs 0 ab side) and $(json before/7.json runs 0 ab side)"
check "of one session" test "$(json before/6.json runs 0 ab id)" = "$(json before/7.json runs 0 ab id)"
echo "tokens: $(json before/3.json runs 0 measurements 0 tokens)"
t compare --baseline "ab base" --head "ab head" --db old.db --no-record

say "Upgraded by the first writer"
quiet history annotate 1 "written to" --db old.db
export_all after
for file in before/*; do
  cmp "$file" "after/${file#*/}" || echo "NO: $file is the same afterwards"
done
check "ten runs are listed" test "$(list | grep -c ' OK')" = 10
check "kept is a baseline" sh -c "'$HARNESS' baseline list --db old.db | grep -q '^kept'"
check "the change is accepted" sh -c "'$HARNESS' baseline accepted --db old.db | grep -q 'meant to be'"
t history verify --db old.db

say "A baseline and a harness.json of it"
cp "$older/baseline.json" "$older/harness.json" .
t compare --baseline baseline.json --head plain --db old.db --no-record
"$HARNESS" plot --print-config >config.json
check "its figure is one of ours" grep -q '"mine"' config.json
quiet report --db old.db -o report.html
check "a report of it" grep -q '"model":"nano"' report.html

say "A report of it"
gzip -dc "$older/report.html.gz" >report.html
"$HARNESS" import report.html --db report.db
"$HARNESS" history list --db report.db | sed 's/  */ /g'
"$HARNESS" export 3 --db report.db -o gemm.json
check "a sample of five digits" test "$(json gemm.json runs 0 measurements 0 samples_ns 0)" = 48743
check "what was checked" test "$(json gemm.json runs 0 measurements 0 checked)" = 1
quiet import report.html --db report.db
check "imported again it is the same" test "$("$HARNESS" history list --db report.db | grep -c ' OK')" -eq 3
quiet report --db old.db -o ours.html
quiet import ours.html --db report.db
head -c 3000 report.html >cut.html
t import cut.html --db report.db | sed 's/column [0-9]*$/column N/' # the page says who wrote it

say "A label is a word"
fake seed=3 --launches 1 --label "selftest of mine" --db old.db
"$HARNESS" export latest --db old.db -o mine.json
echo "latest: $(json mine.json runs 0 label), $(json mine.json runs 0 kind)"
