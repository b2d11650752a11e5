# shellcheck shell=bash
# A case that fails is data: its outcome and reason are kept, it never gets a time, and the sweep
# goes on. S0-22; design: outcomes.

# The sign of a NaN is the C library's affair.
plain_nan() { t "$@" | sed 's/-nan/nan/'; }
plain_nan verify null/copy --device fake --batch 1 --seed 1
plain_nan run null/copy --device "$FAKE" --batch 1 --seed 1 --launches 2 --iterations 5
t history list
"$HARNESS" history show >show.json
for i in $(seq 0 $(($(json_length show.json runs 0 measurements) - 1))); do
  outcome=$(json show.json runs 0 measurements "$i" outcome)
  samples=$(json_length show.json runs 0 measurements "$i" samples_ns 2>/dev/null || echo 0)
  echo "$outcome has $samples samples"
done | sort | uniq -c

say "A crash costs its case only"
t run null/copy/right --device "$FAKE,crash=2" --seed 1 --launches 2 --iterations 5
# costs_one WHY: of six cases one has no time, and for this reason.
costs_one() {
  [ "$(grep -c '^batch=.*  OK  ' "$WORK.log/out")" -eq 5 ] &&
    grep -qE "^batch=[0-9] +FAILED +$1" "$WORK.log/out"
}
knock_if "a kernel that crashes" "costs its case, the other five are measured" \
  costs_one 'the process died by signal 11'

say "Also where the parent process has SIGCHLD ignored"
status=0
env --ignore-signal=CHLD "$HARNESS" run null/copy/right --device "$FAKE,crash=2" --batch 2 \
  --seed 1 --launches 1 --iterations 5 >ignored 2>&1 || status=$?
grep -h died ignored
echo "[$status]"

say "So does a case that hangs"
t run null/copy/right --device "$FAKE,hang=3" --timeout 3s --seed 1 --launches 2 --iterations 5
knock_if "a kernel that hangs" "killed after --timeout; the other five are measured" \
  costs_one 'killed: no result within 3 s'

say "Nothing that could run"
t run null/copy/unsupported --device "$FAKE" --batch 1 --seed 1 --launches 2
t verify null/copy/unsupported --device fake --batch 1

say "Memory that would not fit"
available() { t "$@" | sed -E 's/[0-9.]+ ([KMGTP]i)?B are available/N are available/'; }
available run null/copy/right --device "$FAKE" --batch 1000000 --seq 1,1000000 --seed 1 --launches 1
available run null/copy/right --device "$FAKE" --batch 1000000000 --seq 1000000000 --launches 1
available verify 'gemm/nn/naive/*,n=144,k=48/*' --batch 1000000000 --seq 1000000000 --device cpu:1
t history verify
