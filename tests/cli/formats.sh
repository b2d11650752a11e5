# shellcheck shell=bash
# Results for programs; what --json writes is a REF that can be compared with. S0-10, U-08.

run() {
  "$HARNESS" run null/copy/right --device "$FAKE" --seed 1 --launches 3 --iterations 4 --batch 1,2 \
    "$@" 2>/dev/null
}
say "All records"
run --json >all.json
check "--json is --format json to a file" test "$(run --format json -o x.json | wc -l)" -eq 1
echo "schema $(json all.json schema_version), $(json_length all.json runs 0 measurements) records," \
  "$(json all.json runs 0 measurements 0 key), $(json all.json runs 0 measurements 0 outcome)"
t compare --baseline ./all.json --head latest
t compare --baseline ./x.json --head ./all.json
t compare --baseline ./x.json --head ./all.json --db none.db | brief
t compare --baseline ./x.json --head ./all.json --db none.db --no-record | brief
"$HARNESS" compare --baseline ./x.json --head ./all.json --db none.db --format github >comment.md 2>err
check "and for a comment" grep -q '2 the same of 2' comment.md
check "no history is made for two files" test ! -e none.db
check "the history shows the same record" \
  cmp <("$HARNESS" history show 1) all.json

say "Google Benchmark"
run --gbench-json >gb.json
for key in name run_type repetitions iterations real_time time_unit; do
  echo "$key: $(json gb.json benchmarks 0 $key)"
done
echo "entries: $(json_length gb.json benchmarks), cpus: $(json gb.json context num_cpus)" |
  sed 's/cpus: [1-9][0-9]*/cpus: N/'

say "Summary"
run --format summary-json >sum.json
echo "p50 $(json sum.json benchmarks 1 timing median) $(json sum.json benchmarks 1 timing unit)," \
  "batch $(json sum.json benchmarks 1 config batch), n $(json sum.json benchmarks 1 timing n)"

say "CSV"
run --format csv | cut -d, -f 5-12,14- | sort

say "Standard output by any of its names gets the result alone, behind what is there"
for name in - /dev/stdout /dev/fd/1; do
  { echo before && run --json -o "$name"; } >named
  check "run -o $name" test "$(sed -n '1p;2p;$p' named | tr -d '\n')" = 'before{}'
  { echo before && "$HARNESS" baseline save any --file "$name" 2>err; } >named
  check "baseline save --file $name" test "$(wc -l <named)" -eq 2
  { echo before && "$HARNESS" report -o "$name" 2>err; } >named
  check "report -o $name" test "$(sed -n '1p;2p;$p' named | tr -d '\n')" = 'before<!doctype html></html>'
done
"$HARNESS" compare --json -o - --runs 2 -- true --versus true >named 2>err
check "compare -o - -- COMMAND" test "$(sed -n '1p;$p' named | tr -d '\n')" = '{}'

say "Nothing to compare with: an empty result takes the place of an earlier one"
quiet baseline save one --ref 1
for form in json junit codequality sarif markdown text; do
  "$HARNESS" compare --baseline ./x.json --head ./all.json --db none.db --format "$form" -o "left.$form" 2>err
  t compare --baseline one --head 1 --format "$form" -o "left.$form"
done
for key in base head exit_status 'notes 0'; do
  # shellcheck disable=SC2086  # words of their own
  echo "$key: $(json left.json $key)"
done
echo "$(json_length left.json rows) rows, $(json_length left.codequality) and $(json_length left.sarif runs 0 results) findings"
cat left.junit left.markdown left.text
"$HARNESS" compare --baseline one --head 1 --json 2>err | cmp - left.json && echo "the same on standard output"
