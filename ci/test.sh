#!/usr/bin/env bash
# Sets up, builds and tests. Safe to repeat. nvcc takes part where it is found; the CUDA kernels run
# on the CPU in the stage `sanitize`.
#
#   ci/test.sh                setup build quick perf: unit, cli, statistics and perf tests
#   ci/test.sh all            what CI runs: format, scripts, every test, the page, clang's warnings
#                             and clang-tidy, the sanitizers, threads, another processor; on a slow
#                             machine without the parts that it names ("left out: ...")
#   ci/test.sh STAGE...       setup format scripts build quick test perf tidy sanitize threads
#                             aarch64; by name only: architectures web fuzz analyze valgrind
#                             reliability reproducible
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=ci/lib.sh
. "$here/lib.sh"
help_if_asked "$@"
cd "$here/.."
jobs=$(nproc)
# Tests at a time: more than processors, since a test waits for more than half of its time: for the
# disk, a time limit or an answer. Those of many threads count as two (PROCESSORS), those that judge
# times are alone (RUN_SERIAL).
tests_at_once=$((2 * jobs + 1))

# Of the trials of statistics and of kills at random moments: enough to see that a rate has not left
# its bound; `ctest -L statistics` alone makes all of them.
export HARNESS_TRIALS=${HARNESS_TRIALS:-0.3}

# Where python3 is a script that looks for one of several (pyenv's), the one that it finds: tests start
# Python hundreds of times, and looking takes ten times as long as starting.
if python=$(command -v python3) && [ "$(head -c 2 "$python")" = '#!' ] &&
  python=$(python3 -c 'import sys; print(sys.executable)'); then
  export PATH="${python%/*}:$PATH"
fi

sources() { git ls-files '*.c' '*.h' '*.cc' '*.cu' '*.cuh'; }

began=0 # in seconds since this script did: what is fetched says nothing of how fast a machine is
stage_setup() {
  ci/setup.sh --tests
  began=$SECONDS
}

stage_format() { sources | xargs clang-format --dry-run --Werror; }

stage_scripts() {
  git ls-files 'ci/*.sh' 'ci/*.sbatch' .ci/run 'cmake/*.sh' 'tests/*.sh' 'tests/*.bash' 'docs/*.sh' | xargs -r shellcheck || return 1
  # It may end who writes into its pipe, and pipefail takes that for nothing found.
  ! git grep -nE '\| *grep -q' -- 'ci/*.sh' 'cmake/*.sh'
}

# in_time MINUTES WHAT: false, and said, where more have gone since the setup. Of what a machine that
# takes three times as long cannot do before its CI is ended, these parts are the first to go.
in_time() {
  local gone=$(((SECONDS - began) / 60))
  [ $gone -ge "$1" ] || return 0
  echo "left out: $2: $gone minutes are gone, and they begin within $1; the stage alone runs all"
  return 1
}

# configure PRESET [ARG...]: with ccache, where it is, which keeps what a compiler made of the same text in
# any folder. A machine that has seen none before compiles all of it.
configure() {
  local kept=()
  if command -v ccache >/dev/null; then
    export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
    kept=(-DCMAKE_{C,CXX,CUDA}_COMPILER_LAUNCHER=ccache --no-warn-unused-cli)
  fi
  cmake --preset "$1" --log-level=WARNING "${kept[@]}" "${@:2}" >/dev/null
}

# build PRESET [ARG...]: all of it, configured with ARG
build() {
  configure "$@"
  cmake --build --preset "$1"
}

# Where no GPU is, nothing of CUDA is run: its kernels are compiled for the newest architecture, and
# the stage `architectures` does so for all.
stage_build() {
  if [ -e /dev/nvidiactl ]; then build dev; else build dev -DCMAKE_CUDA_ARCHITECTURES=90-real; fi
}

