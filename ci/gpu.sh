#!/usr/bin/env bash
# All that a GPU node is needed for, within nine minutes: from the package (cpack) or a build tree.
#
#   gpu.sh [--output DIR] [--again STAGE] [STAGE...]
#
#   probe      the instructions of sm_90, then the kernels made of them, one by one, each against what
#              it should do; what launches, nodes of graphs and barriers cost; unit tests of kernels
#   verify     every CUDA variant against the float64 oracles, odd and even sizes, launched one by
#              one and from graphs, and with each of its tiles and slices; writes verification.json
#   sanitize   compute-sanitizer's memcheck and racecheck, where there is one and it works
#   profile    forwards and kernels by CUPTI: that nothing is dropped, where the device's time goes,
#              bytes and FLOPs as the GPU counts them beside the work models
#   measure    suite gpu beside cuBLAS, and the forwards from graphs, into history.db
#   anchors    the same sizes in PyTorch, alternating with ours; where python3 has it
#   table      ours beside cuBLAS and PyTorch
#   rates      by name alone: 20 comparisons in which nothing changed, how many raise an alarm
#   tune       by name alone: races of the tiles, and which plans are more than 1 % behind the fastest
#
# All stages but the last two by default. One that is done leaves a stamp in the output folder (gpu-results) and is
# skipped next time, so an interrupted call goes on where it was; --again STAGE does it once more. What
# there is then lies in OUTPUT.tar.gz, too: one file to take along. A stage that ran out of time is not
# done: the next call takes up what it left.
# HARNESS names the program if it is not found. Exit status: 0; 1 if a variant is not right; 2 if
# something else failed; 77 with one line where there is no GPU.
#
# For a trial of the script itself: --filter GLOB takes these kernels alone, at small sizes, and
# --no-record writes no verification.json.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=ci/lib.sh
. "$here/lib.sh"

all=(probe verify sanitize profile measure anchors table)
named=(rates tune)
# Seconds that a stage may take; `whole` together, without those that are asked for by name: a comparison
# of suite gpu-rates takes some 14 s.
declare -A limit=([probe]=50 [verify]=90 [sanitize]=60 [profile]=60 [measure]=120 [anchors]=140 [table]=20 [rates]=420 [tune]=420)
# Seconds that the call may take, all told, and of them those of the end: what is still running is
# killed, then come the table and the tarball. Seconds that are gone already may stand in $SECONDS.
whole=540 killing=10 ending=15
kernels=(gemm attention layernorm pointwise embedding)

out=gpu-results record=yes filter='' stages=() again=()
while [ $# -gt 0 ]; do
  case $1 in
    --output | --again | --filter) [ $# -ge 2 ] || fail "$1 needs a value" ;;
  esac
  case $1 in
    --output) out=$2; shift ;;
    --again) again+=("$2"); shift ;;
    --filter) filter=$2; shift ;;
    --no-record) record=no ;;
    -h|--help) usage_of "$0"; exit 0 ;;
    -*) usage_of "$0" >&2; exit 2 ;;
    *) stages+=("$1") ;;
  esac
  shift
done
for stage in "${stages[@]}" "${again[@]}"; do
  [[ " ${all[*]} ${named[*]} " == *" $stage "* ]] ||
    fail "no stage $stage; there are: ${all[*]} ${named[*]}"
