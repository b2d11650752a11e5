# shellcheck shell=bash
# What does not compute has one thread and needs little address space: OpenBLAS, which starts threads
# when it is loaded, is opened by the process that computes with it. U-11.
if ldd "$HARNESS" | grep -qE 'lib[at]san|libubsan'; then skip "sanitizers have threads of their own"; fi

say "Not linked"
check "OpenBLAS is none of the program's libraries" not grep -q openblas <(ldd "$HARNESS")

say "One thread"
"$HARNESS" run --launches 1 --iterations 1 --name sleep -- sleep 2 >out 2>err &
pid=$!
# Between the two stands a guard.
measuring() {
  local guard
  read -r guard _ <"/proc/$pid/task/$pid/children" || [ -n "$guard" ] || return 1
  [ -n "$(<"/proc/$guard/task/$guard/children")" ]
}
check "it measures in a process of its own" wait_for measuring
check "beside which it has one thread" test "$(find /proc/$pid/task -mindepth 1 -maxdepth 1 | wc -l)" -eq 1
check "and has not loaded it" not grep -q openblas /proc/$pid/maps
wait $pid

say "Little address space"
held=0 times=0
for kib in 90000 120000 150000 180000 200000; do
  for command in "list machines" "history list" "history verify" "baseline list" \
    "run null/copy/right --device $FAKE --batch 1 --launches 1 --iterations 3"; do
    times=$((times + 1)) status=0
    # shellcheck disable=SC2086  # words
    (ulimit -v $kib && exec timeout 10 "$HARNESS" $command) >out 2>err || status=$?
    if [ $status -eq 0 ]; then held=$((held + 1)); else echo "$kib KiB: $command: status $status"; cat err; fi
  done
done
knock "ulimit -v of 90 to 200 MB" $held $times "run, list, history and baseline end as ever, in 10 s"
t history verify
