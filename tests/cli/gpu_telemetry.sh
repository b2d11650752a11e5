# shellcheck shell=bash
# What the driver's library tells goes into the history, on a build that runs CUDA's kernels on the
# CPU, with a stand-in for that library. S4-28.
"$HARNESS" verify gemm --device cuda --record x.json 2>&1 | grep -q HARNESS_CUDA=HOST ||
  skip "for builds with HARNESS_CUDA=HOST"
stub=$(dirname "$HARNESS")/tests/nvml/lib/libnvidia-ml.so.1
[ -e "$stub" ] || skip "not a build tree with tests"

measure() {
  "$HARNESS" run pointwise/gelu/cuda --device cuda --batch 1 --seq 2 --dim width=48 --launches 1 \
    --iterations 3 --db h.db --json --output run.json >/dev/null 2>&1
}
told() { json run.json runs 0 measurements 0 telemetry "$1"; }

say "A GPU at the device's place, not the first one; and a fault"
HARNESS_NVML=$stub NVML_STUB=xid measure
told gpu_sm_mhz
told gpu_temperature_celsius
told gpu_xid
check "energy" not test "$(told gpu_energy_joules)" = 0
check "device memory" test "$(told device_memory_peak_bytes)" -gt 0

say "No such library"
HARNESS_NVML=/nowhere.so measure
check "absent" not grep -q gpu_sm_mhz run.json
check "measured all the same" test "$(json run.json runs 0 measurements 0 outcome)" = OK