done
[ ${#stages[@]} -gt 0 ] || stages=("${all[@]}")

harness=$(find_harness)

# folder_of LIBRARY: where it is if the loader does not know: in the toolkit, or beside python3's own
# packages.
folder_of() {
  # No grep -q in a pipe: it may end the writer, and pipefail takes that for a failure.
  if ldconfig -p 2>/dev/null | grep "$1\.so" >/dev/null; then return; fi
  {
    compgen -G "/usr/local/cuda/lib64/$1.so.*" || true
    compgen -G "/usr/local/cuda/extras/CUPTI/lib64/$1.so.*" || true
    python3 -c '
import glob, sys
for folder in filter(None, sys.path):
    print(*glob.glob(f"{folder}/nvidia/*/lib/{sys.argv[1]}.so.*"), sep="\n", end="")' "$1" 2>/dev/null || true
  } | sed -n '1s#/[^/]*$##p'
}
for library in libcublas libcupti; do
  folder=$(folder_of $library)
  [ -z "$folder" ] || export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folder"
done

if ! "$harness" list devices --json | tr -d '\n\t' |
  grep -E '"name":"cuda","summary":"([^"\\]|\\.)*","available":true' >/dev/null; then
  echo "gpu.sh: no GPU to run on: $("$harness" list devices | sed -n 's/^  cuda *//p')"
  exit 77
fi
mkdir -p "$out"
out=$(cd "$out" && pwd)
# What was predicted when this began, whatever is later.
[ -e "$out/gpu_predictions.json" ] || cp "$here/gpu_predictions.json" "$out/"

wrong=0 failed=0 deadline=0
left() { echo $((deadline > SECONDS ? deadline - SECONDS : 0)); }

# deadline_of STAGE: when it has to end: by its limit, and by what is left of the whole call.
deadline_of() {
  local own=$((SECONDS + ${limit[$1]})) last=$((whole - killing - ending))
  [ "$1" != table ] || last=$((whole - killing))
  echo $((own < last ? own : last))
}

# cut_short: the end of the call comes before that of the stage.
cut_short() { [ $((deadline - started)) -lt "${limit[$stage]}" ]; }

# limited SECONDS COMMAND...: 124 when it took longer, or where none are left. SIGINT first (or what
# $signal says): harness keeps what is finished; then SIGKILL, which timeout dies of itself.
limited() {
  local status=0 end=$((SECONDS + $1))
  [ "$1" -gt 0 ] || return 124
  timeout --signal="${signal:-INT}" --kill-after=$killing "$@" || status=$?
  [ $status -ne 137 ] || [ "$SECONDS" -lt "$end" ] || status=124
  return $status
}

# Not right: loudly, and the rest goes on.
not_right() {
  wrong=1
  echo "NOT RIGHT: $*"
}

# done_before NAME: that part of a stage, by its own stamp; it says so.
done_before() {
  [ -e "$out/.done-$1" ] || return 1
  echo "$1: done before"
}

# late NAME: a part that ran out of time has no stamp, and so its stage has none.
late() {
  echo "$1: no more time: call again for the rest"
  return 2
}

# probe SECONDS PROGRAM [PART]: its last line; what it says is kept. One that hangs has its seconds
# and no more: the others still run.
probe() {
  local name status=0 seconds=$1
  name=$(basename "$2")${3:+-$3}
  ! done_before "probe-$name" || return 0
  [ "$seconds" -le "$(left)" ] || seconds=$(left)
  [ "$seconds" -gt 0 ] || { late "$name"; return; }
  # Not SIGINT, which a shell has its children in the background ignore.
  signal=TERM limited "$seconds" "$2" --check ${3:+--only "$3"} >"$out/$name.txt" 2>&1 || status=$?
  echo "$name: $(tail -n 1 "$out/$name.txt")"
  case $status in
    0 | 77) touch "$out/.done-probe-$name" ;;
    124)
      echo "$name: hangs, or takes more than its $seconds s: see how far it came in $out/$name.txt"
      late "$name"
      ;;
    *) not_right "see $out/$name.txt" ;;
  esac
}

