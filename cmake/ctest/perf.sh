#!/usr/bin/env bash
# The tests of harness_add_perf_test().
#
#   perf.sh record OPTION... KERNELS [RUN-OPTION...] [FILTER...]
#   perf.sh record OPTION... COMMAND [RUN-OPTION...] -- PROGRAM [ARG...]
#   perf.sh record OPTION... GOOGLE_BENCHMARK -- PROGRAM [ARG...]
#   perf.sh keys OPTION... KERNELS [RUN-OPTION...] [FILTER...]
#   perf.sh judge OPTION... [GROUP]
#   perf.sh baseline OPTION...
#
# record measures into the history, under a label that no other recording has. Where there is no
# baseline for machines of this class, the first recording is kept as the candidate, against which
# the next ones are gated. With HARNESS_PERF_AGAINST=REF nothing of that counts: the commit where
# HEAD left REF and HEAD are built and measured in turn. HARNESS_PERF_LAUNCHES goes over --launches.
# Exit status 0; 1 a result is wrong or failed; 77 nothing of it can be measured on this machine, or by
# HARNESS_PERF_AGAINST; 2 it could not be measured.
# keys prints what record would measure, a key a line, whatever becomes of its result.
# judge gates a group of the newest recording, and prints the table, percentiles for CTest and the
# figures' files. Exit status 0 no regression, 1 regression, 77 cannot tell or nothing to gate
# against yet, with the command that changes that, or record ended with 77; 2 failure.
# baseline makes the newest recording the baseline, in place of what it was.
#
# OPTIONs: --harness PROGRAM --name NAME --db FILE --baseline NAME, and as wanted --launches N,
# --plots FIGURE,..., --delta SHARE, --metric NAME; of a project's program --source FOLDER, --build
# FOLDER and --build-command COMMAND, in which @TOP@ is the source's place in its repository
set -euo pipefail

action=$1
shift
harness='' name='' db='' baseline='' launches='' plots='' source='' build='' build_command=''
gate=() # options of `harness compare`
while [ $# -gt 0 ]; do
  case $1 in
    --harness) harness=$2 ;;
    --name) name=$2 ;;
    --db) db=$2 ;;
    --baseline) baseline=$2 ;;
    --launches) launches=$2 ;;
    --plots) plots=$2 ;;
    --source) source=$2 ;;
    --build) build=$2 ;;
    --build-command) build_command=$2 ;;
    --delta | --metric) gate+=("$1" "$2") ;;
    *) break ;;
  esac
  shift 2
done
launches=${HARNESS_PERF_LAUNCHES:-$launches}
# Beside the history: the label of the newest recording, which is judged, or nothing where there was
# nothing that could be measured (77); that of what was measured in turn with it; a line "<machine
# class> <label>" for each class that has a candidate.
newest=$(dirname "$db")/$name.newest in_turn=$(dirname "$db")/$name.in-turn
candidates=$(dirname "$db")/$name.candidates

# Sets `head`, the REF of the newest recording.
find_head() {
  [ -e "$newest" ] || {
    echo "There is no recording of \"$name\": run the test $name.record first."
    exit 2
  }
  [ -s "$newest" ] || {
    echo "Nothing of \"$name\" was measured; $name.record says why."
    exit 77
  }
  head="label:$(cat "$newest")"
}

class_of_machine() { "$harness" list machines | sed -n '2s/^  \([^ ]*\) .*/\1/p'; }

# Of this machine's class, in the history or as a file. One that cannot be read counts: the comparison
# says why.
has_baseline() {
  local status=0
  "$harness" baseline show "$baseline" --here --db "$db" >/dev/null 2>&1 || status=$?
  [ $status -ne 77 ]
}

# candidate_of CLASS: its label, if there is one.
candidate_of() {
  [ ! -e "$candidates" ] ||
    awk -v class="$1" '$1 == class { sub(/^[^ ]* /, ""); print; exit }' "$candidates"
}

# Sets `against`, the REF of what the newest recording is gated against, and `words` for it; empty
# where there is nothing.
find_against() {
  local class label
  against='' words=''
  if [ -e "$in_turn" ]; then
    against="label:$(cat "$in_turn")"
  elif has_baseline; then
    against="baseline:$baseline"
  else
    class=$(class_of_machine)
    label=$(candidate_of "$class")
    if [ -n "$label" ] && [ "$label" != "$(cat "$newest")" ]; then
      against="label:$label"
      words="Against the candidate, the first recording for machines of class $class: there is no
baseline \"$baseline\" for them. To make this recording it:
$(save_command)"
    fi
  fi
}

# ---- record ----

