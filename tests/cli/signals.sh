# shellcheck shell=bash
# SIGINT and SIGTERM at random moments, while processes and threads start and end: what was finished
# is kept, the status is that of the signal, nothing is aborted, no process is left. U-04, U-11.
# HARNESS_CASES is how many of each kind (4).
seed=$(random_seed)
RANDOM=$((seed % 32768))
cases=${HARNESS_CASES:-4}
cases=${cases/all/200}
export CLI_TEST_MARK=$$
gone() { not marked $$; }

# The time that it takes, for the moments.
took() {
  local begin
  begin=$(date +%s%N)
  "$HARNESS" "$@" >out 2>err || true
  echo $((($(date +%s%N) - begin) / 1000))
}

# strike SIGNAL MICROSECONDS ARG...: 0 where it ended as it should.
strike() {
  local signal=$1 moment=$2 status=0 pid expected=130
  shift 2
  [ "$signal" = INT ] || expected=143
  "$HARNESS" "$@" >out 2>err &
  pid=$!
  sleep "$(printf '%d.%06d' $((moment / 1000000)) $((moment % 1000000)))"
  kill -"$signal" $pid 2>/dev/null || true
  wait $pid || status=$?
  # done before it came; 77: nothing was finished
  case $status in
    0 | 77 | "$expected") ;;
    *) echo "SIG$signal after $moment us: status $status (seed $seed)" && cat err && return 1 ;;
  esac
  ! grep -iE 'thread creat|pthread_create|abort|core dumped' err || return 1
  wait_for gone || { echo "SIG$signal after $moment us: a process is left (seed $seed)" && return 1; }
  "$HARNESS" history verify >out 2>&1 || { cat out && return 1; }
}

quiet run null/copy/right --device "$FAKE" --seed 1 --launches 2 --iterations 5
# Without job control bash has what it starts with & ignore SIGINT; with it, it tells how jobs end.
exec 2>/dev/null
set -m
kind() {
  local name=$1 held=0 whole
  shift
  whole=$(took "$@")
  for i in $(seq "$cases"); do
    signal=INT
    [ $((i % 2)) = 0 ] || signal=TERM
    if strike $signal $((((RANDOM << 15) + RANDOM) % (whole + 1))) "$@"; then held=$((held + 1)); fi
  done
  knock "SIGINT, SIGTERM while $name" $held "$cases" "status 130, 143, sound, nobody left (HARNESS_SEED=$seed)"
  check "$name: all of them" test $held -eq "$cases"
}
kind "a fake device is measured" run null/copy/right --device "$FAKE" --seed 1 --launches 4 --iterations 5
threads=(run 'gemm/nn/*/*,n=144,k=48/*' --batch 1 --seq 5 --launches 3 --iterations 3 --seed 1)
quiet "${threads[@]}" # and the roofs, once
kind "kernels with threads are measured" "${threads[@]}"
kind "a program is measured" run --launches 3 --iterations 5 --name true -- true
kind "a report is written" report --output report.html
kind "figures are drawn" plot --output plots
