# shellcheck shell=bash
# ci/gpu.sh where no GPU is, and its stages where the kernels run on the CPU. S4-28.
script=$CLI/../../ci/gpu.sh

# No device, whatever this machine and build have.
none() { CUDA_VISIBLE_DEVICES='' CUDA_HOST=devices=0 "$script" "$@"; }
outcome() {
  local status=0
  "$@" >"$WORK.log/script" 2>&1 || status=$?
  echo "status $status, $(wc -l <"$WORK.log/script") lines"
}

say "No GPU"
outcome none --output out
check "it says so" grep -q '^gpu.sh: no GPU to run on: .' "$WORK.log/script"
check "it leaves nothing behind" not test -e out

say "Bad input"
outcome none measure sanitise
cat "$WORK.log/script"
outcome none --agian verify | sed 's|, .*||'

# What is run by default fits into one call of 540 s.
limits() {
  local all limit stage sum=0
  eval "$(grep -E '^(all=|declare -A limit=)' "$script")"
  for stage in "${all[@]}"; do
    [ "${limit[$stage]}" -gt 0 ] || return
    sum=$((sum + ${limit[$stage]}))
  done
  [ "$sum" -gt 0 ] && [ "$sum" -le 540 ]
}
check "the limits of all stages are 540 s together" limits