stage_architectures() {
  cmake --preset cuda --log-level=WARNING >/dev/null
  cmake --build --preset cuda
  ctest --preset cuda --tests-regex '^cuda\.(resources|machine_code)$'
}

# Of the tests that have just run: what they left out for the lack of a tool, and why.
tell_skipped() { grep -h '^skipped: ' build/dev/Testing/Temporary/LastTest.log | sort | uniq -c || true; }

# The tests of the program itself, without those of ci/'s scripts, of packages, of the pages and of hard
# knocks.
stage_quick() {
  OMP_WAIT_POLICY=passive ctest --preset dev --label-regex '^(unit|cli|statistics)$' \
    --label-exclude '^(reliability|package)$' --parallel "$tests_at_once"
  tell_skipped
}

# What the stages `sanitize` and `threads` run is built beside the stage `test`, whose tests wait for
# much of their time, at the lowest priority. The stage `join` waits for it, before anything is measured.
ahead=
stage_ahead() {
  mkdir -p build
  set -m # a group of processes of its own, that ends with this script
  (
    renice -n 19 -p "$BASHPID" >/dev/null
    build cuda-host
    build_threads
  ) >build/ahead.log 2>&1 &
  ahead=$!
  set +m
  trap 'kill -- "-$ahead" 2>/dev/null || true' EXIT
}

stage_join() {
  local status=0
  [ -n "$ahead" ] || return 0 # nothing was begun
  wait "$ahead" || status=$?
  ahead=
  trap - EXIT # its number may be somebody else's from now on
  [ "$status" -eq 0 ] || cat build/ahead.log
  return "$status"
}

# Of the lines on its input those that have another day of the week. In turn by the alphabet, so that of a
# family each day has some.
other_days() { LC_ALL=C sort | awk -v day="$(($(date +%s) / 86400))" '(NR - 1 + day) % 7'; }

lately() { git log -30 --name-only --format= | sort -u; }

# Regular expressions of the tests of what the last commits have touched: a file's own, and by its name, its
# room or its folder what judges it.
touched_tests() {
  local files
  files=$(lately)
  {
    echo "$files"
    sed -nE 's#^harness/([a-z_]+)/.*#tests/\1/test_*#p' <<<"$files" | sort -u | xargs -r git ls-files --
  } | sed -nE '
    s#^tests/[a-z_]+/test_([a-z0-9_]+)\..*#unit.\1#p
    s#^tests/(cli|ci|web|statistics)/([a-z0-9_]+)\..*#\1.\2#p
    s#^harness/cli/commands/cmd_([a-z]+).*#cli.\1.*#p
    s#^ci/([a-z]+)\..*#ci.\1.*#p
    s#^(tests|docs)/guides/([a-z0-9-]+)\..*#guide.\2#p
    s#^web/.*#web.*#p
    s#^tests/cuda_asm/drive_([a-z]+).*#unit.cuda_asm_\1.*#p
    s#^tests/cuda_asm/.*#unit.cuda_asm_(banks|cache|head|layernorm)#p
    s#^(kernels/cuda|tests/cuda_host)/.*#unit.cuda_.*|kernel.*.cuda.*#p
    s#^kernels/([a-z]+)/.*cuda.*#unit.cuda_\1.*|kernel.\1.cuda.*#p
    s#^models/.*cuda.*#kernel.gpt.cuda.*#p
    s#^kernels/([a-z]+)/.*#unit.kernel[a-z0-9_]*|kernel.\1.(naive|plain|simd).*#p
    s#^kernels/.*#unit.kernel[a-z0-9_]*|kernel.*.(naive|plain|simd).*#p
    s#^models/.*#kernel.gpt.(naive|plain|simd).*#p' | sort -u | paste -sd'|'
}

