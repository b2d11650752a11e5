#!/usr/bin/env bash
# The tests of harness_add_perf_test().
#
#   perf.sh record OPTION... KERNELS [RUN-OPTION...] [FILTER...]
#   perf.sh record OPTION... COMMAND [RUN-OPTION...] -- PROGRAM [ARG...]
#   perf.sh record OPTION... GOOGLE_BENCHMARK -- PROGRAM [ARG...]
#   perf.sh judge OPTION... [GROUP]
#   perf.sh baseline OPTION...
#
# record measures into the history, under a label that no other recording has. Exit status 0; 1 a
# result is wrong or failed; 2 it could not be measured.
# judge gates a group of the newest recording against the baseline, and prints the table,
# percentiles for CTest and the figures' files. Exit status 0 no regression, 1 regression, 77 cannot
# tell or no baseline, 2 failure.
# baseline makes the newest recording the baseline, in place of what it was.
#
# OPTIONs: --harness PROGRAM --name NAME --db FILE --baseline NAME, and as wanted --launches N,
# --plots FIGURE,..., --delta SHARE, --metric NAME
set -euo pipefail

action=$1
shift
harness='' name='' db='' baseline='' launches='' plots=''
gate=() # options of `harness compare`
while [ $# -gt 0 ]; do
  case $1 in
    --harness) harness=$2 ;;
    --name) name=$2 ;;
    --db) db=$2 ;;
    --baseline) baseline=$2 ;;
    --launches) launches=$2 ;;
    --plots) plots=$2 ;;
    --delta | --metric) gate+=("$1" "$2") ;;
    *) break ;;
  esac
  shift 2
done
newest=$(dirname "$db")/$name.newest # the label of the newest recording: what is judged

# Sets `head`, the REF of the newest recording.
find_head() {
  [ -e "$newest" ] || {
    echo "There is no recording of \"$name\": run the test $name.record first."
    exit 2
  }
  head="label:$(cat "$newest")"
}

class_of_machine() { "$harness" list machines | sed -n '2s/^  \([^ ]*\) .*/\1/p'; }

has_baseline() {
  [ -e "baselines/$(class_of_machine)/$baseline.json" ] ||
    "$harness" baseline show "$baseline" --db "$db" >/dev/null 2>&1
}

# ---- record ----

# With one core left free: what else runs on the machine does not stall threads at their barriers.
record_kernels() {
  local cores word device=()
  cores=$(nproc)
  device=(--device "cpu:$((cores > 1 ? cores - 1 : 1))")
  for word in "$@"; do
    case $word in -d | --device | --device=*) device=() ;; esac
  done
  "$harness" run ${launches:+--launches "$launches"} "${device[@]}" --label "$label" --db "$db" "$@"
}

record_command() {
  "$harness" run --name "$name" --launches "${launches:-10}" --label "$label" --db "$db" "$@"
}

# Each launch is a process of its own, and leaves its JSON.
record_google_benchmark() {
  local folder i status=0
  shift # the --
  folder=$(mktemp -d)
  for i in $(seq -w "${launches:-10}"); do
    "$@" --benchmark_out="$folder/$i.json" --benchmark_out_format=json >"$folder/said" 2>&1 \
      </dev/null || status=$?
    if [ $status -ne 0 ] || [ ! -s "$folder/$i.json" ]; then
      echo "launch $i of $* ended with status $status and left no JSON, or not all; its last words:"
      tail -n 20 "$folder/said"
      rm -rf "$folder"
      return 2
    fi
  done
  "$harness" import "$folder"/*.json --label "$label" --db "$db" || status=$?
  rm -rf "$folder"
  return $status
}

record() {
  local kind=$1 label status=0
  shift
  label="$name $(date -u '+%Y-%m-%d %H:%M:%S.%3N')"
  mkdir -p "$(dirname "$db")"
  rm -f "$newest"
  case $kind in
    KERNELS) record_kernels "$@" || status=$? ;;
    COMMAND) record_command "$@" || status=$? ;;
    GOOGLE_BENCHMARK) record_google_benchmark "$@" || status=$? ;;
    *)
      echo "perf.sh: not KERNELS, COMMAND or GOOGLE_BENCHMARK: $kind"
      status=2
      ;;
  esac
  [ $status -eq 0 ] || exit $status
  echo "$label" >"$newest"
  # All of it in one table, and a record of the verdicts for `harness baseline accept`.
  ! has_baseline || "$harness" compare --baseline "baseline:$baseline" --head "label:$label" --db "$db" \
    "${gate[@]}" || true
}

# ---- judge ----

tell_baseline() {
  echo "There is no baseline \"$baseline\" for $(class_of_machine) to gate against. To make this"
  echo "recording it:"
  printf '  %q baseline save %q --db %q --ref %q\n' "$harness" "$baseline" "$db" "$head"
  echo "(with --file auto it becomes a file under baselines/, to be reviewed with the code)"
}

# For CDash, and for whoever opens the folder.
draw() {
  local group=${1:-} folder file
  folder=$(dirname "$db")/plots/$name${group:+.${group//\//.}}
  rm -rf "$folder"
  mkdir -p "$folder"
  if ! "$harness" plot "$head" --db "$db" ${group:+--filter "$group"} --only "$plots" \
    --format png --output "$folder" >"$folder/said" 2>&1; then
    echo "Without figures: $(tail -n 1 "$folder/said")"
    return
  fi
  for file in "$folder"/*.png; do
    [ -e "$file" ] || continue
    echo "<CTestMeasurementFile type=\"image/png\" name=\"$(basename "$file" .png)\">$file</CTestMeasurementFile>"
  done
}

judge() {
  local head status=0
  find_head
  if has_baseline; then
    # All benchmarks are judged together, so that one of many is no likelier to be a false alarm.
    "$harness" compare --baseline "baseline:$baseline" --head "$head" --db "$db" --no-record --all \
      --format ctest "${gate[@]}" "$@" || status=$?
  else
    # With itself there is nothing to compare: its percentiles alone.
    "$harness" compare --baseline "$head" --head "$head" --db "$db" --format ctest "$@" \
      2>/dev/null || status=$?
    tell_baseline
  fi
  [ -z "$plots" ] || [ "$plots" = NONE ] || draw "$@"
  exit $status
}

baseline() {
  local head
  find_head
  "$harness" baseline save "$baseline" --db "$db" --ref "$head" --replace
}

case $action in
  record | judge | baseline) "$action" "$@" 2>&1 ;;
  *)
    echo "perf.sh: not record, judge or baseline: $action" >&2
    exit 2
    ;;
esac
