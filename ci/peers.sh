#!/usr/bin/env bash
# Own CPU kernels and forwards beside OpenBLAS, BLIS, oneDNN, ggml and PyTorch, in one go.
#
#   peers.sh [--quick | --suite NAME...] [--threads LIST] [--output DIR] [--keep FILE] [STAGE...]
#
#   install   the peers, from the distribution, and ggml by npm; says what to do where it cannot
#   build     the release preset
#   run       the suites, for each number of threads, verified and sampled alike, into history.db
#   table     ratios, targets and whether they were reached, then type by type our bf16 and int8
#             beside our fp32 and beside peers of that type, as Markdown; page.md has the same in the
#             form of docs/performance-cpu-records.md
#
# All stages by default. --quick takes suite peers, a few sizes, about nine minutes a number of threads; else suites
# peers-gemm, -attention, -forward and -gpt2, an hour and a half, or those that --suite names: the
# table is of all that have been run. --threads 1,2 is the default, as far as there are cores. Results
# go to peers-results: history.db, run-*.json, table.md, table.json, page.md. HARNESS names a program
# to take instead of the built one.
#
# --keep docs/performance/NAME.json keeps what the table says; ci/peers_page.py then writes the tables
# of the pages by the kept ones. Nothing is kept where a result was not right.
#
# Exit status: 0, also where a target was missed or a peer is absent; 1 if a result was WRONG or
# FAILED; 2 if something else failed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=ci/lib.sh
source "$here/lib.sh"
all=(install build run table)
usage() { sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "$0"; }

suites=() threads='' out=peers-results kept='' stages=()
while [ $# -gt 0 ]; do
  case $1 in
    --quick) suites=(peers) ;;
    --suite) suites+=("$2"); shift ;;
    --threads) threads=$2; shift ;;
    --output) out=$2; shift ;;
    --keep) kept=$2; shift ;;
    -h|--help) usage; exit 0 ;;
    -*) usage >&2; exit 2 ;;
    *) stages+=("$1") ;;
  esac
  shift
done
for stage in "${stages[@]}"; do
  [[ " ${all[*]} " == *" $stage "* ]] || { echo "peers.sh: no stage $stage; there are: ${all[*]}" >&2; exit 2; }
done
[ ${#stages[@]} -gt 0 ] || stages=("${all[@]}")
[ ${#suites[@]} -gt 0 ] || suites=(peers-gemm peers-attention peers-forward peers-gpt2)
mkdir -p "$out"
out=$(cd "$out" && pwd)

# The names differ between releases: of each line the first one that the distribution knows.
peer_packages() {
  local line candidate
  while read -r line; do
    for candidate in $line; do
      if apt-cache show "$candidate" >/dev/null 2>&1; then echo "$candidate"; break; fi
    done
  done <<'END'
libblis4-openmp
libdnnl3 libdnnl3.6 libdnnl2
libopenblas0-pthread
python3-torch
libpython3.14 libpython3.13 libpython3.12 libpython3.11
END
}

# ggml is no package of Debian 12; npm has it prebuilt. Nothing of the system changes.
ggml=$here/../build/ggml
fetch_ggml() {
  local said
  if said=$("$here/ggml.sh" "$ggml"); then
    echo "ggml is in $said"
  else
    echo "no ggml, left out of the table; ${said:-ci/ggml.sh says why}"
  fi
}

# For the program, where the user names no other.
name_ggml() {
  local libraries=$ggml/node_modules/@node-llama-cpp/linux-x64/bins/linux-x64
  if [ -z "${HARNESS_GGML:-}" ] && [ -d "$libraries" ]; then export HARNESS_GGML=$libraries; fi
}

is_installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null || true)" = installed ]; }

stage_install() {
  fetch_ggml
  if ! command -v apt-get >/dev/null; then
    echo "no apt-get here: install BLIS, oneDNN, OpenBLAS, PyTorch and a shared libpython yourself;"
    echo "what is absent is left out of the table"
    return
  fi
  local package missing=()
  for package in $(peer_packages); do
    is_installed "$package" || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    echo "every peer that the distribution has is installed"
  elif [ "$(id -u)" -ne 0 ]; then
    echo "peers are missing, and are left out of the table. To install them:"
    echo "  sudo apt-get update && sudo apt-get install --no-install-recommends ${missing[*]}"
  elif ! { apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
    apt-get install --yes --no-install-recommends -qq "${missing[@]}" >"$out/install.log" 2>&1; }; then
    echo "could not install ${missing[*]} (see $out/install.log): left out of the table"
  else
    echo "installed ${missing[*]}"
  fi
}

stage_build() {
  (cd "$here/.." && cmake --preset release >"$out/build.log" && cmake --build --preset release >>"$out/build.log") ||
    { tail -n 20 "$out/build.log"; return 1; }
  tail -n 1 "$out/build.log"
}

versions() {
  local package
  if command -v dpkg-query >/dev/null; then
    for package in $(peer_packages); do
      if is_installed "$package"; then dpkg-query -W -f='${Package} ${Version}\n' "$package"; fi
    done
  fi
  package=${HARNESS_GGML:-}/../../package.json # of npm's
  if [ -r "$package" ]; then sed -n 's/^  "\(name\|version\)": "\(.*\)",$/\2/p' "$package" | paste -sd ' '; fi
}

# run_suite SUITE THREADS
run_suite() {
  local name=$1-cpu-$2 status=0
  "$harness" run --suite "$1" --device "cpu:$2" --db "$out/history.db" --label "$1" --json \
    --output "$out/run-$name.json" >"$out/$name.log" 2>&1 || status=$?
  echo "$name: $(tail -n 1 "$out/$name.log")"
  case $status in
    0) ;;
    1) wrong=1; echo "NOT RIGHT: see $out/run-$name.json" ;;
    *) tail -n 5 "$out/$name.log"; return 1 ;;
  esac
}

stage_run() {
  local suite count
  harness=${HARNESS:-$here/../build/release/harness}
  [ -x "$harness" ] || { echo "peers.sh: no program $harness: build it, or set HARNESS" >&2; return 1; }
  libraries_choose
  [ -n "$threads" ] || threads=$([ "$(nproc)" -gt 1 ] && echo 1,2 || echo 1)
  name_ggml
  versions >"$out/versions.txt"
  for suite in "${suites[@]}"; do
    for count in ${threads//,/ }; do
      run_suite "$suite" "$count" || return 1
    done
  done
}

stage_table() {
  local status=0
  python3 "$here/peers_table.py" "$out" >"$out/table.md" || status=$?
  cat "$out/table.md"
  if [ "$status" -eq 1 ]; then
    wrong=1
    return 0
  fi
  [ "$status" -eq 0 ] || return "$status"
  [ -z "$kept" ] || python3 "$here/peers_page.py" --keep "$kept" "$out"
}

run_stage() {
  case $1 in
    install) stage_install ;;
    build) stage_build ;;
    run) stage_run ;;
    table) stage_table ;;
  esac
}

wrong=0
for stage in "${stages[@]}"; do
  printf '\n== %s\n\n' "$stage"
  if ! run_stage "$stage"; then
    echo "FAILED: $stage" >&2
    exit 2
  fi
done
printf '\nresults in %s: history.db, run-*.json, table.md, table.json, page.md\n' "$out"
exit $wrong
