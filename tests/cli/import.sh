# shellcheck shell=bash
# Results of other benchmark programs come into the history, once, and are compared, searched for
# steps and written out again. U-10, S0-10, S0-19, S2-08.

cp -r "$CLI/../fixtures/import" "$CLI/../fixtures/google-benchmark" .
find import -exec touch -d '2026-01-01 00:00:00Z' {} + # what has no date is of then

say "Known by their content"
for file in google-benchmark/test3_run0.json import/gbench_counters.json \
  import/gbench_aggregates.json import/nvbench_axes.json import/nvbench_bin.json import/criterion \
  import/cargo_criterion.jsonl import/criterion/Fibonacci_Iterative/new/sample.json \
  import/hyperfine_two.json import/hyperfine_parameters.json import/hyperfine_mean.json \
  import/pytest_four.json import/pytest_params.json import/pytest_bare.json \
  import/summary_models.json import/summary_comparison.json import/summary_list.json \
  import/kernels.json; do
  t import "$file"
done
t history list --limit 30

say "Once"
t import import/hyperfine_two.json
t import import/hyperfine_two.json --machine crate
t import import/hyperfine_two.json --date 2026-01-02
t import import/hyperfine_two.json --label other
t import import/hyperfine_two.json import/hyperfine_two.json --label other
t import import/hyperfine_two.json import/hyperfine_mean.json --label other
t import import/hyperfine_two.json import/hyperfine_two.json import/hyperfine_mean.json --label two
echo "from standard input"
"$HARNESS" import - --label piped --date 2026-01-02 <import/hyperfine_two.json

say "Equal files of one call are launches, and one that is named twice is one"
echo 'test sort ... bench:          20 ns/iter (+/- 1)' | tee count-1.txt count-2.txt >count-3.txt
t import count-*.txt ./count-1.txt --date 2026-01-03 --db counts.db
t import count-*.txt --date 2026-01-03 --db counts.db

say "What is said of a file goes over what it says"
t import import/pytest_params.json --label said --commit ABCDEF0123456 --branch topic \
  --date '2026-05-06T07:08:09+02:00' --machine ci-large --project lib
"$HARNESS" history show said >said.json
for key in commit branch; do echo "$key: $(json said.json runs 0 build $key)"; done
echo "class: $(json said.json runs 0 machine class_name), at $(json said.json runs 0 started_ms) ms"
echo "key: $(json said.json runs 0 measurements 0 key)"
echo "tool: $(json said.json runs 0 settings import tool), file" \
  "$(json said.json runs 0 settings import files 0 name)"

say "Refused before anything is written"
before=$("$HARNESS" history list -n 1)
t import
t import none.json
t import import/hyperfine_two.json none.json
mkdir empty
t import empty
echo '{"results": [{"command": "x", "times": [1, true]}]}' >bad.json
t import bad.json
printf '{"benchmarks": [\n  { "name": "x" "real_time": 1 }\n]}\n' >bad.json
t import bad.json
t import said.json --label x
t import said.json import/hyperfine_two.json
t import import/hyperfine_two.json import/pytest_four.json
t import import/pytest_four.json import/pytest_params.json
t import import/hyperfine_two.json --format xml
t import import/hyperfine_two.json --format pytest
t import import/hyperfine_two.json --project 'a b'
t import import/hyperfine_two.json --machine a/b
t import import/hyperfine_two.json --branch ''
t import import/hyperfine_two.json --date yesterday
t import import/hyperfine_two.json --date 1969-07-20
t import import/hyperfine_two.json --label "$(printf 'x%.0s' $(seq 120))"
check "the history is as it was" test "$before" = "$("$HARNESS" history list -n 1)"

# gbench FILE NUMBER DATE FACTOR: three benchmarks of Google Benchmark, three repetitions each; the
# last one takes FACTOR times as long.
gbench() {
  awk -v n="$2" -v date="$3" -v factor="$4" '
  # Uniform in (-0.5, 0.5), the same in every awk (Park and Miller).
  function noise(seed, i) { for (i = 0; i < 9; i++) seed = seed * 16807 % 2147483647
    return seed / 2147483647 - 0.5 }
  BEGIN {
    printf "{\"context\":{\"date\":\"%s\",\"num_cpus\":8,\"library_build_type\":\"release\"},", date
    printf "\"benchmarks\":["
    split("BM_Parse/1024 BM_Hash/64 BM_Sort", name, " ")
    for (i = 1; i <= 3; i++)
      for (r = 0; r < 3; r++) {
        share = 1 + 0.006 * noise(n * 7919 + i * 104729) + 0.002 * noise(n * 31 + i * 7 + r + 1)
        printf "%s{\"name\":\"%s\",\"run_type\":\"iteration\",\"repetitions\":3," \
          "\"repetition_index\":%d,\"iterations\":1000,\"real_time\":%.6f,\"cpu_time\":%.6f," \
          "\"time_unit\":\"us\",\"bytes_per_second\":1e9}", (i + r > 1 ? "," : ""), name[i], r,
          10 * i * share * (i == 3 ? factor : 1), 10 * i
      }
    print "]}"
  }' >"$1"
}