# for_other_days of|but REGEX CTEST_ARG...: among everything, of these tests those that have another day, as
# names each behind a "|": of those that REGEX matches, or of all but those; what is touched has each day.
for_other_days() {
  local match=-E regex=$2 others
  [ "$1" = of ] || match=-vE
  shift 2
  [ -n "$everything" ] || return 0
  others=$(ctest "$@" -N | sed -nE 's/^ *Test +#[0-9]+: //p' | grep "$match" "$regex" | other_days |
    grep -vxE "$(touched_tests)" || true)
  echo "for other days (the stage by its name runs them): ${others//$'\n'/ }" >&2
  sed 's/\./\\./g; s/^/|/' <<<"$others" | tr -d '\n'
}

# Several tests at once: threads that wait must not keep the cores from those that work. The page is
# among them: its parts by node, the whole in Chromium. Among everything each of those that take most of the
# time has a day of the week, unless what it judges was touched: what leads a browser, a forge, a Slurm, a
# packer, other peoples' libraries or a reader's commands through long ways, fails each call or damages each
# page of a history in turn, or counts how often a verdict is right.
stage_test() {
  local left='perf' out='none'
  in_time 5 'hard knocks, and unit tests that the sanitizers run, too' || {
    left='perf|reliability'
    out='unit\.([^kpt]|p[^r]|t[^i]).*'
  }
  local tests=(--preset dev --label-exclude "^($left)\$")
  local long='(faults|guide|report|statistics)\..*|(serve|store)\.(strangers|soak)|kernel\.gpt\.(plain|torch.*)'
  long+='|web\.(app|accepted|painter|overview|causes|keys|lists|timeline|marks|trend_cards|speedscope).*'
  long+='|ci\.(nightly|alert|year|slurm|comment|hostile|gitlab|pr|shards|hooks|gate).*'
  long+='|cli\.(package|judge|plugin|compare_c|gate|selftest|build|profile|accept|clock|plot|completion_hostile).*'
  long+='|cli\.(perf_test|peers|python.*|bisect|scope_cost|signals|outcomes|guests|trend|schema|terminal|numbers)'
  long+='|cli\.(tune|model|explain|version_given|second_device|strangers_imports|command|ab|litter|shard|serve)'
  long+='|cli\.(small_disk|history_place)'
  long+='|unit\.(history_.*|store_(power|place|reliability|names|facts|making)|vfs_flips|launch_(kill|ab|profile))'
  long+='|unit\.(plugin_python|plugin_command|command_numbers|serve.*|page_budget|chart_(scatter|gnuplot))'
  long+='|unit\.(changepoint|import_(scale|hostile)|timeline_size|kernel_entries.*|kernels.*|comment)'
  long+='|unit\.(session_explain|measure_case)'
  out+=$(for_other_days of "^($long)\$" "${tests[@]}")
  LEFT_OUT=$out OMP_WAIT_POLICY=passive ctest "${tests[@]}" --exclude-regex "^($out)\$" --parallel "$tests_at_once"
  tell_skipped
}

# The page alone.
stage_web() {
  ctest --preset dev --label-regex '^web$' --parallel "$jobs"
  tell_skipped
}

