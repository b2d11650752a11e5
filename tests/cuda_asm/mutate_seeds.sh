#!/usr/bin/env bash
# A mutant that only some order of threads shows is killed, by which seed is told; one that none of
# the seeds shows survives, and one that never is reached is run once; then it is for the programs
# of --else.
#   tests/cuda_asm/mutate_seeds.sh
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/program" <<'PROGRAM'
#!/bin/sh
echo "$CUDA_ASM_MUTANT ${CUDA_HOST_SEED-1}" >>"${0%/*}/runs"
[ "$CUDA_ASM_MUTANT" = 0 ] || [ "$CUDA_ASM_MUTANT" = 5 ] || echo "mutant $CUDA_ASM_MUTANT is reached"
case $CUDA_ASM_MUTANT.${CUDA_HOST_SEED-1} in
  1.* | 2.3) echo "numbers: WRONG" && exit 1 ;;
esac
PROGRAM
chmod +x "$work/program"
cat >"$work/else" <<'PROGRAM'
#!/bin/sh
echo "else $CUDA_ASM_MUTANT" >>"${0%/*}/runs"
[ "$CUDA_ASM_MUTANT" = 0 ] && exit
echo "mutant $CUDA_ASM_MUTANT is reached"
echo "other numbers: WRONG"
exit 1
PROGRAM
chmod +x "$work/else"
for number in 1 2 3 4 5; do
  printf '%d\tfile.h\t7\tdrop\twait(%d)\n' "$number" "$number"
done >"$work/list"
printf 'file.h\tdrop\twait(3)\tequal\n' >"$work/reasons"

mutate() { # ARGUMENT...: the table without times and runs of the program; its exit status is 1
  rm -f "$work/runs"
  ! "$here/mutate.py" "$work/program" "$work/list" --reasons "$work/reasons" "$@" >"$work/table" || return 1
  sed 's/ ([0-9.]* s)$//' "$work/table"
  grep -v '^0 \|^else 0' "$work/runs" | tr '\n' ';' && echo
}

diff <(mutate --seeds 2) - <<'EXPECTED'
   1 killed         file.h:7 drop wait(1): numbers: WRONG
   2 killed         file.h:7 drop wait(2): by seed 3: numbers: WRONG
   3 survives       file.h:7 drop wait(3): equal
   4 survives       file.h:7 drop wait(4): NOT EXPLAINED
   5 is not reached file.h:7 drop wait(5): -
2 killed, 1 explained, 2 not as expected
1 1;2 1;2 2;2 3;3 1;3 2;3 3;4 1;4 2;4 3;5 1;
EXPECTED
diff <(mutate --seeds 1 --only 2) - <<'EXPECTED'
   2 survives       file.h:7 drop wait(2): NOT EXPLAINED
0 killed, 0 explained, 1 not as expected
2 1;2 2;
EXPECTED
# ends with 0: each is killed
"$here/mutate.py" "$work/program" "$work/list" --only 1,5 --else "$work/else" | sed 's/ ([0-9.]* s)$//' | diff - <(
  cat <<'EXPECTED'
   1 killed         file.h:7 drop wait(1): numbers: WRONG
   5 killed         file.h:7 drop wait(5): - | other numbers: WRONG
2 killed, 0 explained, 0 not as expected
EXPECTED
)
