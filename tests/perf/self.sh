#!/usr/bin/env bash
# CTest perf.self: the build against itself on the real kernels of the suite ci. Nothing changed, so
# neither side may be called slower. Exit status 0 no alarm, 1 a false alarm, 77 cannot tell.
#
#   tests/perf/self.sh HARNESS FOLDER
#
# On all cores, as the gate measures, and on one, which a busy machine disturbs least. Sides
# alternate A B B A, so that what drifts in the machine meets both alike; a run is one launch. A change must be beyond 10 % (neighbours on a shared machine move whole launches by that
# much) at a false-discovery rate of 0.5 %: with launches that are alike, one test in 100 or fewer
# gives any alarm even where the noise dwarfs the 10 %, half of them on either side.
set -euo pipefail
harness=$1
db=$2/self.db
blocks=4    # of A B B A: eight launches a side
enough_s=60 # start no further block after this, once there are two
mkdir -p "$2"
rm -f "$db" "$db-wal" "$db-shm"

for block in $(seq $blocks); do
  [ "$block" -le 2 ] || [ $SECONDS -lt $enough_s ] || break
  for side in A B B A; do
    for device in cpu cpu:1; do
      "$harness" run --suite ci --device $device --launches 1 --max-time 40ms --label $side \
        --db "$db" >"$2/self.txt" 2>&1 || { cat "$2/self.txt"; exit 1; }
    done
  done
done
"$harness" history list --db "$db" --limit 100

status=0
for sides in "A B" "B A"; do
  verdict=0
  echo
  "$harness" compare --baseline "label:${sides% *}" --head "label:${sides#* }" --delta 10% \
    --fdr 0.5% --all --db "$db" || verdict=$?
  # 1 is an alarm, 2 a failure: both count before 77, "cannot tell"
  if [ $verdict -eq 1 ] || [ $verdict -eq 2 ] || [ $status -eq 0 ]; then status=$verdict; fi
done
exit $status