# The programs of tests/cuda that need no harness: in libexec of the package, in a build tree beside
# the program. Single instructions first: where one of them is wrong or hangs, that is why kernels do.
stage_probe() {
  local folder program rest=0
  local -A found=()
  for folder in "$(dirname "$harness")/tests/cuda" "$here/../../../libexec/harness/device"; do
    for program in "$folder"/device_*; do
      [ ! -x "$program" ] || found[${program##*/}]=$program
    done
  done
  probe_instructions || rest=1
  probe_kernels || rest=1
  probe_units || rest=1
  return $rest
}

# These three know `found` of the stage: the programs by their names.
probe_instructions() {
  local name rest=0
  for name in device_primitives device_wrappers; do
    [ -z "${found[$name]:-}" ] || probe 10 "${found[$name]}" || rest=1
  done
  [ -z "${found[device_gemm]:-}" ] || probe 10 "${found[device_gemm]}" probes || rest=1
  return $rest
}

names_of_probes() { [ ${#found[@]} -eq 0 ] || printf '%s\n' "${!found[@]}" | LC_ALL=C sort; }

probe_kernels() {
  local name rest=0
  for name in $(names_of_probes); do
    case $name in
      device_primitives | device_wrappers | device_unit_*) ;;
      *) probe 20 "${found[$name]}" || rest=1 ;;
    esac
  done
  return $rest
}

# Unit tests time nothing, and compute most of their time on the host: all at the same time.
probe_units() {
  local name pids=()
  for name in $(names_of_probes); do
    [[ $name = device_unit_* ]] || continue
    { probe "$(left)" "${found[$name]}" || exit 2; exit $wrong; } &
    pids+=($!)
  done
  all_of "${pids[@]}"
}

# check NAME ARG...: one `harness verify`, with a stamp of its own.
check() {
  local name=$1 log=$out/$1.txt status=0
  shift
  ! done_before "$name" || return 0
  local options=(--isolate --timeout 60s)
  # In one process a shape has one answer of the oracle for all settings.
  if [[ " $* " = *" --all-settings "* ]]; then options=(); fi
  if [ "$record" = yes ]; then options+=(--record "$out/verification.json"); fi
  limited "$(left)" "$harness" verify "$@" "${options[@]}" >"$log" 2>&1 || status=$?
  echo "$name: $(tail -n 1 "$log")"
  grep -E '^(WRONG|FAILED) ' "$log" || true
  case $status in
    0 | 77) touch "$out/.done-$name" ;;
    1) not_right "see $log" ;;
    124) late "$name" ;;
    *) return 1 ;;
  esac
}

# What is checked needs no quiet device: all at the same time. A process that found something not
# right ends with 1, one that failed or ran out of time with 2.
stage_verify() {
  local device name kernel pids=()
  for device in cuda cuda:graph; do
    for kernel in "${filter:-gpt}" "${kernels[@]}"; do
      name=verify-${device/:/-}-${kernel//[^a-z0-9]/_}
      verify_both "$name" "$kernel" "$device" &
      pids+=($!)
      [ -z "$filter" ] || break
    done
  done
  all_of "${pids[@]}"
}

# all_of PID...: waits for what was started; 1 is not right, more has failed.
all_of() {
  local pid status failed=0
  for pid; do
    status=0
    wait "$pid" || status=$?
    case $status in
      0) ;;
      1) wrong=1 ;;
      *) failed=1 ;;
    esac
  done
  return $failed
}

# gpt's default sizes are checked where they are measured.
verify_both() { # NAME KERNEL DEVICE
  local even=()
  [ -z "$filter" ] || even=(--batch 1 --seq 4)
  check "$1-odd" "$2" --device "$3" --test-shapes || exit 2
  [ "$2" = gpt ] || check "$1-even" "$2" --device "$3" "${even[@]}" || exit 2
  case $2-$3 in
    gemm-cuda | attention-cuda | layernorm-cuda)
      check "$1-settings" "$2/*/cuda_*" --device "$3" --test-shapes --all-settings || exit 2
      ;;
  esac
  exit $wrong
}

find_sanitizer() {
  PATH=$PATH:/usr/local/cuda/bin:/usr/local/cuda/compute-sanitizer command -v compute-sanitizer || true
}