# For kernels a gate builds harness. In any other repository both sides would be the program that is
# installed.
has_kernels_of_its_own() {
  local top
  top=$(git rev-parse --show-toplevel 2>/dev/null) || return 0 # which the gate says itself
  grep -qs '^project(harness[ )]' "$top/CMakeLists.txt" || {
    echo "HARNESS_PERF_AGAINST compares kernels in harness's own repository alone: in this one both sides would"
    echo "be those of the program that is installed."
    return 1
  }
}

# Both sides in turn: `harness gate`, with what the recording would measure.
record_in_turn() {
  local kind=$1 status=0 what=()
  shift
  [ "$kind" != KERNELS ] || has_kernels_of_its_own || return 77
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    take_word "$kind" "$@" || return 2
    shift "$taken"
  done
  if [ "$kind" != KERNELS ]; then
    shift # the --
    # Named as the recordings name it.
    what+=(--bench "$([ "$kind" = GOOGLE_BENCHMARK ] || echo "$name: ")$(place_of_bench)$(bench_command "$@")")
    [ -z "$build_command" ] ||
      what+=(--build-command "${build_command/@TOP@/"$(git -C "$source" rev-parse --show-prefix)"}")
  fi
  "$harness" gate --base "$HARNESS_PERF_AGAINST" --db "$db" --label "$label" --all \
    "${gate[@]}" --budget 10m "${what[@]}" || status=$?
  [ $status -le 1 ] || return 2
  echo "$label base" >"$in_turn"
  label="$label head"
}

# take_word KIND WORD...: the first of the words for `harness run`, with its value, into `what`, if it
# is one of the gate's. Sets `taken`, the number of words that were taken.
take_word() {
  local kind=$1 word=${2%%=*}
  shift
  taken=1
  [ "$word" != "$1" ] || [ $# -eq 1 ] || taken=2
  case $kind:$word in
    *:-l | *:--launches | *:--iterations | *:--min-time | *:--max-time)
      echo "$word is left out: both sides are measured in turn until all is decided."
      ;;
    KERNELS:* | *:--no-repeat)
      what+=("$1")
      taken=1
      ;;
    *:--metric | *:--unit | *:--better | *:--seed | *:--timeout | *:--memory-limit | *:--budget)
      what+=("${@:1:taken}")
      ;;
    *)
      echo "HARNESS_PERF_AGAINST does not go with $word of OPTIONS: \`harness gate\`, which measures both"
      echo "sides, does not have it. What is to happen around the program can be a script behind COMMAND."
      return 2
      ;;
  esac
}

