# shellcheck shell=bash
# One offline file: its numbers are those of the run, its commands work, and nothing is left half
# written. S0-09, S0-11, S0-13, S0-26, S1-08, S1-14, S1-16, S1-18, S1-19, S1-31.

"$HARNESS" report -o /dev/null 2>err || true
if grep -q 'built without its page' err; then skip "this build has no page"; fi

# block FILE NAME: a data block of the report, unpacked, as NAME.json
block() {
  sed -n "s/.*id=\"harness-$2\">\([^<]*\)<.*/\1/p" "$1" >packed
  if [ "$2" = core ]; then cp packed "$2.json"; else base64 -d packed | gzip -d >"$2.json"; fi
}
# What is the same everywhere: the size and the build are not.
sized() { t "$@" | sed -E 's/: [0-9]+\.[0-9]+ MB$/: SIZE/'; }

say "Before there is a history"
t report

fake seed=3,sd=0.02,launch=0.01 --launches 5 --label before
quiet baseline save main
fake seed=5,sd=0.02,launch=0.01,slow=1.1,only=2 --launches 5 --label after

say "Beside the history"
sized report --baseline main
report=.harness/visualizations/report.html
check "it is a document" grep -q '^<!doctype html>' $report
check "it may ask nobody" grep -q "connect-src 'none'" $report
check "all places are filled" not grep -qE '\{\{(title|connect|data)\}\}' $report
check "no address of a script or style" not grep -qE '(src|href)="?(https?:)?//' $report
block $report core
block $report table
block $report figures
block $report samples
echo "mode $(json core.json mode), $(json_length core.json runs) runs, head $(json core.json head), base $(json core.json base)"
echo "$(json core.json comparison counts regressed) regressed of $(json_length core.json comparison rows)"
json core.json commands plot
json core.json commands compare | sed 's/ {key}//'
check "a figure or a reason for each preset" \
  test "$(json_length core.json figures)" -eq "$("$HARNESS" list figures | grep -c '^  ')"

say "Its numbers are those of the run"
quiet history show 2
cp "$WORK.log/out" run.json
"$HARNESS" run null/copy/right --device fake:base=2000,seed=9 --seed 1 --iterations 20 --launches 3 \
  --db other.db --format summary-json >summary.json 2>/dev/null
quiet report --db other.db -o other.html --samples none
block other.html core
block other.html table
for metric in p50:median p95:p95 mean:mean; do
  ns=$(json table.json columns ${metric%:*} 0)
  ms=$(json summary.json benchmarks 0 timing ${metric#*:})
  # Both have all the digits that a script's clock gives: five of them are compared.
  echo "${metric%:*}: $(awk -v a="$ns" -v b="$ms" 'BEGIN { print (sprintf("%.5g", a) == sprintf("%.5g", b * 1e6)) ? "equal" : a " and " b }')"
done
check "no samples where none are wanted" not grep -q 'id="harness-samples"' other.html

say "A file instead of the history"
quiet history show before
cp "$WORK.log/out" results.json
mkdir away
cd away || exit 1
sized report --from ../results.json -o from.html
check "it needs no history" test ! -e .harness
block from.html core
json core.json commands plot
cd ..
t report --from results.json before

say "As Markdown"
"$HARNESS" report before --md | grep -c '| OK |$'
"$HARNESS" report before --md -o table.md
for option in '--baseline before' '--delta 0.1' '--group-by label' '--preset own.json' '--runs 5' \
  '--samples none' '--budget 5000'; do
  # shellcheck disable=SC2086  # words of their own
  t report before --md $option
done
check "the table is in the file" grep -q '^| benchmark' table.md
# A profile comes behind it; alone it needs no history. Names from outside draw nothing.
printf '[{"operation":"mat|mul <b>","start_time":1,"end_time":1.02,"duration_ms":20,"gpu_time_ms":15},
{"operation":"soft\\u001b[31m*max*","start_time":1.02,"end_time":1.025,"duration_ms":5}]' >calls.json
"$HARNESS" report before --md --profile calls.json | tee both.md | sed -n '/^## /,$p'
check "runs come first" test "$(grep -n '^| benchmark' both.md | cut -d: -f1)" -lt \
  "$(grep -n '^## Where the time goes' both.md | cut -d: -f1)"
check "alone" diff <(sed -n '/^## /,$p' both.md) \
  <("$HARNESS" report --md --profile calls.json --db none.db)

say "Filters and the choice of samples"
quiet report --filter 'null/copy/right/fp32/batch=1,*' -o few.html
block few.html core
json_length core.json benchmarks
"$HARNESS" report --filter nosuch --filter '!null' --filter null/copy -o few.html 2>&1 >/dev/null | grep filter
"$HARNESS" plot --filter nosuch --only trend --format svg -o few 2>&1 >/dev/null | grep filter
t report --samples some -o x.html
sized report --budget 1000 -o small.html | grep -v 'Raw samples'

say "Its commands give the same again"
quiet report --baseline main --filter 'null/copy/*' --filter '!null/copy/right/fp32/batch=1,*' \
  --delta 0.2 --group-by label -o again.html
block again.html core
json core.json commands report
json core.json commands compare | sed 's/ {key}//'
json_length core.json benchmarks
json core.json commands report | sed 's/^harness//' >words
eval "quiet $(cat words) -o twice.html"
block again.html table
mv table.json first.json
block twice.html table
check "the same numbers" cmp first.json table.json

say "Where it cannot be written"
mkdir folder
t report -o folder
t report -o results.json/report.html
check "the file in the way is as it was" grep -q '"runs"' results.json
if [ "$(id -u)" -ne 0 ]; then
  mkdir locked && chmod a-w locked
  check "no file in a locked folder" not "$HARNESS" report -o locked/report.html
fi
echo before >kept.html
(
  ulimit -f 100 # blocks: the report has more
  trap '' XFSZ
  "$HARNESS" report -o kept.html >/dev/null 2>&1
) || echo "no room: status $?"
cat kept.html
check "and nothing is left beside it" test "$(find . -name '*.tmp' | wc -l)" -eq 0

say "A base that is one of the runs looked at is none, and the page says why"
quiet report 1 2 --baseline before -o several.html
block several.html core
json core.json no_base