# sanitize TOOL FILTER: 9 is the sanitizer's own finding.
sanitize() {
  local name=sanitize-$1-${2//[^a-z0-9]/_} log status=0
  log=$out/$name.txt
  ! done_before "$name" || return 0
  limited "$(left)" "$sanitizer" --tool "$1" --error-exitcode 9 \
    "$harness" verify "$2" --device cuda --test-shapes --batch 1 --seq 33 >"$log" 2>&1 || status=$?
  if grep -qi 'not supported' "$log"; then status=2; fi
  case $status in
    0 | 77)
      touch "$out/.done-$name"
      echo "$1 $2: $(grep -E 'SUMMARY' "$log" | tail -n 1)"
      ;;
    1 | 9) not_right "$1 $2: see $log"; return 1 ;;
    124) late "$1 $2" ;;
    *) echo "$1 does not work here: $(grep -m 1 -i 'not supported' "$log" || tail -n 1 "$log")" ;;
  esac
}

# What is checked needs no quiet device here either.
stage_sanitize() {
  local tool kernel pids=()
  sanitizer=$(find_sanitizer)
  if [ -z "$sanitizer" ]; then
    echo "no compute-sanitizer here"
    return
  fi
  for tool in memcheck racecheck; do
    for kernel in "${filter:-layernorm/*/cuda_*}" {pointwise,embedding}/'*/cuda*' \
      {attention,gemm,gpt/nano}/'*/cuda_*'; do
      sanitize "$tool" "$kernel" &
      pids+=($!)
      [ -z "$filter" ] || break
    done
  done
  all_of "${pids[@]}"
}

# profile NAME ARG...: `harness profile` of one benchmark, its operations into the history too.
profile() {
  local name=profile-$1 status=0
  shift
  ! done_before "$name" || return 0
  limited "$(left)" "$harness" profile "$@" --device cuda --counters --launches 1 --timeout 60s \
    --db "$out/history.db" --output "$out/$name" >"$out/$name.txt" 2>"$out/$name.log" || status=$?
  case $status in
    0) ;;
    1) not_right "see $out/$name.log"; return ;;
    124) late "$name"; return ;;
    *) tail -n 3 "$out/$name.log"; return 1 ;;
  esac
  printf '%s: ' "$name"
  grep -E 'warning|no counters|no kernels|dropped' "$out/$name.log" || echo "nothing dropped"
  sed -n '/^Hardware counters/,/^$/p' "$out/$name.txt"
  if grep -rqE '"dropped":[[:space:]]*[1-9]' --include=profile.json "$out/$name"; then
    not_right "$name: records were dropped"
    return
  fi
  touch "$out/.done-$name"
}

stage_profile() {
  local live="$here/../../../libexec/harness/device/activity_live" status=0
  [ -x "$live" ] || live=$(dirname "$harness")/tests/cuda/activity_live
  if [ -x "$live" ]; then
    limited "$(left)" "$live" >"$out/activity_live.txt" 2>&1 || status=$?
    sed 's/^/activities: /' "$out/activity_live.txt"
    case $status in
      0 | 77) ;;
      124) late "activities"; return ;;
      *) not_right "see $out/activity_live.txt" ;;
    esac
  fi
  if [ -n "$filter" ]; then
    profile trial "$filter" --batch 1 --seq 3
    return
  fi
  profile nano gpt/nano/prefill/cuda_cluster_bf16 --batch 4 --seq 64 || return 1
  profile tile-large gpt/tile-large/prefill/cuda_bf16 --batch 4 --seq 64 || return 1
  profile gpt2-decode gpt/gpt2/decode/cuda_bf16 --batch 1 --seq 128 || return 1
  profile gemm gemm/linear/cuda_wgmma_bf16 --batch 1 --seq 4096 --dim n=4096 --dim k=4096 || return 1
  profile gemm-fp32 gemm/linear/cuda_simt --batch 1 --seq 2048 --dim n=2048 --dim k=2048 || return 1
  profile attention attention/causal/cuda_wgmma_bf16 --batch 1 --seq 4096 --dim heads=16 --dim headdim=128 ||
    return 1
  profile layernorm layernorm/plain/cuda_rows --batch 1 --seq 4096 --dim width=4096 || return 1
}

