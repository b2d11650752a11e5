#!/usr/bin/env bash
# CTest report.many: reports of 16,384 benchmarks, of one run, of two and of two compared, take 10 s of
# computing at most: what goes over pairs of benchmarks takes longer. Exit status 0, 1 or 77 (this
# build has no page).
#
#   tests/history/report_many.sh HARNESS FOLDER
set -euo pipefail
harness=$1
folder=$2
nr=16384
seconds=10

rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
export HARNESS_DB=$folder/history.db

# results DAY: times that lie up to 10,000 times apart.
results() {
  awk -v nr=$nr -v day="$1" 'BEGIN {
    srand(day)
    printf "{\"context\":{\"date\":\"2026-01-0%dT00:00:00+00:00\",\"num_cpus\":2},\"benchmarks\":[", day
    for (i = 0; i < nr; i++)
      printf "%s{\"name\":\"k%d/batch:%d/n:%d\",\"run_type\":\"iteration\",\"iterations\":9,\"real_time\":%.3f,\"time_unit\":\"ns\"}",
        i ? "," : "", i / 16, i % 2 + 1, i % 16, exp(9 * (i * 7919 % nr) / nr) * (10 + rand())
    print "]}"
  }'
}
for day in 1 2; do
  results $day >day-$day.json
  "$harness" import day-$day.json >import-$day.txt
done

failed=0
for runs in 2 '2 --baseline 1' '1 2'; do
  # shellcheck disable=SC2086  # words
  (ulimit -t $seconds && exec "$harness" report $runs -o report.html) >out.txt 2>&1 || {
    ! grep -q 'built without its page' out.txt || { cat out.txt; exit 77; }
    echo "report $runs: more than $seconds s for $nr benchmarks, or: $(tail -n 1 out.txt)"
    failed=1
    continue
  }
  echo "report $runs: $(wc -c <report.html) bytes"
  rm report.html
done
rm -rf "$folder"
exit $failed
