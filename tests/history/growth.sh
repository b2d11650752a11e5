#!/usr/bin/env bash
# A history of so many measurements, for each N: how quickly five more runs are written to it, how
# large it is, and how long a comparison, trends of one and of all series, and a list take. Prints a table and writes
# FOLDER/growth.csv. With KEEP=1 the histories stay in FOLDER, and are taken from there.
# CTest history.growth does 1,000 and 10,000 of them; docs/scale.md has more, made by
#
#   tests/history/growth.sh HARNESS MAKE_HISTORY FOLDER 1000 10000 100000 1000000
#
# A measurement has 100 samples; there are 200 benchmarks in 3 launches a run. Exit status 1 if a
# measurement takes more room in a long history than in a short one. 2,000 measurements written a
# second are asked for: that they are is said and not judged, for a busy machine may write fewer.
set -euo pipefail
harness=$1
make_history=$2
folder=$3
shift 3
benchmarks=200 launches=3 samples=100 more=5 wanted=2000
key='gemm/linear/simd/fp32/batch=1,seq=32,n=768,k=256/cpu-4t/warm'

mkdir -p "$folder"
# To who calls, and for the table of `ctest -L reliability`.
rates=${HARNESS_RATES:-/dev/null}
report() { tee -a "$rates"; }
: >"$rates"

seconds() { # of a command; its words go to FOLDER/last.txt
  local begin end
  begin=$(date +%s%N)
  "$@" >"$folder/last.txt" 2>&1 || {
    local status=$?
    [ "$status" -eq 1 ] || [ "$status" -eq 77 ] || { cat "$folder/last.txt"; return "$status"; }
  }
  end=$(date +%s%N)
  awk "BEGIN { printf \"%.3f\", ($end - $begin) / 1e9 }"
}

echo "measurements,write_per_second,bytes_per_measurement,compare_s,trend_s,trends_s,list_s" >"$folder/growth.csv"
printf '%12s %10s %10s %10s %10s %10s %10s\n' measurements write/s bytes/each 'compare s' 'trend s' \
  'trends s' 'list s' | report
for n in "$@"; do
  runs=$(((n + benchmarks * launches - 1) / (benchmarks * launches)))
  kept=$folder/history-$n.db
  db=$folder/history.db
  rm -f "$db" "$db-wal" "$db-shm"
  [ -n "${KEEP:-}" ] || rm -f "$kept"
  [ -e "$kept" ] || "$make_history" "$kept" $runs $benchmarks $samples $launches
  cp "$kept" "$db"
  written=$(seconds "$make_history" "$db" $more $benchmarks $samples $launches $runs)
  runs=$((runs + more))
  made=$((runs * benchmarks * launches))
  size=$(stat -c %s "$db")
  "$harness" history list --db "$db" --limit 1 >/dev/null # the pages are in memory from here on
  compare=$(seconds "$harness" compare --db "$db" --baseline run:1 --head run:$runs --no-record)
  trend=$(seconds "$harness" trend --db "$db" --alone "$key")
  trends=$(seconds "$harness" trend --db "$db")
  list=$(seconds "$harness" history list --db "$db")
  [ -n "${KEEP:-}" ] || rm -f "$kept"
  awk "BEGIN { printf \"%d,%.0f,%.0f,%s,%s,%s,%s\n\", $made,
    $more * $benchmarks * $launches / $written, $size / $made,
    \"$compare\", \"$trend\", \"$trends\", \"$list\" }" | tee -a "$folder/growth.csv" |
    awk -F, '{ printf "%12s %10s %10s %10s %10s %10s %10s\n", $1, $2, $3, $4, $5, $6, $7 }' | report
done
rm -f "$db" "$db-wal" "$db-shm"
awk -F, -v wanted=$wanted 'NR > 1 && (!least || $2 < least) { least = $2 }
  END { printf "at least %d written a second; %d are asked for: %s\n", least, wanted,
    (least >= wanted ? "held" : "not held, by this machine as it is now") }' "$folder/growth.csv" | report
awk -F, 'NR == 2 { first = $3 } END { exit !($3 <= 1.1 * first) }' "$folder/growth.csv" || {
  echo "a measurement takes more room in a long history than in a short one" >&2
  exit 1
}
