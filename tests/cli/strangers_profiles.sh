# shellcheck shell=bash
# Profiles that a stranger made: traces of our own, of Kineto, of nsys, lists of calls and tables, with
# names, numbers, nesting and bytes that no tool writes. Each is refused or taken by the import, the
# figures and the page alike; nothing runs, no control character comes out, and it ends soon within
# little memory. A sample of them; all by HARNESS_STRANGERS=all.
# shellcheck source=tests/cli/strangers.lib.bash
source "$CLI/strangers.lib.bash"
fixtures=$(dirname "$CLI")/fixtures

cat >calls.json <<'END'
{"entries": [
  {"operation": "matmul", "start_time": 100.0, "end_time": 100.02, "duration_ms": 20, "device": "gpu",
   "gpu_time_ms": 15, "cpu_time_ms": 1, "transfer_time_ms": 3, "overhead_ms": 1, "memory_peak_mb": 80},
  {"operation": "matmul", "start_time": 100.03, "end_time": 100.06, "duration_ms": 30, "device": "gpu",
   "gpu_time_ms": 25, "cpu_time_ms": 1, "transfer_time_ms": 3, "overhead_ms": 1, "memory_peak_mb": 128},
  {"operation": "sort", "start_time": 100.07, "end_time": 100.08, "duration_ms": 10, "device": "cpu"}]}
END
# Small enough to be changed a hundred times.
head -c 30000 "$fixtures/profile/forward/trace.json" >started.json
sed '$d' started.json | sed '$s/,$//' >trace.json
echo ']}' >>trace.json
quiet profile --import "$fixtures/profile/forward/trace.json" -o taken
cp taken/profile.json tables.json

# Whether the import takes it or not, the others say the same of it.
hold_profile() {
  local taken=1
  rm -rf imported drawn input.json
  mv input input.json
  soon profile --import input.json -o imported || return 1
  [ -e imported/profile.json ] || taken=0
  soon plot --profile input.json -o drawn --format svg --only bottlenecks,operations,timeline,flame || return 1
  soon report --profile input.json -o page.html || return 1
  [ $taken = 0 ] || soon profile --diff input.json input.json || return 1
  [ $taken = 0 ] || [ $((done % 8)) -ne 0 ] || soon plot --profile input.json,input.json -o drawn --format svg
}

each_case hold_profile 16 "$PWD/trace.json" "$fixtures/timeline/kineto.json" "$PWD/calls.json" "$PWD/tables.json"
check "each is refused or taken, soon, and what comes out is text" test $held -eq $done
check "nothing ran" test -z "$(find . -name 'PWNED*')"
knock "strangers' profiles: import, difference, figures, page" $held $done \
  "refused or taken within seconds and memory, nothing runs, no control characters"
