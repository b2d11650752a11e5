# shellcheck shell=bash
# Runs for other programs: the forms, and what each has room for. U-10, S0-10.

fake seed=3 --launches 3 --label before --batch 1,2
fake seed=4,slow=1.2 --launches 3 --label before --batch 1,2

say "Records"
t export before -o all.json
echo "schema $(json all.json schema_version), $(json_length all.json runs) runs"
check "as the history shows them" cmp all.json <("$HARNESS" history show before)
check "standard output is the same" cmp all.json <("$HARNESS" export before)
check "a file is a REF, and needs no history" cmp all.json \
  <("$HARNESS" export ./all.json --db none.db)

say "Others have room for one run"
t export before --format gbench -o gb.json
echo "entries: $(json_length gb.json benchmarks)"
t export before --format summary-json -o sum.json
echo "benchmarks: $(json_length sum.json benchmarks)"

say "CSV"
"$HARNESS" export before --format csv | cut -d, -f 5-12,14-

say "OpenMetrics"
# Cores and caches have no place in it, but the roofs of a machine do.
"$HARNESS" export 2 --format openmetrics |
  sed -E '/harness_roof_ratio/d; s/ [0-9]{10}\.[0-9]{3}$/ WHEN/; s/(version=")[^"]*/\1V/
    s/(start_time_seconds.*\}) .*/\1 WHEN WHEN/
    s/,(commit|branch)="[^"]*"//g; s/,dirty="true"//'

say "Mistakes"
t export none | sed -E 's/(is "none")[.;] .*/\1 .../'
t export 1 --format xml
t export 1 2
t export ./none.json
t export 1 --db none.db
