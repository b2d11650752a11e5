#!/usr/bin/env bash
# Draws the pictures of the documentation again: those of docs/reading-plots.md and the pages in
# docs/reading-plots/ (plots/*.png), of README.md (roofline.png) and of docs/scale.md (scale.png).
# What they show is measured here, on this machine, in two to five minutes; the nights of the trend are
# made up, the profile with a GPU is tests/fixtures/profile/forward, and the numbers of scale.png are
# those of the table in its page.
#
#   docs/images/draw.sh [OPTION...] [NAME...]       NAME: flame, scale, ...; all without one
#
#   --list             say which files there would be, and draw none
#   --harness PROGRAM  default build/release/harness, else build/dev/harness
#   --work FOLDER      keep the histories there; a second call measures only what is missing
#   --output FOLDER    default docs/images
#
# pngquant, where it is installed, makes the files three times smaller.
set -euo pipefail
here=$PWD
cd "$(dirname "$0")/../.."
# shellcheck source=ci/lib.sh
source ci/lib.sh
libraries_choose

# FILE, the figure of `harness list figures`, and the function below that makes its data.
pictures='
plots/architecture               architecture              models
plots/bottlenecks                bottlenecks               gpu
plots/comparison                 comparison                sides
plots/comparison-bars            comparison-bars           sides
plots/distribution-box           distribution-box          ci
plots/distribution-ecdf-kernels  distribution-ecdf-kernels ci
plots/duration-launches          duration-launches         gpu
plots/efficiency                 efficiency                models
plots/flame                      flame                     gpu
plots/heatmap-kernels            heatmap-kernels           maps
plots/heatmap-sizes              heatmap-sizes             maps
plots/intensity                  intensity                 ci
plots/iterations                 iterations                ci
plots/latency-kernels            latency-kernels           ci
plots/layer-times                layer-times               cpu
plots/memory                     memory                    ci
plots/memory-timeline            memory-timeline           gpu
plots/operations                 operations                cpu
plots/overview                   overview                  sides
plots/pareto                     pareto                    models
plots/percentiles-kernels        percentiles-kernels       ci
plots/quantiles-kernels          quantiles-kernels         ci
plots/runs-latency               runs-latency              runs
plots/runs-latency-kernels       runs-latency-kernels      runs
plots/sizes-gemm                 sizes-gemm                sizes
plots/speedup                    speedup                   sides
plots/speedup-variants           speedup-variants          sizes
plots/telemetry                  telemetry                 ci
plots/throughput-kernels         throughput-kernels        ci
plots/time-split                 time-split                gpu
plots/timeline                   timeline                  gpu
plots/trend                      trend                     nights
roofline                         roofline                  ci
scale                            -                         table
'

# ---- what is measured: each function fills $db with the runs that plot_arguments() names ----

# A core of its own: threads that share one with other programs wait for each other in every
# barrier, and a picture of a shared machine would show only that.
device=cpu:1

harness() { "$program" "$@"; }

# run LABEL SUITE OPTION...: the suite is a name or a file below $work.
run() {
  local label=$1 suite=$2
  [ ! -e "$work/$suite.json" ] || suite=$work/$suite.json
  harness run --suite "$suite" --device "$device" --db "$db" --label "$label" "${@:3}" >/dev/null
}

# suite NAME LAUNCHES SELECTION...: a suite file.
suite() {
  local name=$1 launches=$2 IFS=,
  shift 2
  printf '{ "name": "%s", "launches": %d, "select": [ %s ],
  "sampling": { "min_time": "10ms", "max_time": "100ms", "warmup": "10ms" } }\n' \
    "$name" "$launches" "$*" >"$work/$name.json"
}

# select FILTERS DIMS [VARIANTS]: JSON lists without their brackets.
select_json() {
  printf '{ "filters": [%s], "variants": [%s], "dims": {%s} }' "$1" "${3:-\"simd\"}" "$2"
}

products=$(select_json '"gemm/linear"' '"batch": [1], "seq": [256], "n": [256], "k": [256]')
attention=$(select_json '"attention/full", "attention/causal"' \
  '"batch": [4], "seq": [64], "heads": [8], "headdim": [32]')
elementwise=$(select_json '"layernorm/plain", "layernorm/residual", "pointwise/gelu", "pointwise/residual"' \
  '"batch": [4], "seq": [64], "width": [1024]')

measure_ci() { run ci ci; }

# A longer sequence makes better use of weights that come from memory, and takes longer.
measure_models() {
  suite models 5 "$(select_json '"gpt/nano/prefill", "gpt/tile-small/prefill", "gpt/tile-medium/prefill"' \
    '"batch": [1], "seq": [2, 8, 32, 128]')"
  run models models
}

