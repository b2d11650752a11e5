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
"$HARNESS" plot --all --format pdf -o all >out || cat out
check "PDF alone" test -e all/history/trend.pdf -a ! -e all/history/trend.png
check "each figure is drawn or explained" \
  test "$(json_length all/plots.json plots)" = "$("$HARNESS" list figures | grep -c '^  ')"
check "reasons stand once" test -z "$(sed -n 's/^  not drawn, \([^:]*\):.*/\1/p' out | sort | uniq -d)"

say "The dozen that answer, by section, with a page that opens them"
"$HARNESS" plot --baseline main --format svg -o dozen >out || cat out
drawn=$(grep -cE '^  [a-z-]+  ' out)
check "a dozen, not forty" test "$drawn" -ge 8 -a "$drawn" -le 20
find dozen -mindepth 1 -maxdepth 1 -type d | sort
check "the page shows each of them" test "$(grep -c '<img ' dozen/index.html)" -eq "$drawn"
missing=$(sed -n 's/.*<img [^>]*src="\([^"]*\)".*/dozen\/\1/p' dozen/index.html | xargs ls 2>&1 >/dev/null)
check "as it lies there" test -z "$missing"
t plot --only runs-pareto

