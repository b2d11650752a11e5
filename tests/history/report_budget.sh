#!/usr/bin/env bash
# CTest report.budget: the report of 100 runs of 92 benchmarks, each with noise of its own, all
# figures and numbers in it, is one file of 1.9 MB at most; it says what has no room, and it has some
# left: what must be in it takes 1.7 MB at most. Exit status 0, 1 or 77 (this build has no page).
#
#   tests/history/report_budget.sh HARNESS MAKE_HISTORY FOLDER
set -euo pipefail
harness=$1
make_history=$2
folder=$3
db=$folder/budget.db
report=$folder/budget.html

rm -f "$db" "$db-wal" "$db-shm" "$report"
"$make_history" "$db" 100 92
begin=$SECONDS
"$harness" report --db "$db" --baseline 60 -o "$report" >"$folder/budget.txt" 2>&1 || {
  cat "$folder/budget.txt"
  ! grep -q 'built without its page' "$folder/budget.txt" || exit 77
  exit 1
}
cat "$folder/budget.txt"
size=$(wc -c <"$report")
"$harness" report --db "$db" --baseline 60 --samples none -o "$report.least" >/dev/null
least=$(wc -c <"$report.least")
echo "$size bytes in $((SECONDS - begin)) s, $least without samples"
rm -f "$db" "$db-wal" "$db-shm" "$report.least"
[ "$size" -le 1900000 ]
[ "$least" -le 1700000 ]
grep -q 'runs are not in this file' "$folder/budget.txt"

# Runs of the table: all that the history has.
rows=$(sed -n 's/.*id="harness-table">\([^<]*\)<.*/\1/p' "$report" | base64 -d | gzip -d |
  sed 's/.*"benchmark":\[\([^]]*\)\].*/\1/' | tr ',' '\n' | grep -c .)
echo "$rows rows"
[ "$rows" -eq 9200 ]
