#!/usr/bin/env bash
# CTest report.many: a report of 16,384 benchmarks, of one run, of two and of two compared, takes a
# small multiple of what one of 2,048 takes: what goes over pairs of benchmarks would take 64 times as
# long. Exit status 0, 1 or 77 (this build has no page).
#
#   tests/history/report_many.sh HARNESS FOLDER
set -euo pipefail
harness=$1
folder=$2
few=2048
many=16384
times_most=20 # 8 of them are the size's

rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"

# results NR DAY: times that lie up to 10,000 times apart.
results() {
  awk -v nr="$1" -v day="$2" 'BEGIN {
    srand(day)
    printf "{\"context\":{\"date\":\"2026-01-0%dT00:00:00+00:00\",\"num_cpus\":2},\"benchmarks\":[", day
    for (i = 0; i < nr; i++)
      printf "%s{\"name\":\"k%d/batch:%d/n:%d\",\"run_type\":\"iteration\",\"iterations\":9,\"real_time\":%.3f,\"time_unit\":\"ns\"}",
        i ? "," : "", i / 16, i % 2 + 1, i % 16, exp(9 * (i * 7919 % nr) / nr) * (10 + rand())
    print "]}"
  }'
}
for nr in $few $many; do
  for day in 1 2; do
    results "$nr" $day >day.json
    "$harness" import day.json --db "$nr.db" >import.txt
  done
done

# seconds TRIES NR RUN...: processor time of a report of them, the least of so many.
TIMEFORMAT='%U %S'
seconds() {
  local tries=$1 nr=$2
  shift 2
  for _ in $(seq "$tries"); do
    { time "$harness" report "$@" --db "$nr.db" -o report.html >out.txt 2>&1 || echo failed >failed; } 2>&1
  done | awk '{ t = $1 + $2 } NR == 1 || t < least { least = t } END { print least }'
}

small_multiple() { awk -v s="$1" -v l="$2" -v most=$times_most 'BEGIN { exit !(l <= most * s) }'; }

failed=0
for runs in 2 '2 --baseline 1' '1 2'; do
  # shellcheck disable=SC2086  # words
  small=$(seconds 3 $few $runs)
  # shellcheck disable=SC2086
  large=$(seconds 1 $many $runs)
  # A time that a busy machine made longer is not taken for the program's: the least counts here, too.
  # shellcheck disable=SC2086
  small_multiple "$small" "$large" || large=$(seconds 2 $many $runs)
  if [ -e failed ]; then
    cat out.txt
    ! grep -q 'built without its page' out.txt || exit 77
    exit 1
  fi
  echo "report $runs: $(wc -c <report.html) bytes, $small s for $few benchmarks, $large s for $many"
  small_multiple "$small" "$large" || {
    echo "report $runs: more than $times_most times"
    failed=1
  }
done
rm -rf "$folder"
exit $failed
