#!/usr/bin/env bash
# How often the largest logit stays the same in bf16 and int8: the table of
# docs/performance-cpu-narrow.md, a line a model, by `harness model agree`.
#
#   agreement.sh [--seed N] [MODEL...]
#
# Weights and 1,000 tokens are those of the seed (default 7), models all of `harness model` (minutes,
# and 3 GB for gpt2). "by rounding" is fp32's own arithmetic on weights that are rounded alike: what
# no kernel of the type can better. "oracle" is the largest error of a step behind 64 tokens in int8
# against the float64 oracle of the weights as they are, over the logits' rms. In bf16 a processor with
# vdpbf16ps rounds the activations, too: HARNESS_ISA=avx512 takes the form that does not. HARNESS names
# a program to take instead of the built one.
#
# Exit status: 0; 2 if something failed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
harness=${HARNESS:-$here/../build/release/harness}
seed=7
models=()
while [ $# -gt 0 ]; do
  case $1 in
    --seed) seed=$2; shift ;;
    -h|--help) sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
    -*) "$0" --help >&2; exit 2 ;;
    *) models+=("$1") ;;
  esac
  shift
done
[ -x "$harness" ] || { echo "agreement.sh: no program $harness: build it, or set HARNESS" >&2; exit 2; }
if [ ${#models[@]} -eq 0 ]; then
  mapfile -t models < <("$harness" model --json |
    python3 -c 'import json, sys; print(*(m["name"] for m in json.load(sys.stdin)), sep="\n")')
fi

cells='import json, sys
record = json.load(sys.stdin)
a, w = record["agreement"], record["rounded_weights"]
print("%.1f %%" % (100 * a["same"] / a["tokens"]), "%.1f %%" % (100 * w["same"] / w["tokens"]),
      "%.2f %%" % (100 * a["rms_error"]), "%d of %d" % (a["clear_same"], a["clear"]),
      sep=" | ", end=" |")'

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
step_error() {
  HARNESS_ROOFS=quick "$harness" run "gpt/$1/decode/simd_int8" --device cpu:1 --batch 1 --seq 64 --launches 1 \
    --iterations 1 --seed "$seed" --db "$work/history.db" --json 2>"$work/said" |
    python3 -c 'import json, sys
(m,) = json.load(sys.stdin)["runs"][0]["measurements"]
print("%.1f %%" % (100 * m["telemetry"]["weights_error"]))' || { cat "$work/said" >&2; return 1; }
}

echo "| model | int8 | by rounding | rms error | where clear | oracle | bf16 | by rounding | rms error | where clear |"
echo "|---|---|---|---|---|---|---|---|---|---|"
for model in "${models[@]}"; do
  line="| $model |"
  for backend in simd_int8 simd_bf16; do
    record=$("$harness" model agree --model "$model" --backend "$backend" --seed "$seed" --json) || exit 2
    line+=" $(python3 -c "$cells" <<<"$record")"
    [ $backend = simd_bf16 ] || line+=" $(step_error "$model") |"
  done
  echo "$line"
done