# measure NAME ARG...: one `harness run` into the history, its records as JSON beside it. Further
# launches are for what time is left of $budget.
budget=45s
measure() {
  local name=$1 status=0
  shift
  limited "$(left)" "$harness" run "$@" --db "$out/history.db" --label "$name" --json \
    --timeout 60s --budget "$budget" --output "$out/$name.json" >"$out/$name.log" 2>&1 || status=$?
  echo "$name: $(tail -n 1 "$out/$name.log")"
  case $status in
    0) ;;
    1) not_right "see $out/$name.json" ;;
    124)
      echo "no more time: what was finished is kept"
      ! cut_short || late "$name"
      ;;
    *) tail -n 5 "$out/$name.log"; return 1 ;;
  esac
}

forwards=(gpt/{nano,micro,mini,tile-small,tile-medium,tile-large}/prefill --batch 4 --seq 64)

graph_launches=3
suite=(--suite gpu) anchors=(--suite gpu-anchors) rates=(--aa 20 --suite gpu-rates)
if [ -n "$filter" ]; then
  forwards=("$filter" --batch 1 --seq 3) graph_launches=1
  suite=("${forwards[@]}" --launches 1) anchors=("${suite[@]}")
  rates=(--aa 2 --launches 3 --max-time 20ms "${forwards[@]}")
fi

stage_measure() {
  measure measure-graph "${forwards[@]}" --device cuda:graph --launches $graph_launches --max-time 120ms || return 1
  measure measure-stream "${suite[@]}" --device cuda
}

torch_round() { # NAME SECONDS ARG...
  local name=torch-$1 seconds=$2
  shift 2
  limited "$(left)" python3 "$here/gpu_torch.py" --output "$out/$name.json" --budget "$seconds" \
    --lock "$out/.torch-lock" "$@" >"$out/$name.log" 2>&1 || { tail -n 3 "$out/$name.log"; return 2; }
  echo "$name: $(tail -n 1 "$out/$name.log")"
}

# Compiling takes seconds a model and no GPU: an arithmetic a process, which take their times in turn.
compiled_rounds() {
  local math pids=()
  for math in bf16 tf32 fp32; do
    torch_round "compile-$math" $(($(left) > 40 ? $(left) - 35 : 5)) --parts compile --maths $math &
    pids+=($!)
  done
  all_of "${pids[@]}"
}

stage_anchors() {
  if ! limited "$(left)" python3 -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
    echo "no PyTorch that sees the GPU in python3: no anchors"
    return
  fi
  local budget=25s
  torch_round 1 25 --parts kernels,eager || return 1
  measure anchors-1 "${anchors[@]}" --device cuda || return 1
  torch_round 2 10 --parts kernels || return 1
  compiled_rounds || return 1
  measure anchors-2 "${forwards[@]}" --device cuda:graph --launches 1 --max-time 120ms
}

stage_table() {
  if ! command -v python3 >/dev/null; then
    echo "no python3: see \`harness history list --db $out/history.db\`"
    return
  fi
  local status=0
  limited "$(left)" python3 "$here/gpu_table.py" "$out" >"$out/table.txt" || status=$?
  cat "$out/table.txt"
  case $status in
    0) ;;
    1) not_right "see $out/table.txt" ;;
    *) return 1 ;;
  esac
}

stage_rates() {
  local status=0
  limited "$(left)" "$harness" selftest "${rates[@]}" --device cuda --db "$out/rates.db" \
    >"$out/rates.txt" 2>&1 || status=$?
  tail -n 12 "$out/rates.txt"
  case $status in
    0 | 77) ;;
    124) echo "no more time: the runs are in $out/rates.db, their rate is not" && return 1 ;;
    *) return 1 ;;
  esac
}

# race NAME ARG...: one `harness tune`, each size and variant a race of its own. What is WRONG in one
# is told at the end.
race() {
  local name=tune-$1 status=0
  shift
  ! done_before "$name" || return 0
  limited "$(left)" "$harness" tune "$@" --device cuda --db "$out/history.db" --budget 40s --timeout 60s \
    --json --output "$out/$name.json" >"$out/$name.log" 2>&1 || status=$?
  case $status in
    0 | 1 | 77) touch "$out/.done-$name" ;;
    124) late "$name" ;;
    *) tail -n 3 "$out/$name.log"; return 1 ;;
  esac
}

