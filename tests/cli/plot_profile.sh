# shellcheck shell=bash
# Figures and a report of a profile, without any history; the difference of two; what profile.json adds;
# what is wrong with the arguments. S3-03, S4-16, S4-17, S4-29, S4-30, S4-32.

command -v gnuplot >/dev/null || skip "gnuplot is not installed"
profiles=$CLI/../fixtures/profile
cp -r "$profiles/forward" "$profiles/forward-slower" .
t plot --profile forward
check "they lie beside the profile" test -e forward/plots/profile/flame.png
for name in bottlenecks time-split layer-rates flame timeline operations; do
  check "$name.png is a picture" test "$(head -c 4 "forward/plots/profile/$name.png" | tail -c 3)" = PNG
  check "$name.svg is one" grep -q '<svg' "forward/plots/profile/$name.svg"
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
answer() { grep -o '"headline":"[^"]*"' "$1" | head -1; }
answer report.html
quiet report --profile forward,forward-slower -o two.html
answer two.html

say "Commas are in names of folders, too"
cp -r forward batch=4,seq=64
quiet report --profile batch=4,seq=64 -o comma.html
check "one" test "$(answer comma.html)" = "$(answer report.html)"
quiet report --profile batch=4,seq=64,forward-slower -o commas.html
check "two" test "$(answer commas.html)" = "$(answer two.html)"

say "Tables without their trace: profile.json alone"
quiet profile --import forward/trace.json -o tables
rm tables/trace.json
t report --profile tables/profile.json -o tables.html | sed -E 's|: [0-9]+\.[0-9]+ MB$|: SIZE|'
check "the answer is that of the trace" test "$(answer tables.html)" = "$(answer report.html)"
check "a folder with it alone is the same" quiet report --profile tables -o tables2.html
check "and it says so too" test "$(answer tables2.html)" = "$(answer report.html)"
t plot --profile tables --format svg -o from-tables
t plot --profile tables,forward
echo '{"schema": 1, "columns": ["name", "self"], "rows": [["head", "long"]]}' >wrong.json
t plot --profile wrong.json

say "From which gap on a GPU waits"
t profile --import forward/trace.json --gap 1000000 -o gap | grep '^GPU 0'
t profile --import forward/trace.json -o gap | grep '^GPU 0'
t profile --gap 100 --diff forward forward-slower

say "Attention takes 60 % more than head in ten iterations of eleven; in one, head takes 80 times as long"
awk 'BEGIN {
  print "["; at = 0
  for (i = 0; i < 11; i++) {
    head = i == 7 ? 80000 : 1000
    form = "{\"ph\": \"X\", \"pid\": 1, \"tid\": 1, \"cat\": \"user_annotation\", \"name\": \"%s\", \"ts\": %d, \"dur\": %d}%s\n"
    printf form, "forward", at, 1600 + head, ","
    printf form, "attention", at, 1600, ","
    printf form, "head", at + 1600, head, i == 10 ? "" : ","
    at += 1600 + head
  }
  print "]" }' >once.json
quiet report --profile once.json -o once.html
answer once.html
quiet profile --import once.json -o once
check "the table goes by the usual iteration, too" grep -q '"by_self":\[{"operation":"attention"' <(tr -d ' \n\t' <once/profile.json)

say "A table of a thousand operations is whole"
awk 'BEGIN {
  print "["
  for (i = 0; i < 1000; i++)
    printf "{\"ph\": \"X\", \"pid\": 1, \"tid\": 1, \"name\": \"op %d\", \"ts\": %d, \"dur\": 5}%s\n",
      i, 10 * i, i == 999 ? "" : ","
  print "]" }' >many.json
quiet report --profile many.json -o many.html
check "all rows are in the page" test "$(grep -o '\["op [0-9]*",0,1,' many.html | sort -u | wc -l)" -eq 1000

say "What profile.json knows beside the trace: roofs"
cat >forward/profile.json <<'END'
{"schema_version": 1, "profile": "gpt/nano/prefill/simd/fp32/batch=4,seq=64/cpu-2t/warm", "launches": 3,
 "roofs": {"math": "fp32", "flops": 9e13, "bandwidth": {"DRAM": 1e10, "L3": 1e12}},
 "summary": {"cost": {"on": 60, "off": 1, "clock": 20}}}
END
quiet report --profile forward/trace.json -o roofs.html
answer roofs.html
t plot layer-rates --profile forward --format svg -o rates
grep -o '"FMA roof[^"]*"\|"bandwidth of [^"]*"' rates/layer-rates.json | sort -u
(cd forward && quiet report --profile trace.json -o ../inside.html)
check "the same from inside the folder" test "$(answer inside.html)" = "$(answer roofs.html)"

say "What is wrong with the arguments"
t plot --profile nowhere
t plot --profile forward,forward,forward
t plot flam --profile forward
t plot flame
echo '{"traceEvents": [{"ph": "X", "ts": "soon"}]}' >broken.json
t plot --profile broken.json
echo '{"schema_version": 1' >forward/profile.json
t plot --profile forward
