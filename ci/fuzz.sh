#!/usr/bin/env bash
# Feeds the parsers with whatever comes, by libFuzzer under AddressSanitizer and
# UndefinedBehaviorSanitizer. tests/fuzz/README.md has the targets, and what to do with a finding.
#
#   ci/fuzz.sh [--seconds N] [--jobs N] [--output DIR] [TARGET...]
#     --seconds N   for each target (default 600)
#     --jobs N      targets at a time (default: one a processor)
#     --output DIR  keeps inputs that reach something new, to go on from the next time, logs and
#                   findings (default: build/fuzz/found)
#     TARGET        of those in tests/fuzz, without "fuzz_" (default: all)
#
# Exit status: 0 nothing was found, 1 something was, 2 it did not run, 77 clang here has no libFuzzer.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=ci/lib.sh
source ci/lib.sh

usage() { usage_of ci/fuzz.sh; }

seconds=600 jobs=$(nproc) output=build/fuzz/found targets=()
while [ $# -gt 0 ]; do
  case $1 in
    --seconds | --jobs | --output)
      [ $# -gt 1 ] || fail "$1 needs a value"
      declare "${1#--}=$2"
      shift
      ;;
    -h | --help) usage; exit 0 ;;
    -*) fail "unknown option $1; see ci/fuzz.sh --help" ;;
    *) targets+=("$1") ;;
  esac
  shift
done
for number in "$seconds" "$jobs"; do
  [[ $number =~ ^[1-9][0-9]*$ ]] || fail "\"$number\" is no whole number above 0"
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/probe.c" <<'PROBE'
int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size);
int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size) { return !data && size; }
PROBE
if ! clang -fsanitize=fuzzer,address,undefined "$work/probe.c" -o "$work/probe" 2>"$work/why"; then
  echo "skipped: clang here has no libFuzzer (ci/setup.sh --tests installs it):" \
    "$(head -n 1 "$work/why")"
  exit 77
fi

cmake --preset fuzz --log-level=WARNING >/dev/null
programs=build/fuzz/tests/fuzz
mapfile -t all < <(sed -n 's/^FUZZ_ROW(\(.*\))$/\1/p' "$programs/fuzz_table.h" | sort)
[ ${#targets[@]} -gt 0 ] || targets=("${all[@]}")
for target in "${targets[@]}"; do
  [[ " ${all[*]} " == *" $target "* ]] ||
    fail "there is no target \"$target\"; there are: ${all[*]}"
done
cmake --build --preset fuzz --target "${targets[@]/#/fuzz_}" >"$work/build" 2>&1 || {
  cat "$work/build"
  fail "the targets cannot be built"
}
mkdir -p "$output/log" "$output/findings"
output=$(realpath "$output")

# run TARGET: within $work, in memory where that can be had.
run() {
  local target=$1 here="$work/$1" words=()
  mkdir -p "$here/seeds" "$here/tmp" "$output/corpus/$target"
  tests/fuzz/seeds.sh "$target" "$here/seeds"
  tests/fuzz/seeds.sh --words "$target" >"$here/words"
  [ ! -s "$here/words" ] || words=(-dict="$here/words")
  [ ! -d /dev/shm ] || export TMPDIR=/dev/shm
  "$programs/fuzz_$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 \
    -max_len=40000 -print_final_stats=1 "${words[@]}" \
    -artifact_prefix="$output/findings/$target-" "$output/corpus/$target" "$here/seeds" \
    >"$output/log/$target.log" 2>&1
}

# What a log says at its end: executions, new inputs kept, coverage (edges and features).
report() {
  local target=$1 log="$output/log/$1.log" runs cover
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  cover=$(sed -n 's/.*cov: \([0-9]*\) ft: \([0-9]*\).*/\1 \2/p' "$log" | tail -n 1)
  # shellcheck disable=SC2086  # two numbers
  printf '%-17s %10s executions  %6s edges %7s features' "$target" "${runs:-?}" ${cover:-? ?}
}

# finish TARGET STATUS
failed=0
finish() {
  local target=$1 file log="$output/log/$1.log"
  report "$target"
  if [ "$2" -eq 0 ]; then
    echo
    return
  fi
  failed=1
  file=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
  printf '  FOUND\n'
  grep -m 1 -hE 'not so:|runtime error:|ERROR: (AddressSanitizer|LeakSanitizer|libFuzzer)|SUMMARY' \
    "$log" | sed 's/^/  /' || tail -n 5 "$log"
  echo "  input:  ${file:-none was written, see $log}"
  [ -z "$file" ] || echo "  replay: $programs/fuzz_$target $file"
}

declare -A running=()
wait_for_one() {
  local pid status=0
  wait -n -p pid "${!running[@]}" || status=$?
  finish "${running[$pid]}" "$status"
  unset "running[$pid]"
}
for target in "${targets[@]}"; do
  [ ${#running[@]} -lt "$jobs" ] || wait_for_one
  run "$target" &
  running[$!]=$target
done
while [ ${#running[@]} -gt 0 ]; do
  wait_for_one
done
echo "${#targets[@]} targets, $seconds s each; logs, inputs and findings in $output"
exit "$failed"