# The CUDA kernels with them, compiled for the CPU (tests/cuda_host); of those of sm_90a one a day. Of
# kills and damages at random a third of what the stage `test` makes. Parsers are fed with changed copies
# of their seeds besides. Among everything of the rest a seventh a day; alone, all.
stage_sanitize() {
  local cli=(
    # Times, rates and sizes: what would test the sanitizers' patience alone.
    scope_cost perf_test clocks clock signals memory_limit
    # Mostly other programs: compilers, packers, shells, drawers.
    package package_deb build build_trees bisect compare_changed gate_changed plot_runs
    completion_zsh completion_hostile foreign_options litter peers no_proc
    # Who judges what a process may call: the sanitizers' own calls at its end are among it.
    judge judge_python judge_torch judge_tree judge_model
    # Long ones that reach little beyond the rest: by a compiler's counters, the tests of commands that are
    # left reach 87 % of what all of them do; all unit tests are in.
    ab accept command_tree compare compare_commands disturbed export gate guests help history list manual
    model_cuda numbers outcomes plot profile profile_bottleneck profile_layers schema selftest selftest_cost
    small_disk terminal trend gpu_telemetry
  )
  # CTest takes ten parentheses, and excludes nothing where there are more. Of kernels: work done in
  # others' libraries (unit.kernel_peers covers the calls), and kernels of the CPU from outside, which
  # unit.kernels runs at the same sizes from inside.
  local out
  out='kernel\.[a-z]+\.torch.*|kernel\.gemm\.(openblas|(onednn|ggml)(_bf16)?)'
  out+='|kernel\.(attention|embedding|gemm|layernorm|pointwise)\.(naive|simd).*|kernel\.gpt\.plain'
  out+='|unit\.(timeline_size|import_scale)|history\.growth|report\.many'
  out+="|cli\.($(IFS='|'; echo "${cli[*]}"))"
  build cuda-host
  local tests=(--preset cuda-host --label-regex '^(unit|cli)$')
  in_time 25 "commands' tests under the sanitizers, but those of the CUDA kernels" ||
    tests+=(--tests-regex '^([^c]|cli\.(gpu_script|.*cuda))')
  # Every day what reads bytes of strangers, and of what runs nowhere else the short ones.
  local daily='unit\.(fuzz|import|device_cuda|cuda_(after|banks|choice|host|maps|rows))|cli\.strangers'
  daily+='|unit\.cuda_asm_(cache|layernorm|model|mutants|primitives|wrappers)'
  out+=$(for_other_days but "^($daily)" "${tests[@]}" --exclude-regex "^($out)\$")
  printf 'not under the sanitizers:\n%s\n' "$(ctest "${tests[@]}" --tests-regex "^($out)\$" -N | grep 'Test *#')"
  ctest "${tests[@]}" --exclude-regex "^($out)\$" -N | grep '#.* cli\.manual$' >/dev/null && return 1
  # Of what was freed the last 8 MB are kept from use, not 256: most tests would never see memory twice.
  # And what libasan makes of __tls_get_addr it guesses: a thread-local block 16 bytes behind a page's begin
  # (1 in 256 small ones) is taken for one of glibc 2.19, and what lies before it for its address; the search
  # for leaks then reads there, and ends with "Tracer caught signal 11". glibc's own list leads to the blocks, too.
  export ASAN_OPTIONS=detect_leaks=1:quarantine_size_mb=8:intercept_tls_get_addr=0
  tests/cuda_asm/sanitized.sh build/cuda-host --today
  HARNESS_TRIALS=0.1 HARNESS_FUZZ_MUTANTS=1 OMP_WAIT_POLICY=passive ctest "${tests[@]}" \
    --exclude-regex "^($out)\$" --parallel "$tests_at_once"
}

# What is shared between threads that the program itself starts: the profiler's, the sensors', the live
# page's. ThreadSanitizer does not see OpenMP's barriers, so that a team here is one thread.
threads_tests=(profile_scopes profile_threads profile_lives profile_memory profile_ring
  profile_summary profile_cuda cupti_collect machine_sensor_tracks machine_nvml machine_gpus process
  timeline_layers serve_http serve_cache serve_quota serve)

build_threads() {
  configure tsan
  cmake --build --preset tsan --target "${threads_tests[@]/#/test_}" fuzz_serve
}

stage_threads() {
  build_threads
  OMP_NUM_THREADS=1 ctest --preset tsan --no-tests=error --parallel "$tests_at_once" \
    --tests-regex "^(unit\.($(IFS='|'; echo "${threads_tests[*]}"))|serve\.fuzz)\$"
}