measure_maps() {
  local sizes='"batch": [1, 2, 4], "seq": [32, 64, 128, 256]'
  suite maps 3 "$(select_json '"attention/causal"' "$sizes, \"heads\": [8], \"headdim\": [32]")" \
    "$(select_json '"layernorm/plain", "pointwise/gelu", "pointwise/residual"' \
      "$sizes, \"width\": [1024]")"
  run maps maps
}

measure_sizes() {
  local n all=()
  for n in 32 64 96 128 192 256 384 512; do
    all+=("$(select_json '"gemm/linear"' "\"batch\": [1], \"seq\": [$n], \"n\": [$n], \"k\": [$n]" \
      '"naive", "simd", "openblas"')")
  done
  suite sizes 5 "${all[@]}"
  run sizes sizes
}

# The best instruction set of this machine, and a slower one.
isa() { harness list machines | sed -n '2s/.* cores, \([^,]*\),.*/\1/p'; }
slower_isa() { if [ "$(isa)" = avx512 ]; then echo avx2; else echo portable; fi; }

# Two builds of one code, as far as a reader of the pictures is concerned.
measure_runs() {
  suite runs 5 "$products" "$attention" "$elementwise" \
    "$(select_json '"gpt/nano/prefill", "gpt/tile-small/prefill"' '"batch": [1], "seq": [2, 32]')"
  HARNESS_ISA=$(slower_isa) run "$(slower_isa)" runs
  run "$(isa)" runs
}

# Of the two sides each has something faster. Measured in turn, ABBA: a comparison of one run with
# one could tell no change of the code from a change of the machine.
measure_sides() {
  local slow side sides
  slow=$(slower_isa)
  suite first 2 "$products" "$(select_json '"attention/full"' \
    '"batch": [4], "seq": [64], "heads": [8], "headdim": [32]')"
  suite second 2 "$elementwise"
  suite third 2 "$(select_json '"attention/causal"' \
    '"batch": [4], "seq": [64], "heads": [8], "headdim": [32]')" \
    "$(select_json '"gpt/nano/decode"' '"batch": [1], "seq": [64]')"
  for sides in 'before after' 'after before' 'before after' 'after before' 'before after' 'after before'; do
    for side in $sides; do
      case $side in
        before) HARNESS_ISA=$slow run before first && run before second ;;
        after) run after first && HARNESS_ISA=$slow run after second ;;
      esac
      run "$side" third
    done
  done
}

# nights FOLDER: Google Benchmark's JSON of twenty nights that never were, three launches each. A
# sort is a fifth slower from the eleventh on, a hash a tenth faster from the seventh, a search
# creeps up.
nights() {
  awk -v folder="$1" '
    # Uniform in (-0.5, 0.5), the same in every awk (Park and Miller).
    function noise() { seed = seed * 16807 % 2147483647; return seed / 2147483647 - 0.5 }
    function change(name, night) {
      if (name == "BM_sort") return night < 11 ? 1 : 1.2
      if (name == "BM_hash") return night < 7 ? 1 : 0.9
      return name == "BM_search" ? 1 + 0.006 * night : 1
    }
    function sample(name, time) {
      return sprintf("{\"name\":\"%s\",\"run_type\":\"iteration\",\"iterations\":1000,\"real_time\":%.6f," \
        "\"cpu_time\":1,\"time_unit\":\"us\"}", name, time * (1 + 0.05 * noise()))
    }
    BEGIN {
      seed = 20260301
      all = split("BM_sort BM_hash BM_search BM_parse", name, " ")
      for (night = 1; night <= 20; night++)
        for (launch = 1; launch <= 3; launch++) {
          file = sprintf("%s/night-%d-%d.json", folder, night, launch)
          printf "{\"context\":{\"num_cpus\":2},\"benchmarks\":[" >file
          for (i = 1; i <= all; i++) {
            time = 20 * i * change(name[i], night) * (1 + 0.015 * noise())
            for (k = 0; k < 25; k++) printf "%s%s", (i + k > 1 ? "," : ""), sample(name[i], time) >file
          }
          print "]}" >file
          close(file)
        }
    }'
}

measure_nights() {
  local n
  nights "$work"
  for n in $(seq 20); do
    harness import "$work/night-$n"-?.json --db "$db" --label nightly --machine this --branch main \
      --commit "$(printf '%07x%033d' $((n * 48271 * 2741 % 268435456)) 0)" --date "$(printf '2026-03-%02dT03:00:00Z' "$n")" >/dev/null
  done
  harness history annotate 15 "the machine got a new fan" --db "$db" >/dev/null
}