# Programs for a device stand for the real ones, which need one; python3 for one that has PyTorch.
stand_in() { # FILE LINE...: a script
  mkdir -p "$(dirname "$1")"
  printf '%s\n' '#!/bin/sh' "${@:2}" >"$1"
  chmod +x "$1"
}
# A tree whose harness says that there is a GPU, and a `timeout` that writes down what it is to run and
# for how long; a program named in `hanging` takes too long, at once.
probe_tree() {
  local name
  for name in attention gemm primitives sgemm unit_rows wrappers; do
    stand_in stood/tests/cuda/device_$name 'echo "all right"'
  done
  stand_in stood/harness "echo '{\"name\":\"cuda\",\"summary\":\"one\",\"available\":true}'"
  # shellcheck disable=SC2016
  stand_in stood/bin/timeout 'while case $1 in -*) true ;; *) false ;; esac; do shift; done' \
    'seconds=$1 program=$(basename "$2")' 'shift 2' 'echo "$seconds $program $*" >>stood/started' \
    '[ "$program" != "$hanging" ] || exit 124' 'exec "stood/tests/cuda/$program" "$@"'
}
stood() { # GONE HANGING [STAGE]: with so many seconds of the call gone
  local status=0
  rm -rf stood/out stood/started
  SECONDS=$1 hanging=$2 PATH=$PWD/stood/bin:$PATH HARNESS=stood/harness \
    "$script" --output stood/out --no-record "${3:-probe}" >"$WORK.log/script" 2>&1 || status=$?
  return $status
}
# The seconds of what comes last are those that are left.
in_order() {
  stood 0 '' && [ "$(sed 's/^[0-9]* device_unit/device_unit/' stood/started)" = '10 device_primitives --check
10 device_wrappers --check
10 device_gemm --check --only probes
20 device_attention --check
20 device_gemm --check
20 device_sgemm --check
device_unit_rows --check' ]
}
hangs() {
  local status=0
  stood 0 device_primitives || status=$?
  [ $status -eq 2 ] && [ "$(wc -l <stood/started)" = 7 ] && [ ! -e stood/out/.done-probe ] &&
    [ -e stood/out/.done-probe-device_wrappers ] && [ -e stood/out/.done-probe-device_unit_rows ] &&
    grep -q '^device_primitives: hangs, or takes more than its 10 s: ' "$WORK.log/script"
}
# 540 s less 10 for what has to be killed and 15 for table and tarball.
capped() { # GONE: no more than what is then left
  local status=0 seconds
  stood "$1" '' || status=$?
  [ $status -eq 0 ] && [ -s stood/started ] && while read -r seconds _; do
    [ "$seconds" -le $((515 - $1)) ] || return
  done <stood/started
}
spent() {
  local status=0
  stood 515 '' || status=$?
  [ $status -eq 2 ] && [ ! -e stood/started ] &&
    [ "$(grep -c '^device_.*: no more time: call again for the rest$' "$WORK.log/script")" = 7 ]
}
# A measurement keeps what it has at the end of its own time; at the end of the call it goes on next time.
cut_short() {
  stood 0 harness measure && [ -e stood/out/.done-measure ] && not stood 450 harness measure &&
    [ ! -e stood/out/.done-measure ]
}
# What is predicted is what was when the results began.
predicted() {
  stood 0 '' && cmp "$CLI/../../ci/gpu_predictions.json" stood/out/gpu_predictions.json || return
  echo '{"rows": []}' >stood/out/gpu_predictions.json
  PATH=$PWD/stood/bin:$PATH HARNESS=stood/harness "$script" --output stood/out --no-record probe >/dev/null &&
    [ "$(cat stood/out/gpu_predictions.json)" = '{"rows": []}' ]
}
# What ignores the signal is killed, and took too long, too; what somebody else killed did not.
killed() {
  # shellcheck disable=SC2034 # for limited
  local killing=1 signal=TERM status=0
  eval "$(sed -n '/^limited() {/,/^}/p' "$script")"
  limited 1 sh -c 'trap "" INT TERM; while :; do sleep 1; done' || status=$?
  [ $status -eq 124 ] || return
  status=0
  # shellcheck disable=SC2016
  limited 60 sh -c 'kill -KILL $$' || status=$?
  [ $status -eq 137 ]
}

say "The stage probe, by stand-ins"
probe_tree
check "single instructions come first, each program with a limit" in_order
check "one that hangs is told, and the others run" hangs
check "no limit reaches beyond the end of the call" capped 508
check "nothing is started where the call has no time left" spent
check "a measurement that the end of the call cuts is not done" cut_short
check "predictions lie beside the results" predicted
check "what has to be killed took too long" killed

# A build with HARNESS_CUDA=HOST has a device; others have nothing to try.
host=no
if "$HARNESS" verify gemm --device cuda --record x.json 2>&1 | grep -q HARNESS_CUDA=HOST; then host=yes; fi
host() { [ $host = yes ]; }
trial() { "$script" --output trial --filter 'layernorm/plain/cuda_rows' --no-record "$@"; }
passes() {
  host || return 0
  trial verify >"$WORK.log/script" 2>&1 && grep -q '^verify-cuda-graph-.*even: .* 0 wrong' "$WORK.log/script" &&
    tar -tzf trial.tar.gz | grep -q '^trial/verify-cuda-graph-.*even'
}
resumes() {
  host || return 0
  trial verify >"$WORK.log/script" 2>&1 && grep -q '^done before' "$WORK.log/script"
}
# With a stand-in for CUPTI, that of the tests, which a build has where CUPTI's headers are: all there,
# and records that find no room.
stubs=$(dirname "$HARNESS")/tests/cuda
stubbed() { [ -e "$stubs/libcupti_stub.so" ] && [ -e "$stubs/lib/libcuda.so.1" ]; }
if host && ! stubbed; then echo "skipped: the stage profile of gpu.sh: this build has no stand-in for CUPTI"; fi
profiles() { # [STUB]
  CUPTI_STUB=${1:-} HARNESS_CUPTI=$stubs/libcupti_stub.so CUDA_STUB_CONTEXT=1 \
    LD_LIBRARY_PATH=$stubs/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
    trial --again profile profile >"$WORK.log/script" 2>&1
}
profiles_well() { host && stubbed || return 0; profiles ''; }
loses() { host && stubbed || return 0; not profiles ranges=5000 && grep -q '^NOT RIGHT: .*dropped' "$WORK.log/script"; }
probes() { # STATUS: that of one of three programs, and of one of unit tests
  host || return 0
  mkdir -p tree
  [ -e tree/harness ] || ln "$HARNESS" tree/harness 2>/dev/null || cp "$HARNESS" tree/harness
  stand_in tree/tests/cuda/device_fine 'echo "all right"'
  stand_in tree/tests/cuda/device_none 'echo "no device"; exit 77'
  # shellcheck disable=SC2016 # $1 is the script's own
  stand_in tree/tests/cuda/device_tile 'echo "1 $1"' "exit $1"
  # shellcheck disable=SC2016
  stand_in tree/tests/cuda/device_unit_rows 'echo "1 $1"' "exit $1"
  HARNESS=tree/harness trial --again probe probe >"$WORK.log/script" 2>&1
}
finds() {
  host || return 0
  not probes 1 && grep -q '^NOT RIGHT: see .*device_tile.txt' "$WORK.log/script" &&
    grep -q '^NOT RIGHT: see .*device_unit_rows.txt' "$WORK.log/script"
}
# With a stand-in for compute-sanitizer, which runs what it is given; and without one.
sanitizes() { # LINE...: what the stand-in does then
  host || return 0
  # shellcheck disable=SC2016
  stand_in tools/compute-sanitizer 'while [ "$1" != --error-exitcode ]; do shift; done; shift 2' "$@"
  PATH=$PWD/tools:$PATH trial --again sanitize sanitize >"$WORK.log/script" 2>&1
}
sanitizes_well() {
  host || return 0
  # shellcheck disable=SC2016
  sanitizes '"$@" || exit' 'echo "ERROR SUMMARY: 0 errors"' &&
    [ "$(grep -cE '^(memcheck|racecheck) .*: ERROR SUMMARY: 0 errors' "$WORK.log/script")" = 2 ]
}
sanitizer_finds() {
  host || return 0
  not sanitizes 'echo "ERROR SUMMARY: 1 error"; exit 9' && grep -q '^NOT RIGHT: memcheck ' "$WORK.log/script"
}
sanitizer_refused() {
  host || return 0
  sanitizes 'echo "Device not supported"; exit 1' && grep -q '^memcheck does not work here: .*not supported' "$WORK.log/script"
}
sanitizer_absent() {
  host || return 0
  ! PATH=$PATH:/usr/local/cuda/bin:/usr/local/cuda/compute-sanitizer command -v compute-sanitizer >/dev/null || return 0
  trial --again sanitize sanitize >"$WORK.log/script" 2>&1 && grep -q '^no compute-sanitizer here$' "$WORK.log/script"
}
measures() {
  host || return 0
  trial measure >"$WORK.log/script" 2>&1 && [ -s trial/measure-stream.json ] &&
    [ "$("$HARNESS" history list --db trial/history.db | grep -c 'measure-')" = 2 ]
}
anchors() {
  host || return 0
  # shellcheck disable=SC2016
  stand_in bin/python3 'case " $* " in' '*import*torch*) exit 0 ;;' \
    '*gpu_torch.py*) while [ "$1" != --output ]; do shift; done; echo "{\"results\": []}" >"$2"; echo "0 times" ;;' \
    'esac'
  PATH=$PWD/bin:$PATH trial anchors >"$WORK.log/script" 2>&1 &&
    [ "$(grep -cE '^(torch|anchors)-' "$WORK.log/script")" = 7 ] && [ -s trial/anchors-2.json ]
}
# Of what the stages before have measured.
tables() {
  host || return 0
  trial table >"$WORK.log/script" 2>&1 && [ -s trial/table.json ] && grep -q '^layernorm/plain ' trial/table.txt
}
rates() {
  host || return 0
  trial rates >"$WORK.log/script" 2>&1 && grep -q '^nothing .* 0 of ' trial/rates.txt
}
tunes() {
  host || return 0
  trial tune >"$WORK.log/script" 2>&1 && grep -qE '^(BEHIND )?layernorm/plain/cuda_rows/.*: the plan is ' trial/tune.txt
}
cut_table() {
  host || return 0
  local status=0
  echo '{"runs": [' >trial/measure-cut.json
  trial table >"$WORK.log/script" 2>&1 || status=$?
  rm trial/measure-cut.json
  [ $status -eq 2 ] && ! grep -q 'NOT RIGHT' "$WORK.log/script"
}
# late STAGE COMMAND...: what runs out of time there, which `timeout` tells by 124, leaves no stamp.
late() {
  host || return 0
  local stage=$1 status=0
  shift
  "$@" || status=$?
  [ $status -eq 2 ] && grep -q 'no more time: call again for the rest' "$WORK.log/script" &&
    [ ! -e "trial/.done-$stage" ]
}
late_profile() {
  # shellcheck disable=SC2016
  stand_in late/harness '[ "$1" != profile ] || exit 124' "exec '$HARNESS' \"\$@\""
  HARNESS=late/harness trial --again profile profile >"$WORK.log/script" 2>&1
}
refuses() {
  host || return 0
  not "$script" --output trial --filter 'layernorm/plain/cuda_rows' --again verify verify
}

say "On the host layer"
check "the stage verify passes" passes
check "a stage that is done is not done again" resumes
check "the stage profile passes, and prints counters" profiles_well
check "it says what was dropped" loses
check "the stage probe runs each program of a device" probes 0
check "it says which found something" finds
check "the stage sanitize runs both tools" sanitizes_well
check "it says what a sanitizer found" sanitizer_finds
check "a sanitizer that does not work there is no failure" sanitizer_refused
check "it says that there is none" sanitizer_absent
check "a program of a device that runs out of time leaves its stage to do" late probe probes 124
check "so does a sanitizer" late sanitize sanitizes 'exit 124'
check "so does a profile" late profile late_profile
check "the stage measure keeps two runs" measures
check "the stage anchors alternates with PyTorch" anchors
check "the stage table prints what was measured" tables
check "a file that is cut is no result that is not right" cut_table
check "the stage rates counts false alarms" rates
check "the stage tune holds plans against all tiles" tunes
check "the host layer's results go into no record" refuses
