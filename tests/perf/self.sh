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
# direction, even where the noise dwarfs the 10 %. That is too many for a test that is always to
# hold, so an alarm must come twice: the device is measured once more, and what counts is the same
# benchmark called slower on the same side, by chance fewer than once in 10,000. An alarm that does
# not come again is no proof of anything: 77. A side that crashes does so once.
set -euo pipefail
harness=$1
folder=$2
db=$folder/self.db
mkdir -p "$folder"
rm -f "$db" "$db-wal" "$db-shm"
rule=(--delta 10% --fdr 0.5% --db "$db")

# alarms BASE HEAD: a line for each benchmark that the second is called worse in: how, which, where.
alarms() {
  { "$harness" compare --baseline "label:$1" --head "label:$2" "${rule[@]}" --json || true; } |
    awk -v side="${2##* }" '$1 == "\"key\":" { key = $2 }
      $1 == "\"verdict\":" && /"(regressed|broken|failing)"/ { print $2, side, key }'
}

# in_turn LABEL DEVICE ALARMS: at most 8 blocks of two launches a side, and no further one after 40 s.
# The alarms of both directions go to a file: an improvement of one side is an alarm about the other.
# The exit status is that of the comparison, or of its reverse where only that one alarms.
in_turn() {
  local status=0 back=0
  "$harness" compare --baseline-bin "$harness" --head-bin "$harness" --suite ci --device "$2" \
    --label "$1" --blocks 8 --budget 40s --all "${rule[@]}" || status=$?
  "$harness" compare --baseline "label:$1 head" --head "label:$1 base" --all "${rule[@]}" \
    >"$folder/back.txt" 2>&1 || back=$?
  if [ $back -eq 1 ] || [ $back -eq 2 ]; then
    cat "$folder/back.txt"
    status=$back
  fi
  { alarms "$1 base" "$1 head" && alarms "$1 head" "$1 base"; } | LC_ALL=C sort -u >"$3"
  echo
  return $status
}

# by_chance ALARMS: may it be that nothing but luck is in them?
by_chance() { [ -s "$1" ] && ! grep -qv '^"regressed"' "$1"; }

# judge DEVICE: 0, 77, or what ended in_turn(), with an alarm only if it came twice.
judge() {
  local status=0 again=0 first=$folder/alarms.first second=$folder/alarms.second
  in_turn "$1" "$1" "$first" || status=$?
  if [ $status -ne 1 ] || ! by_chance "$first"; then return $status; fi
  echo "An alarm, by chance perhaps: once more."
  in_turn "$1 again" "$1" "$second" || again=$?
  if [ $again -ne 0 ] && [ $again -ne 77 ] && ! by_chance "$second"; then return $again; fi
  LC_ALL=C comm -12 "$first" "$second" >"$folder/alarms.twice"
  [ -s "$folder/alarms.twice" ] || return 77
  echo "Twice, by the label of the slower side:"
  cat "$folder/alarms.twice"
  return 1
}

worst=0
for device in cpu cpu:1; do
  status=0
  judge $device || status=$?
  case $status in
    0) ;;
    77) [ $worst -ne 0 ] || worst=77 ;;
    *) worst=$status ;;
  esac
done
case $worst in
  0) echo "No alarm in either direction." ;;
  1) echo "A FALSE ALARM: nothing had changed." ;;
  77) echo "No proof: too noisy now to exclude a change of 10 % anywhere, or an alarm did not come again." ;;
esac
exit $worst
