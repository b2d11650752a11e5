# shellcheck shell=bash
# shellcheck disable=SC2317  # pages call what is defined here
# What the settings of pages (NAME.sh) are written in; sourced by session.sh.
: >"$WORK/patterns"
: >"$WORK/not-run"

skip() {
  echo "SKIPPED: $*"
  exit 77
}

need_tools() {
  local tool
  for tool in "$@"; do command -v "$tool" >/dev/null || skip "there is no $tool here"; done
}

# not_run PATTERN REASON: commands that match are not executed. A pattern that none matches is an
# error, and "maybe: REASON" is none.
not_run() { printf '%s\t%s\n' "$1" "$2" >>"$WORK/patterns"; }

# reason_not_to_run COMMAND: prints the reason, or fails.
reason_not_to_run() {
  local pattern reason
  while IFS=$'\t' read -r pattern reason; do
    # shellcheck disable=SC2053  # a pattern
    if [[ $1 == $pattern ]]; then
      echo "$pattern" >>"$WORK/not-run"
      echo "${reason#maybe: }"
      return
    fi
  done <"$WORK/patterns"
  return 1
}

unused_patterns() {
  local pattern reason status=0
  while IFS=$'\t' read -r pattern reason; do
    [[ $reason != maybe:* ]] || continue
    grep -qxF -- "$pattern" "$WORK/not-run" && continue
    echo "no command is like \"$pattern\" any more"
    status=1
  done <"$WORK/patterns"
  return $status
}

set_status() { return "$1"; }

# check WHAT COMMAND...: what the page does not show.
check() {
  local what=$1
  shift
  if "$@" >"$WORK/check" 2>&1; then
    echo "yes: $what"
  else
    echo "NO: $what"
    cat "$WORK/check"
    touch "$WORK/failed"
  fi
}
not() { ! "$@"; }

