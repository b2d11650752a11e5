#!/usr/bin/env bash
# CTest perf.self: the build against itself on the real kernels of the suite ci. Nothing changed, so
# neither side may be called slower. Exit status 0 no alarm, 1 a false alarm, 77 cannot tell.
#
#   tests/perf/self.sh HARNESS FOLDER
#
# On all cores, as the gate measures, and on one, which a busy machine disturbs least. Sides
# alternate A B B A, so that what drifts in the machine meets both alike; a run is one launch. A
# change must be beyond 10 % (neighbours on a shared machine move whole launches by that much) at a
# false-discovery rate of 0.5 %: with launches that are alike, fewer than one test in 100 gives any
# alarm, in either direction, even where the noise dwarfs the 10 %.
set -euo pipefail
harness=$1
folder=$2
db=$folder/self.db
blocks=4    # of A B B A: eight launches a side
enough_s=45 # start no further block after this, once there are two
mkdir -p "$folder"
rm -f "$db" "$db-wal" "$db-shm"

# measure LABEL DEVICE
measure() {
  "$harness" run --suite ci --device "$2" --launches 1 --max-time 40ms --label "$1" --db "$db" \
    >"$folder/self.txt" 2>&1 || {
    cat "$folder/self.txt"
    exit 1
  }
}

for block in $(seq $blocks); do
  [ "$block" -le 2 ] || [ $SECONDS -lt $enough_s ] || break
  for side in A B B A; do
    measure $side cpu
    measure $side cpu:1
  done
done
echo "$("$harness" history list --db "$db" --limit 1000 | grep -c OK) runs of one launch in $SECONDS s"

# compare BASE HEAD: an improvement of one side is an alarm about the other
compare() {
  "$harness" compare --baseline "label:$1" --head "label:$2" --delta 10% --fdr 0.5% --all --db "$db"
}
status=0
compare A B || status=$?
back=0
compare B A >"$folder/self.txt" || back=$?
if [ $back -eq 1 ] || [ $back -eq 2 ]; then
  cat "$folder/self.txt"
  status=$back
fi

echo
case $status in
  0) echo "No alarm in either direction." ;;
  1) echo "A FALSE ALARM: nothing had changed." ;;
  77) echo "No alarm, but no proof either: too noisy now to exclude a change of 10 % anywhere." ;;
esac
exit $status