# What leads to this folder, in the sources or the build of a side; a gate starts in the top of its
# sources. What lies beside both is the same for the two sides.
place_of_bench() {
  local here top built=''
  here=$(pwd -P)/
  top=$(git -C "$source" rev-parse --show-toplevel) || return 0
  [ -z "$build" ] || built=$(cd "$build" && pwd -P)
  case $here in
    "${built:-/nowhere}"/*) printf "cd \"\$BUILD\"/%q && " "${here#"$built"/}" ;;
    "$top"/) ;;
    "$top"/*) printf "cd \"\$SOURCE\"/%q && " "${here#"$top"/}" ;;
    *) printf 'cd %q && ' "$here" ;;
  esac
}

# The program's command for the shell of a gate, which builds elsewhere, from sources of its own.
bench_command() {
  local word
  for word in "$@"; do
    case $word in
      "${build:-/nowhere}"/*) printf "\"\$BUILD\"/%q " "${word#"$build"/}" ;;
      "${source:-/nowhere}"/*) source_word "$word" ;;
      *) printf '%q ' "$word" ;;
    esac
  done
}

# What git tracks of the sources is that of each side. The rest, such as data that was fetched, is in
# the sources of none.
source_word() {
  local place=${1#"$source"/}
  if git -C "$source" --literal-pathspecs ls-files --error-unmatch -- "$place" >/dev/null 2>&1; then
    printf "\"\$SOURCE\"/%q " "$(git -C "$source" rev-parse --show-prefix)$place"
  else
    echo "git does not track $1: both sides have this one." >&2
    printf '%q ' "$1"
  fi
}

# What a gate needs from the next run, where there is no baseline.
keep_candidate() {
  local class
  class=$(class_of_machine)
  [ -n "$(candidate_of "$class")" ] || echo "$class $label" >>"$candidates"
}

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

# The commit of the sources, where all that git tracks of them is as it was committed.
commit_of_sources() {
  local changes
  changes=$(git -C "$source" status --porcelain --untracked-files=no 2>/dev/null) || return 0
  [ -n "$changes" ] || git -C "$source" rev-parse --verify --quiet HEAD || true
}

# Each launch is a process of its own, and leaves its JSON. It was measured here, whatever that says of
# the machine: other recordings and baselines go by the class of this one.
record_google_benchmark() {
  local folder i commit status=0
  shift # the --
  folder=$(mktemp -d)
  commit=$(commit_of_sources) # before it is measured
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
  "$harness" import "$folder"/*.json --label "$label" --db "$db" --machine this \
    ${commit:+--commit "$commit"} || status=$?
  rm -rf "$folder"
  return $status
}

# measure KIND WORD...: into the history, under `label`, which in turn becomes that of the head.
measure() {
  local kind=$1
  if [ -n "${HARNESS_PERF_AGAINST:-}" ]; then
    record_in_turn "$@"
    return
  fi
  shift
  case $kind in
    KERNELS) record_kernels "$@" ;;
    COMMAND) record_command "$@" ;;
    GOOGLE_BENCHMARK) record_google_benchmark "$@" ;;
    *)
      echo "perf.sh: not KERNELS, COMMAND or GOOGLE_BENCHMARK: $kind"
      return 2
      ;;
  esac
}

record() {
  local label status=0
  label="$name $(date -u '+%Y-%m-%d %H:%M:%S.%3N')"
  mkdir -p "$(dirname "$db")"
  rm -f "$newest" "$in_turn"
  measure "$@" || status=$?
  [ $status -ne 77 ] || : >"$newest"
  [ $status -eq 0 ] || exit $status
  echo "$label" >"$newest"
  [ ! -e "$in_turn" ] || return 0 # the gate has shown it
  # All of it in one table, and a record of the verdicts for `harness baseline accept`.
  has_baseline || keep_candidate
  find_against
  [ -z "$against" ] || "$harness" compare --baseline "$against" --head "label:$label" --db "$db" \
    "${gate[@]}" || true
}

# ---- keys ----

# Keys have no form and no file: those of OPTIONS are for what is measured.
keys() {
  local words=()
  shift # KERNELS
  while [ $# -gt 0 ]; do
    case $1 in
      -o | --output | --format) [ $# -eq 1 ] || shift ;;
      --output=* | --format=* | --json | --gbench-json) ;;
      *) words+=("$1") ;;
    esac
    shift
  done
  "$harness" run --dry-run "${words[@]}"
}

# ---- judge ----

save_command() {
  printf '  %q baseline save %q --db %q --ref %q%s\n' "$harness" "$baseline" "$db" \
    "label:$(cat "$newest")" "${1:+ $1}"
}

# The call that measures and judges it again.
again() {
  local pattern=${name//./\\.}
  printf "ctest -R '^%s\\\\.'" "${pattern//+/\\+}"
}

tell_first() {
  echo "This is the first recording for machines of class $(class_of_machine), and there is no baseline"
  echo "\"$baseline\" for them: it is kept as the candidate. The next run is gated against it:"
  echo "  $(again)"
  echo "To make it the baseline (with --file auto a file under baselines/, to be reviewed with the code):"
  save_command
}

# How many launches the newest recording has: LAUNCHES, the suite's own number, or that of the day.
recorded_launches() {
  "$harness" history list --db "$db" --json -n 1000 |
    awk -F'\t' -v label="\"$(cat "$newest")\"," '
      $3 == "\"uuid\":" { found = 0 }
      $3 == "\"label\":" { found = $4 == label }
      found && $3 == "\"launches\":" { launches = $4 + 0 }
      END { print launches ? launches : 10 }'
}

# tell_undecided TABLE: what would change that.
tell_undecided() {
  if ! grep -q '^?  undecided' <<<"$1"; then
    tell_new "$1"
    return
  fi
  echo "Cannot tell. With twice the launches it can, where the noise allows:"
  if [ -e "$in_turn" ]; then
    echo "  $(again)    (in turn, until all is decided or ten minutes have passed)"
  else
    echo "  HARNESS_PERF_LAUNCHES=$(($(recorded_launches) * 2)) $(again)"
  fi
}

# What only the newest recording has, more launches do not make comparable.
tell_new() {
  case $against in baseline:*) ;; *) return ;; esac
  ! grep -q '^+  new' <<<"$1" || {
    echo "It is not in the baseline. To make this recording the baseline, in place of what it was:"
    save_command --replace
  }
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
  local head against words table status=0
  find_head
  find_against
  if [ -n "$against" ]; then
    # All benchmarks are judged together, so that one of many is no likelier to be a false alarm.
    table=$("$harness" compare --baseline "$against" --head "$head" --db "$db" --no-record --all \
      --format ctest "${gate[@]}" "$@" 2>&1) || status=$?
    echo "$table"
    [ $status -ne 77 ] || tell_undecided "$table"
    [ -z "$words" ] || echo "$words"
  else
    # With itself there is nothing to compare: its percentiles alone.
    "$harness" compare --baseline "$head" --head "$head" --db "$db" --format ctest "$@" \
      2>/dev/null || status=$?
    tell_first
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
  keys) keys "$@" ;;
  *)
    echo "perf.sh: not record, keys, judge or baseline: $action" >&2
    exit 2
    ;;
esac
