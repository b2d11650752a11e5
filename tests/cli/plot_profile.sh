# shellcheck shell=bash
# Figures and a report of a profile, without any history; the difference of two; what is wrong with
# the arguments. S3-03, S4-16, S4-29, S4-30.

command -v gnuplot >/dev/null || skip "gnuplot is not installed"
profiles=$CLI/../fixtures/profile
cp -r "$profiles/forward" "$profiles/forward-slower" .
t plot --profile forward
check "they lie beside the profile" test -e forward/plots/flame.png
for name in bottlenecks time-split layer-times flame timeline operations; do
  check "$name.png is a picture" test "$(head -c 4 "forward/plots/$name.png" | tail -c 3)" = PNG
  check "$name.svg is one" grep -q '<svg' "forward/plots/$name.svg"
done

say "Some of them, by name; of a file; of two"
t plot flame operations --profile forward/trace.json --format svg -o one
check "these alone" test "$(find one -name '*.svg' | wc -l)" -eq 2
t plot flame operations --profile forward,forward-slower --format svg -o two
check "the difference is another figure" not cmp -s one/flame.json two/flame.json
grep -A1 '^  flame (' two/summary.txt

say "A report, with the section and without a run"
t report --profile forward -o report.html | sed -E 's|: [0-9]+\.[0-9]+ MB$|: SIZE|'
check "it has the figures" test -s report.html

say "What is wrong with the arguments"
t plot --profile nowhere
t plot --profile forward,forward,forward
t plot flam --profile forward
t plot flame
echo '{"traceEvents": [{"ph": "X", "ts": "soon"}]}' >broken.json
t plot --profile broken.json