# The kernels on another processor: their portable form, and that nothing takes x86 for granted.
stage_aarch64() {
  local tool
  if [ "$(uname -m)" = aarch64 ]; then
    echo "skipped: this machine is one, so the stages before have tested it"
    return
  fi
  for tool in aarch64-linux-gnu-gcc qemu-aarch64; do
    if ! command -v "$tool" >/dev/null; then
      echo "skipped: no $tool (ci/setup.sh --tests installs it where the distribution has it)"
      return
    fi
  done
  build aarch64
  ctest --preset aarch64 --parallel "$jobs"
}

# Each parser for a few seconds by libFuzzer, which looks where no input has been yet, and is built anew by
# clang for it; ci/fuzz.sh alone does so for longer. The stage `sanitize` plays blind changes of the seeds.
stage_fuzz() {
  local status=0
  ci/fuzz.sh --seconds 1 || status=$?
  [ "$status" -eq 0 ] || [ "$status" -eq 77 ] # skipped, with the reason
}

# Alone on the machine: these measure.
stage_perf() { ctest --preset dev --label-regex '^perf$'; }

# Packages of the same commit, built in two folders, by two users' habits, have the same bytes. Two
# whole builds, so it is no part of everything; the test cli.package does the packing alone.
stage_reproducible() {
  local work folder
  work=$(mktemp -d)
  git clone --quiet . "$work/one"
  (umask 077 && git clone --quiet "$work/one" "$work/another/folder")
  for folder in one another/folder; do
    (
      cd "$work/$folder"
      [ "$folder" = one ] || { umask 077 && export TZ=Asia/Tokyo LC_ALL=C; }
      cmake --preset release -DBUILD_TESTING=OFF -DHARNESS_CUDA=OFF -DCMAKE_C_FLAGS_RELEASE='-O1 -DNDEBUG' \
        -DCMAKE_CXX_FLAGS_RELEASE='-O1 -DNDEBUG' --log-level=WARNING >/dev/null
      cmake --build --preset release
      cpack -G 'TGZ;DEB' --config build/release/CPackConfig.cmake -B out >/dev/null
    )
  done
  for folder in "$work"/one/out/*.tar.gz "$work"/one/out/*.deb; do
    cmp "$folder" "$work/another/folder/out/$(basename "$folder")"
    echo "the same: $(basename "$folder")"
  done
  if strings -a "$work/one/build/release/harness" | grep -F "$work"; then
    echo "the program holds the folder that it was built in"
    return 1
  fi
  rm -rf "$work"
}

# What three more readers of the source find; they take minutes, so they are no part of everything.
# What is no mistake is said at its place, with the reason: "cppcheck-suppress ... ; ..." and, on the line of
# gcc's finding or the one above, "analyzer: ...".
stage_analyze() {
  local status=0
  tidy || status=1
  gcc_analyzer || status=1
  cppcheck_all || status=1
  return $status
}

# What has no place ("cc1: warning") is about variables that gcc itself makes for an OpenMP region.
gcc_analyzer() {
  local log file line rest unexplained=0
  log=$(mktemp)
  cmake --preset analyze --log-level=WARNING >/dev/null
  cmake --build --preset analyze --clean-first >"$log" 2>&1 || { cat "$log"; return 1; }
  while IFS=: read -r file line rest; do
    file=$(cd build/analyze && realpath --relative-to=../.. "$file")
    sed -n "$((line - 1)),${line}p" "$file" | grep 'analyzer: ' >/dev/null && continue
    echo "$file:$line:$rest"
    unexplained=1
  done < <(grep -E '^[^ :]+:[0-9]+:[0-9]+: warning: .*\[-Wanalyzer' "$log" | sort -u)
  rm -f "$log"
  return $unexplained
}

# ctuuninitvar takes a pointer through which a function writes for one through which it reads.
cppcheck_all() {
  cppcheck --suppress=ctuuninitvar --project=build/analyze/compile_commands.json \
    --cppcheck-build-dir="$(mktemp -d)" -j "$jobs" \
    --file-filter='harness/*' --file-filter='kernels/*' --file-filter='models/*' \
    --enable=warning,performance,portability --inline-suppr --quiet --error-exitcode=1
}

# Memory as memcheck sees it, uninitialised reads above all, which the sanitizers do not look for.
# Left out: whole models and loops of kernels, which take hours there; what judges times or memory;
# and what starts programs, or this one anew by /proc/self/exe, which is valgrind there.
stage_valgrind() {
  local out='cuda_choice|fonts|kernel|gpt_|stats$|changepoint|streams|scope|cost|process|plugin_command'
  out+='|chart_gnuplot|store_reliability|machine_nvml'
  out+='|measure_(plant|roofs|kill|sweep|ab|profile)|session_(ab|bisect|commands|tuning)'
  build dev
  rm -rf build/dev/Testing/Temporary/MemoryChecker.*
  # With -T a preset's folder does not count.
  OMP_NUM_THREADS=2 ctest --test-dir build/dev --label-regex '^unit$' --exclude-regex "$out" \
    -T memcheck --no-tests=error --parallel "$jobs" \
    --overwrite MemoryCheckCommand="$(command -v valgrind)" \
    --overwrite MemoryCheckSuppressionFile="$PWD/tests/valgrind.supp" \
    --overwrite MemoryCheckCommandOptions="--quiet --error-exitcode=9 --leak-check=full \
      --errors-for-leak-kinds=definite --trace-children=yes --trace-children-skip=/usr/*,/bin/*" || {
    cat build/dev/Testing/Temporary/MemoryChecker.*.log
    return 1
  }
}

# The hard knocks alone, with their table.
stage_reliability() { build dev && ctest --preset dev --label-regex '^reliability$' --parallel "$tests_at_once"; }

# Of the files on its input those that the last commits have touched, and of the others a seventh a day,
# among everything; else all.
of_today() {
  local files others
  [ -n "$everything" ] || { cat; return; }
  files=$(cat)
  others=$(other_days <<<"$files" | grep -vxF -f <(lately))
  echo "$(wc -l <<<"$others") files are for other days" >&2
  grep -vxF -f - <(echo "$files") <<<"$others"
}

# What clang warns of, which gcc has compiled, and clang-tidy; of tests and C++ the warnings alone.
# tidy [OPTION...]
tidy() {
  local status=0
  [ -e build/dev/compile_commands.json ] || build dev
  git ls-files 'harness/*.c' 'kernels/*.c' 'models/*.c' | of_today | tidy_files "$@" || status=1
  git ls-files 'harness/*.cc' 'tests/*.c' ':!tests/fixtures/*' | of_today |
    tidy_files --checks='-*,clang-diagnostic-*,readability-misleading-indentation' || status=1
  return $status
}

tidy_files() {
  xargs -P "$jobs" -n 4 clang-tidy -p build/dev --quiet --extra-arg=-Wno-unknown-warning-option \
    "$@" 2>/dev/null
}

# The path-sensitive analyzer looks at 20,000 states of a function instead of 225,000, in a seventh
# of the time; the stage `analyze` looks at all of them.
stage_tidy() {
  tidy --extra-arg=-Xclang --extra-arg=-analyzer-config \
    --extra-arg=-Xclang --extra-arg=max-nodes=20000
}

# Of all processes that have been waited for: what is built ahead counts where it is joined.
processor_seconds() {
  local stat
  read -r -a stat <"/proc/$$/stat"
  echo $(((stat[15] + stat[16]) / $(getconf CLK_TCK)))
}

stages=("$@") everything=
case $* in
"") stages=(setup build quick perf) ;;
all) everything=1 stages=(setup format scripts build ahead test join perf tidy sanitize threads aarch64) ;;
esac
for stage in "${stages[@]}"; do
  printf '\n== %s\n' "$stage"
  started=$SECONDS worked=$(processor_seconds)
  "stage_$stage"
  printf '== %s passed in %d s, %d s of processors\n' "$stage" $((SECONDS - started)) $(($(processor_seconds) - worked))
done
