# shellcheck shell=bash
# What users of hyperfine, Google Benchmark and pytest-benchmark type first: each is told how that is
# asked for here. U-02, U-13.
unset HARNESS_DB

say "Programs in the place of a command"
t 'sleep 0.05'
t sleep 0.05
t -r 5 'sleep 0.1'
t ls
t diff
t nothing-of-that-kind

say "Options of hyperfine"
for option in -r --runs=5 -w -m -L --parameter-scan -p -S -N -n -i --export-json --export-csv; do
  t run "$option" 5 -- true
done
t compare --export-markdown a.md -- true --versus true

say "Of Google Benchmark and pytest-benchmark"
for option in --benchmark_filter=BM_ --benchmark_list_tests --benchmark_format=json --benchmark_repetitions=3 \
  --benchmark-json=a.json --benchmark-compare; do
  t run "$option"
done
check "keys are listed as the hint has it" grep -q / <("$HARNESS" run --dry-run)
quiet run null/copy/right --device "$FAKE" --launches 1 --iterations 2 --gbench-json -o gbench.json
check "Google Benchmark's file is written as the hint has it" json_length gbench.json benchmarks
rm -rf .harness

say "What stands behind -- is the program's"
t run --nope -- true --runs

say "Two sides without their options; a line in place of a program"
t compare old.json new.json
t compare main
t run -- 'sleep 0.01'

say "Each option that a hint names is there"
"$HARNESS" help run >helped
"$HARNESS" help compare >>helped
"$HARNESS" help export >>helped
grep -oE -- '"[^"]*"' "$CLI/../../harness/cli/foreign_options.c" | grep -v '^" ' |
  grep -oE -- '--[a-z]+(-[a-z]+)*' | sort -u >named
while read -r option; do
  check "$option is there" grep -qE -- "^ .*$option( |,|$)" helped
done < <(grep -v -- '^--versus$' named)