race_all() {
  local gpt=(--batch 4 --seq 64) rest=0
  if [ -n "$filter" ]; then
    race trial "$filter" --batch 1 --seq 3 --rounds 2
    return
  fi
  race wgmma gemm/linear/cuda_wgmma_{bf16,tf32} --batch 1 --seq 1024 --dim n=768,2304,3072 --dim k=768 || rest=1
  race wgmma-deep gemm/linear/cuda_wgmma_{bf16,tf32} --batch 1 --seq 1024 --dim n=768 --dim k=3072 || rest=1
  race wgmma-small gemm/linear/cuda_wgmma_bf16 "${gpt[@]}" --dim n=256,768,1024 --dim k=256 || rest=1
  race wgmma-square gemm/linear/cuda_wgmma_bf16 --batch 1 --seq 4096 --dim n=4096 --dim k=4096 || rest=1
  race simt gemm/linear/cuda_simt "${gpt[@]}" --dim n=256,768 --dim k=256 || rest=1
  race mma gemm/linear/cuda_{bf16,tf32} "${gpt[@]}" --dim n=256,768 --dim k=256 || rest=1
  race attention attention/causal/cuda_wgmma_bf16 --batch 1 --seq 512,4096 --dim heads=16 --dim headdim=64,128 || rest=1
  race attention-small attention/causal/cuda_flash{,_bf16} "${gpt[@]}" --dim heads=8 --dim headdim=32 || rest=1
  race decode attention/decode/cuda_decode{,_bf16} --batch 1 --seq 1024 --dim heads=12 --dim headdim=64 || rest=1
  race layernorm layernorm/plain/cuda_rows{,_bf16} --batch 1 --seq 4096 --dim width=1024,4096 || rest=1
  return $rest
}

stage_tune() {
  local rest=0 status=0
  race_all || rest=1
  if ! command -v python3 >/dev/null; then
    echo "no python3: see $out/tune-*.json"
    return $rest
  fi
  python3 "$here/gpu_races.py" "$out" >"$out/tune.txt" || status=$?
  cat "$out/tune.txt"
  case $status in
    0) ;;
    1) not_right "see $out/tune.txt" ;;
    *) return 1 ;;
  esac
  return $rest
}

run_stage() {
  case $1 in
    probe) stage_probe ;;
    verify) stage_verify ;;
    sanitize) stage_sanitize ;;
    profile) stage_profile ;;
    measure) stage_measure ;;
    anchors) stage_anchors ;;
    table) stage_table ;;
    rates) stage_rates ;;
    tune) stage_tune ;;
  esac
}

for stage in "${again[@]}"; do
  rm -f "$out/.done-$stage"*
  [ "$stage" != verify ] || rm -f "$out/verification.json"
done
for stage in "${stages[@]}"; do
  printf '\n== %s\n' "$stage"
  if [ -e "$out/.done-$stage" ]; then
    echo "done before; --again $stage does it once more"
    continue
  fi
  started=$SECONDS deadline=$(deadline_of "$stage") before=$wrong wrong=0
  if ! run_stage "$stage"; then
    failed=1
    echo "FAILED: $stage"
  elif [ $wrong -eq 0 ] && [ "$stage" != table ]; then # the table is always of what is there
    touch "$out/.done-$stage"
  fi
  wrong=$((before | wrong))
  echo "== $stage: $((SECONDS - started)) s"
done

tar -C "$(dirname "$out")" -czf "$out.tar.gz" "$(basename "$out")"
printf '\nresults in %s, and all of them in %s.tar.gz: history.db, *.json, table.txt' "$out" "$(basename "$out")"
if [ "$record" = yes ]; then printf '; verification.json belongs to baselines/'; fi
echo
if [ $wrong -eq 1 ]; then
  echo "A CUDA VARIANT IS NOT RIGHT: see above"
  exit 1
fi
exit $((failed * 2))
