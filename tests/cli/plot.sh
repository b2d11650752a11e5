# shellcheck shell=bash
# Pictures of a small history, and the reasons of those that are absent. S1-05, S1-06, S0-21.

command -v gnuplot >/dev/null || skip "gnuplot is not installed"
fake seed=3,sd=0.02,launch=0.01 --launches 5
t baseline save main
fake seed=5,sd=0.02,launch=0.01,slow=1.1,only=2 --launches 5
t plot --baseline main --only latency-kernels,comparison,trend,roofline
t history list

check "they lie beside the history" test -d .harness/plots
for name in latency-kernels comparison trend; do
  check "$name.png is a picture" \
    test "$(head -c 4 ".harness/plots/$name.png" | tail -c 3)" = PNG
  check "$name.svg is one" grep -q '<svg' ".harness/plots/$name.svg"
  check "$name.gp can be run again" grep -q plot ".harness/plots/$name.gp"
  check "$name.json is data" json_length ".harness/plots/$name.json"
  check "the summary tells of $name" grep -q "^  $name (" .harness/plots/summary.txt
done
check "no picture of the roofline" test ! -e .harness/plots/roofline.png
sed -n '/^Absent/,$p' .harness/plots/summary.txt
json_length .harness/plots/plots.json plots

say "All figures, in the formats asked for"
"$HARNESS" plot --format pdf -o all >out || cat out
check "PDF alone" test -e all/trend.pdf -a ! -e all/trend.png
check "each figure is drawn or explained" \
  test "$(grep -cE '^  [a-z]' out)" -eq "$("$HARNESS" list figures | grep -c '^  ')"
check "what is not drawn has its reason" not grep -qE 'not drawn: *$' out