# output_of TEXT: where the output of the page's first command lies that has this text.
output_of() {
  local step
  step=$(grep -lF -- "$1" "$STEPS"/*.sh | head -n 1)
  echo "${step%.sh}.out"
}

# wait_for COMMAND...: until it succeeds, at most 20 s.
wait_for() {
  local tries=0
  until "$@" >/dev/null 2>&1; do
    tries=$((tries + 1))
    [ $tries -lt 400 ] || return 1
    sleep 0.05
  done
}

# This build, installed into ~/.local/harness. (Pages say how it is built from a clone, which takes
# minutes: it lies there already, and ci/install.sh finds nothing to do.)
installed() {
  [ -e "$BUILD_TREE/CMakeCache.txt" ] || skip "$BUILD_TREE is no build tree"
  "$CMAKE" --install "$BUILD_TREE" --prefix "$HOME/.local/harness" >"$WORK/install" 2>&1 || {
    cat "$WORK/install"
    exit 1
  }
  git -C "$SOURCE_TREE" rev-parse HEAD 2>/dev/null | sed 's/$/ /' \
    >"$HOME/.local/harness/share/harness/commit"
}

# `harness` alone, in the path.
in_path() {
  mkdir -p "$HOME/bin"
  ln -sf "$BUILT" "$HOME/bin/harness"
  PATH=$HOME/bin:$PATH
}

# The clone of harness that a reader has, in ~/harness. No network is asked.
clone_from_here() {
  need_tools git
  git config --global --add safe.directory '*'
  git -C "$SOURCE_TREE" rev-parse --verify --quiet HEAD >/dev/null || skip "this tree is no clone"
  git clone --quiet "file://$SOURCE_TREE" "$HOME/harness"
}

# project NAME: a git repository of the reader's, and into it.
project() {
  need_tools git
  git -c init.defaultBranch=main init -q "$HOME/$1"
  cd "$HOME/$1" || exit 1
}

# fake LABEL [SETTINGS]: a run of the device with a scripted clock, for pages that begin with a
# history.
fake() {
  harness run null/copy/right --device "fake:base=2000,seed=3${2:+,$2}" --launches 5 --iterations 20 \
    --label "$1" >"$WORK/fake" 2>&1 || { cat "$WORK/fake" && exit 1; }
}

# `harness serve` ends by itself after two seconds, as by Ctrl+C, and listens where nobody does;
# `harness run` and `harness profile` make one short launch where the page does not say how many.
# In the foreground, timeout sends its signal once: the second one, to the group, would kill.
impatient() {
  harness() {
    case $1 in
      serve) timeout --foreground --preserve-status --signal=INT 2 "$BUILT" "$@" --port 0 ;;
      run)
        case " $* " in
          *' --launches '*' -- '*) "$BUILT" run --max-time 100ms "${@:2}" ;;
          *' --launches '*) "$BUILT" "$@" ;;
          *' -- '*) "$BUILT" run --launches 2 --max-time 100ms "${@:2}" ;;
          *) "$BUILT" "$@" --launches 1 --iterations 3 ;;
        esac
        ;;
      compare) # values of a parameter that hardly differ
        case " $* " in
          *' --runs '* | *' --budget '*) "$BUILT" "$@" ;;
          *' --param '*' -- '*) "$BUILT" compare --budget 5s "${@:2}" ;;
          *) "$BUILT" "$@" ;;
        esac
        ;;
      profile)
        case " $* " in
          *' --diff '* | *' --import '*) "$BUILT" "$@" ;;
          *) "$BUILT" "$@" --launches 1 --iterations 3 ;;
        esac
        ;;
      *) "$BUILT" "$@" ;;
    esac
  }
}

# A machine without gnuplot draws nothing.
pictures_maybe() {
  command -v gnuplot >/dev/null || not_run '*harness* plot *' 'maybe: there is no gnuplot here'
}

# A project with three Google Benchmarks, as somebody has it; its times are made up, with a little
# noise from process to process: how busy this machine is must not matter.
google_benchmarks() {
  need_tools c++ cmake
  [ -e /usr/include/benchmark/benchmark.h ] || skip "Google Benchmark has no headers here"
  project "$1"
  cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.16)
project(toy CXX)
find_package(benchmark REQUIRED)
add_executable(bench bench.cc)
target_link_libraries(bench benchmark::benchmark_main)
END
  cat >bench.cc <<'END'
#include <benchmark/benchmark.h>
#include <unistd.h>
static void work(benchmark::State &state, double microseconds)
{
    double noise = 1 + 0.002 * (getpid() % 7);
    for (auto _ : state)
        state.SetIterationTime(microseconds * 1e-6 * noise);
}
static void BM_sum(benchmark::State &state) { work(state, 200); }
static void BM_sort(benchmark::State &state) { work(state, 300); }
static void BM_parse(benchmark::State &state) { work(state, 400); }
BENCHMARK(BM_sum)->UseManualTime();
BENCHMARK(BM_sort)->UseManualTime();
BENCHMARK(BM_parse)->UseManualTime();
END
  printf '%s\n' harness-pr nightly 'nightly.*' backup.db >.gitignore
  git add .
  git commit -q -m 'Three benchmarks'
}

# gbench_json N DATE NR SLOW NAME...: a file of Google Benchmark's, the N-th of many; the benchmark
# number NR takes SLOW times as long.
gbench_json() {
  awk -v n="$1" -v date="$2" -v nr="$3" -v slow="$4" -v names="${*:5}" '
    # Uniform in (-0.5, 0.5), the same in every awk (Park and Miller).
    function noise(seed, i) { for (i = 0; i < 9; i++) seed = seed * 16807 % 2147483647
      return seed / 2147483647 - 0.5 }
    BEGIN {
      printf "{\"context\":{\"date\":\"%s\",\"num_cpus\":2},\"benchmarks\":[", date
      all = split(names, name, " ")
      for (i = 1; i <= all; i++)
        printf "%s{\"name\":\"%s\",\"run_type\":\"iteration\",\"iterations\":1000," \
          "\"real_time\":%.6f,\"cpu_time\":1,\"time_unit\":\"us\"}", (i > 1 ? "," : ""),
          name[i], 20 * i * (1 + 0.006 * noise(n * 7919 + i * 104729)) * (i == nr ? slow : 1)
      print "]}"
    }'
}

# The change that makes one of them slower.
sort_twice() {
  sed -i 's/300/600/' bench.cc
  git commit -q -a -m 'Sort twice, to be sure'
}

# A forge on loopback; forge JQ-PROGRAM looks at its state, forge_set changes it.
forge_start() {
  need_tools python3 jq curl
  echo '{"pulls": {}, "notes": [], "issues": [], "log": []}' >"$WORK/forge.json"
  python3 "$GUIDES/../ci/fake_forge.py" "$WORK/forge.json" "$WORK/forge.port" &
  wait_for test -s "$WORK/forge.port" || { echo "the fake forge does not start"; exit 1; }
  GITHUB_API_URL=http://127.0.0.1:$(cat "$WORK/forge.port")
  export GITHUB_API_URL GITHUB_REPOSITORY=ada/project
}
forge() { jq -r "$@" "$WORK/forge.json"; }
forge_set() {
  jq "$@" "$WORK/forge.json" >"$WORK/forge.new"
  mv "$WORK/forge.new" "$WORK/forge.json"
}
