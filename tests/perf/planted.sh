#!/usr/bin/env bash
# CTest perf.planted: a slow-down that was put there is found, and none is found where none was.
# Exit status 0, 1, or 77 where the machine was too busy for real times.
#
#   tests/perf/planted.sh HARNESS FOLDER
#
# First on the device with a scripted clock, with the noise of a quiet machine: 1 % from launch to
# launch, 2 % from sample to sample. 10 % stand 15 standard errors beyond the floor of 3 % there. Each
# run draws noise of its own, the same whenever this is run: else two runs of the same would, once in
# 200, lie so far apart that nothing is shown.
# Then for real: the same kernel by the portable instruction set instead of this machine's best.
set -euo pipefail
harness=$1
folder=$2
db=$folder/planted.db
mkdir -p "$folder"
rm -f "$db" "$db-wal" "$db-shm"

# measure LABEL RUN-OPTION...
measure() {
  local label=$1
  shift
  "$harness" run "$@" --label "$label" --db "$db" >"$folder/planted.txt" 2>&1 || {
    cat "$folder/planted.txt"
    exit 1
  }
}

# verdict WANTED BASE HEAD: the exit status that the comparison must have
verdict() {
  local status=0
  echo
  echo "== $2 and $3: must end with status $1"
  "$harness" compare --baseline "label:$2" --head "label:$3" --db "$db" --all || status=$?
  [ $status -eq "$1" ] || {
    echo "it ended with status $status"
    exit 1
  }
}

noise=launch=0.01,sd=0.02
fake=(null/copy/right --launches 10 --iterations 200 --seed 1)
measure base "${fake[@]}" --device "fake:$noise,draw=1"
measure unchanged "${fake[@]}" --device "fake:$noise,draw=2"
measure one-slower "${fake[@]}" --device "fake:$noise,draw=3,slow=1.10,only=4"
measure all-slower "${fake[@]}" --device "fake:$noise,draw=4,slow=1.10"
verdict 0 base unchanged
verdict 1 base one-slower
verdict 1 base all-slower
verdict 0 one-slower base

isa=$("$harness" list machines | sed -n '2s/.* cores, \([^,]*\),.*/\1/p')
case $isa in
  avx2 | avx512) ;;
  *)
    echo
    echo "The machine's best instruction set is $isa: no slower one to plant."
    exit 0
    ;;
esac
real=(gemm/linear --variant simd --batch 1 --seq 256 --dim n=256 --dim k=256 --device cpu:1
  --launches 1 --max-time 60ms)
unset HARNESS_ISA
# planted TRY: status of the comparison; other work on the machine may move its probe, and then
# nothing is decided.
planted() {
  local status=0
  for _ in 1 2 3; do
    measure "best-$1" "${real[@]}"
    HARNESS_ISA=portable measure "portable-$1" "${real[@]}"
    HARNESS_ISA=portable measure "portable-$1" "${real[@]}"
    measure "best-$1" "${real[@]}"
  done
  "$harness" compare --baseline "label:best-$1" --head "label:portable-$1" --db "$db" --all || status=$?
  return $status
}

for try in 1 2 3 4 5; do
  echo
  echo "== best and portable, try $try: must end with status 1, or with 77 while the machine moves"
  status=0
  planted "$try" || status=$?
  [ $status -ne 1 ] || exit 0
  echo "it ended with status $status"
  [ $status -eq 77 ] || exit 1
done
echo
echo "Other work moved this machine in all five tries: real times were not judged. What was planted"
echo "on the scripted device was found."
exit 77
