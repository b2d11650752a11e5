# shellcheck shell=bash
# harness profile --counters, on a build that runs CUDA's kernels on the CPU, with stand-ins for CUPTI
# and the driver (tests/cuda): what was counted, against the work model, and what is said where it
# cannot be. S3-06, S0-27, S0-28.
"$HARNESS" list devices 2>/dev/null | grep -q "CUDA host layer" || skip "no build with HARNESS_CUDA=HOST"
stubs=$(dirname "$HARNESS")/tests/cuda
[ -e "$stubs/lib/libcuda.so.1" ] || skip "built without CUPTI's headers, or not a build tree with tests"
export HARNESS_CUPTI=$stubs/libcupti_stub.so CUDA_STUB_CONTEXT=1
export LD_LIBRARY_PATH=$stubs/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# profile OPTION...: a kernel of one launch.
profile() {
  local status=0
  rm -rf out
  "$HARNESS" profile pointwise/gelu/cuda --batch 1 --seq 2 --dim width=48 --launches 1 --iterations 2 \
    --no-store -o out --counters "$@" >text 2>err || status=$?
  grep -E 'counters|no kernels' err
  echo "status $status"
}
# The stand-in has 4000 bytes and 250 FLOPs a launch.
counted() { json out/profile.json counters "$@"; }

say "A table, and the work model beside it"
profile --device cuda
sed -n '/^Hardware/,/^$/p' text
ls out
counted iterations
counted kernels 0 launches
counted kernels 0 dram_bytes
counted bytes counted
counted bytes modelled
counted bytes verdict
counted flops counted

say "The same of a device that replays graphs: kernels are launched one by one"
profile --device cuda:graph
counted kernels 0 launches
counted bytes counted

say "A forward has many launches; as JSON"
"$HARNESS" profile gpt/nano/decode --variant cuda_fp32 --device cuda --batch 1 --seq 4 --launches 1 \
  --iterations 2 --no-store -o forward --counters --json >forward.json 2>err || cat err
launches=$(json forward.json profiles 0 counters kernels 0 launches)
check "more than a launch a layer" test "$launches" -gt 3
check "all of them are counted" test "$(json forward.json profiles 0 counters bytes counted)" -eq $((4000 * launches))

say "Launches without room: nothing is judged"
CUPTI_STUB=ranges=5000 profile --device cuda
sed -n '/^Hardware/,/^$/p' text
counted dropped
counted bytes verdict

say "A machine that keeps them to its administrator: the rest goes on"
CUPTI_STUB=counters=35 profile --device cuda
check "with its operations" grep -q '^By self time' text
check "and no table of counters" not grep -q '^Hardware' text
check "the reason is in the file" grep -q 'administrator' out/profile.json

say "No CUPTI"
HARNESS_CUPTI=/nowhere.so profile --device cuda