say "What is to be said of two files is said once"
sed 's/17:44:46/17:45:46/' import/gbench_aggregates.json >again.json
t import import/gbench_aggregates.json again.json --label twice

say "Compared, five launches a side"
for i in 1 2 3 4 5; do
  gbench "main-$i.json" "$i" "2026-06-01T10:0$i:00Z" 1
  gbench "head-$i.json" "$((i + 10))" "2026-06-02T10:0$i:00Z" 1.2
done
t import main-*.json --label main --commit 1111111111 --branch main
t import head-*.json --label head --commit 2222222222 --branch topic
t compare --baseline main --head head
t compare --baseline main --head head BM_Parse
t compare --baseline main --head head --metric gbs --format markdown
check "the comment has them" grep -qF 'BM\_Sort' <("$HARNESS" compare --baseline main --head head \
  --format github)
check "and no command that could not work" not grep -q 'bisect' <("$HARNESS" compare --baseline main \
  --head head --format github)

say "A history with a step"
for i in $(seq 10 29); do
  gbench "night.json" "$i" "2026-07-$i" "$(test "$i" -lt 20 && echo 1 || echo 1.15)"
  quiet import night.json --branch main --commit "${i}abcdef0" --project nightly
done
t trend nightly

say "Of two machines that share a class, and of text"
for i in 1 2 3; do
  gbench "server-$i.json" "$i" 2026-08-01 1
  gbench "laptop-$i.json" "$i" 2026-08-02 0.7
  sed -i 's/"context": *{/&"host_name":"server","mhz_per_cpu":2000,/' "server-$i.json"
  sed -i 's/"context": *{/&"host_name":"laptop","mhz_per_cpu":5000,/' "laptop-$i.json"
done
quiet import server-*.json --label server
quiet import laptop-*.json --label laptop
"$HARNESS" compare --baseline server --head laptop --all | sed -n 1,4p
t import server-1.json laptop-2.json --label both
t import import/go_sorting.txt
echo '{"files":[{"name":"x"}]}' >unknown.json
t import unknown.json
echo 'no results here' >unknown.txt
t import unknown.txt
head -c 700 import/gbench_counters.json >cut.json
t import cut.json

say "Out and in again"
t export main --format gbench -o out/main.json
t import out/main.json --db again.db
"$HARNESS" export main --format csv | cut -d, -f5,6,17 | sort >first.csv
"$HARNESS" export latest --db again.db --format csv | cut -d, -f5,6,17 | sort >second.csv
check "all launches have their medians" cmp first.csv second.csv
cat second.csv
t export main -o out/records.json
t import out/records.json --db again.db
t import out/records.json --db again.db
t import out/records.json
check "records come back as they are" cmp <("$HARNESS" export main) \
  <("$HARNESS" export main --db again.db)
t import out/main.json out/records.json --db again.db

say "Drawn and shown"
t plot main --only latency-kernels -o plots --format svg
t history system main
if "$HARNESS" report main -o report.html >written 2>err || ! grep -q 'built without its page' err; then
  grep -q BM_Parse report.html || echo "the report does not have it"
fi

say "Only the least and the greatest time: kept, and no time is made of them"
echo '{"results":[{"command":"y","mean":1.5,"median":1.5,"min":1,"max":2},{"command":"x","min":1,"max":2}]}' >least.json
t import least.json --db least.db
"$HARNESS" history show 1 --db least.db >shown.json
fact "the least is kept" grep -q '"summary_min_ns":.1000000000' shown.json
fact "and no sample" grep -q '"samples_ns":.\[\]' shown.json

say "A summary of models: every number that it says is in the report"
t import import/summary_models.json --db models.db
t report --md --db models.db