measure_cpu() {
  harness profile gpt/tile-small/prefill --batch 1 --seq 64 --device "$device" --db "$db" \
    --output "$work/tile-small" >/dev/null
}

# The name of a profile is that of its folder.
measure_gpu() { mkdir -p "$work/nano" && cp tests/fixtures/profile/forward/trace.json "$work/nano"; }

# What of it `harness plot` is to draw.
plot_arguments() {
  case $1 in
    runs) arguments=("$(slower_isa)" "$(isa)") ;;
    sides) arguments=(after --baseline before) ;;
    nights) arguments=(nightly) ;;
    cpu) arguments=(--profile "$work/tile-small") ;;
    gpu) arguments=(--profile "$work/nano") ;;
    *) arguments=("$1") ;;
  esac
}

# ---- drawing ----

measured() { # SOURCE: once for each folder
  db=$work/$1.db
  [ -e "$work/$1.done" ] && return
  echo "$1: measuring"
  rm -f "$db"
  "measure_$1"
  touch "$work/$1.done"
}

# draw SOURCE FIGURE...: into $work/SOURCE. PNGs of 1600 pixels are enough for a page.
draw() {
  local source=$1 names arguments figure width
  shift
  names=$(IFS=, && echo "$*")
  measured "$source"
  plot_arguments "$source"
  harness plot "${arguments[@]}" --only "$names" --format svg --db "$db" -o "$work/$source" >/dev/null
  for figure; do
    [ -e "$work/$source/$figure.gp" ] || {
      sed -n '/^Absent/,$p' "$work/$source/summary.txt" >&2
      exit 1
    }
    width=$(sed -n 's/.*\<width = \([0-9.]*\).*/\1/p' "$work/$source/$figure.gp" | head -n 1)
    (cd "$work/$source" && gnuplot -e "scale = 1600./$width" "$figure.gp")
  done
}

draw_scale() {
  # A table of fewer columns is another one.
  awk -F'|' '/^\| [0-9,]+ \|/ && NF == 9 { gsub(/[ ,]/, ""); print $2, $3, $4, $5, $6, $7, $8 }' docs/scale.md \
    >"$work/scale.dat"
  gnuplot -e "data = '$work/scale.dat'; file = '$work/scale.png'" docs/images/scale.gp
}

# keep PNG FILE
keep() {
  mkdir -p "$(dirname "$2")"
  if command -v pngquant >/dev/null; then
    pngquant --nofs --speed 1 --force --output "$2" 256 "$1"
  else
    cp "$1" "$2"
  fi
}

chosen() { # the lines of $pictures that are wanted
  local file figure source
  while read -r file figure source; do
    [ -n "$file" ] || continue
    [ ${#names[@]} -eq 0 ] || [[ " ${names[*]} " == *" ${file##*/} "* ]] || continue
    echo "$file $figure $source"
  done <<<"$pictures"
}

draw_all() {
  local source file figure from
  for source in $(chosen | awk '!seen[$3]++ { print $3 }'); do
    if [ "$source" = table ]; then
      draw_scale
    else
      # shellcheck disable=SC2046  # names
      draw "$source" $(chosen | awk -v of="$source" '$3 == of && !seen[$2]++ { print $2 }')
    fi
  done
  while read -r file figure source; do
    from=$work/$source/$figure.png
    [ "$source" != table ] || from=$work/$file.png
    keep "$from" "$output/$file.png"
    echo "$output/$file.png"
  done < <(chosen)
}

absolute() { case $1 in /*) echo "$1" ;; *) echo "$here/$1" ;; esac; }

program='' work='' output=docs/images list='' names=()
while [ $# -gt 0 ]; do
  case $1 in
    --list) list=1 ;;
    --harness) program=$(absolute "$2") && shift ;;
    --work) work=$(absolute "$2") && shift ;;
    --output) output=$(absolute "$2") && shift ;;
    -h | --help) sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//p}' "$0" && exit ;;
    -*) echo "draw.sh: unknown option $1; see --help" >&2 && exit 2 ;;
    *) names+=("$1") ;;
  esac
  shift
done
[ -n "$(chosen)" ] || {
  echo "draw.sh: there is no picture ${names[*]}; see --list" >&2
  exit 2
}
if [ -n "$list" ]; then
  chosen | awk '{ print $1 ".png" }'
  exit
fi
if [ -z "$program" ]; then
  program=build/release/harness
  [ -x $program ] || program=build/dev/harness
fi
[ -x "$program" ] || {
  echo "draw.sh: there is no $program; build it, or name another with --harness" >&2
  exit 2
}
if [ -z "$work" ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi
mkdir -p "$work"
draw_all
