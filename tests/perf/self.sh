#!/usr/bin/env bash
# CTest perf.self: the build against itself on the real kernels of the suite ci. Nothing changed, so
# neither side may be called slower. Exit status 0 no alarm, 1 a false alarm, 77 cannot tell.
#
#   tests/perf/self.sh HARNESS FOLDER
#
# On all cores, as the gate measures, and on one, which a busy machine disturbs least. Both sides are
# measured in turn, in blocks whose order is left to chance: neighbours that come and go, even in a
# rhythm, meet both alike. (Whole runs in a fixed order A B B A are not enough: two runs of a side
# that follow each other share their neighbours, and would count as two.) A change must be beyond
# 10 % at a false-discovery rate of 0.5 %: fewer than one test in 100 gives any alarm, in either
# direction, even where the noise dwarfs the 10 %.
set -euo pipefail
harness=$1
folder=$2
db=$folder/self.db
mkdir -p "$folder"
rm -f "$db" "$db-wal" "$db-shm"
rule=(--delta 10% --fdr 0.5% --db "$db")

# in_turn DEVICE: at most 8 blocks of two launches a side, and no further one after 40 s. The exit
# status is that of the comparison, or of its reverse where only that one alarms: an improvement of
# one side is an alarm about the other.
in_turn() {
  local status=0 back=0
  "$harness" compare --baseline-bin "$harness" --head-bin "$harness" --suite ci --device "$1" \
    --label "$1" --blocks 8 --budget 40s --all "${rule[@]}" || status=$?
  "$harness" compare --baseline "label:$1 head" --head "label:$1 base" --all "${rule[@]}" \
    >"$folder/back.txt" 2>&1 || back=$?
  if [ $back -eq 1 ] || [ $back -eq 2 ]; then
    cat "$folder/back.txt"
    status=$back
  fi
  echo
  return $status
}

worst=0
for device in cpu cpu:1; do
  status=0
  in_turn $device || status=$?
  case $status in
    0) ;;
    77) [ $worst -ne 0 ] || worst=77 ;;
    *) worst=$status ;;
  esac
done
case $worst in
  0) echo "No alarm in either direction." ;;
  1) echo "A FALSE ALARM: nothing had changed." ;;
  77) echo "No alarm, but no proof either: too noisy now to exclude a change of 10 % anywhere." ;;
esac
exit $worst
