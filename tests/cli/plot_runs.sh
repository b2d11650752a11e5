# shellcheck shell=bash
# What `harness plot` is given: nothing, runs, files, folders, histories; one run or several.
# S1-01, S1-02, S1-03, S1-04, S1-06, S1-07, S0-13, S0-30.

command -v gnuplot >/dev/null || skip "gnuplot is not installed"

say "Nothing is there"
t plot
t plot nowhere
t plot ./nowhere.json
mkdir empty
t plot empty

# Figures of each kind, which all have their data here.
FIGURES=latency-kernels,comparison,runs-latency,trend

fake seed=3,sd=0.02,launch=0.01 --launches 5 --label before
fake seed=5,sd=0.02,launch=0.01,slow=1.5 --launches 5 --label after

say "One run, and what is drawn of it"
t plot --only $FIGURES
t plot before --only latency-kernels
t plot 1 2 1 --only runs-latency,comparison

say "Two: side by side, and what changed"
t plot before after --only $FIGURES
check "the rows are named by what differs" grep -q '"before"' .harness/plots/runs-latency.json
check "what has no place is told" grep -q 'shows one run, .*: latency-kernels' .harness/plots/summary.txt
t plot before after --only runs-latency --group-by label
check "or by what was asked for" grep -q '"after"' .harness/plots/runs-latency.json
t plot before after --group-by labl

say "Files and folders"
mkdir -p records/deep
quiet history show before --json >/dev/null
"$HARNESS" history show before --json >records/one.json
"$HARNESS" history show after --json >records/deep/two
echo '{"runs":[{"measurements":[' >records/half.json
ln -s .. records/deep/up
t plot records/one.json --only $FIGURES
check "they lie beside the file" test -e records/plots/latency-kernels.png
rm -r records/plots
t plot records --only $FIGURES
check "they lie in the folder" test -e records/plots/comparison.png
t plot before records/one.json --only latency-kernels,runs-latency
t plot records/one.json --baseline after --only comparison

say "Another history"
mkdir -p elsewhere/.harness
cp .harness/history.db elsewhere/.harness/
t plot elsewhere --only latency-kernels
check "they lie beside it" test -e elsewhere/.harness/plots/latency-kernels.png
t plot elsewhere/.harness/history.db before after --only runs-latency
t plot elsewhere .harness/history.db
t plot elsewhere --db .harness/history.db

say "Without a history: the folder of an earlier step"
mkdir -p job/.git job/artifacts
cp records/one.json job/artifacts/
cd job || exit 1
t plot --only latency-kernels
cd .. || exit 1

say "Modes of the whole list"
count() { "$HARNESS" plot "$@" --all -o whole >/dev/null && json_length whole/plots.json plots; }
check "every figure is drawn or explained, of one run" \
  test "$(count before)" -eq "$("$HARNESS" list figures | grep -c '^  ')"
check "and of two" test "$(count before after)" -eq "$("$HARNESS" list figures | grep -c '^  ')"
check "every reason says something" not grep -qE '^  : ' whole/summary.txt
check "plots.json has each with its type" \
  test "$(grep -c '"type"' whole/plots.json)" -eq "$("$HARNESS" list figures | grep -c '^  ')"
