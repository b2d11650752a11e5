#!/usr/bin/env bash
# RUNS runs of BENCHMARKS benchmarks in ten files become one history, and again: prints the rates.
# CTest history.merge_rate; docs/scale.md has 1,000 runs of 200. Exit status 1 if anything is lost or
# twice.
#
#   tests/history/merge_rate.sh HARNESS MAKE_HISTORY FOLDER RUNS BENCHMARKS
set -euo pipefail
harness=$1
make_history=$2
folder=$3
runs=$4
benchmarks=$5
files=10 samples=100
db=$folder/merged.db

# To who calls, and for the table of `ctest -L reliability`.
rates=${HARNESS_RATES:-/dev/null}
report() { tee -a "$rates"; }
: >"$rates"

rm -rf "$folder"
mkdir -p "$folder"
for ((i = 0; i < files; i++)); do
  "$make_history" "$folder/part$i.db" $((runs / files)) "$benchmarks" $samples 1 \
    $((i * runs / files))
done

timed() {
  local begin end
  begin=$(date +%s%N)
  "$harness" history merge --db "$db" "$folder"/part*.db >&2
  end=$(date +%s%N)
  awk "BEGIN { s = ($end - $begin) / 1e9; printf \"%.2f s, %.0f measurements/s\n\", s,
    $runs * $benchmarks / s }"
}

echo "merged: $runs runs of $benchmarks benchmarks from $files files, and the same files once more" | report
timed | report
timed | report
"$harness" history verify --db "$db" | tee "$folder/verify.txt"
grep -q ": $runs runs, $runs launches, $((runs * benchmarks)) measurements" "$folder/verify.txt"
rm -rf "$folder"
