# shellcheck shell=bash
# Speed as CTest tests of other people's projects: harness installed, moved, found by CMake; the
# commands of docs/ctest.md as they stand there; a planted slow-down is caught. U-07, U-10, S4-27.
build=$(dirname "$HARNESS")
if ldd "$HARNESS" | grep -qE 'lib[at]san|libubsan'; then skip "sanitizers are not installed"; fi
source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:[A-Z]*=//p' "$build/CMakeCache.txt" 2>/dev/null)
[ -n "$source" ] || skip "not a build tree: $build"
CXX=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
export CXX CXXFLAGS='-O2 -Wall -Wextra'

say "Installed, and moved"
"$CMAKE" --install "$build" --prefix first >"$WORK.log/install"
mkdir elsewhere
mv first "elsewhere/some where"
PREFIX="$PWD/elsewhere/some where"
PATH="$PREFIX/bin:$(dirname "$CMAKE"):$PATH"
export PREFIX PATH
check "the program" test "$(command -v harness)" = "$PREFIX/bin/harness"

# Each test with what became of it, by the JUnit file that ctest writes.
# outcomes FOLDER [CTEST-OPTION...]
outcomes() {
  local folder=$1
  shift
  ctest --test-dir "$folder" --output-junit "$PWD/junit.xml" "$@" >"$WORK.log/ctest" 2>&1 || true
  sed -nE 's/.*<testcase name="([^"]*)".* status="([a-z]*)".*/\1 \2/p' junit.xml | LC_ALL=C sort
}

# The commands of a section of the guide, as they stand there.
# guide HEADING
guide() { python3 "$CLI/../guides/guide.py" commands "$source/docs/ctest.md" --section "$1"; }
command -v python3 >/dev/null || skip "there is no python3"

# What these programs really take is nobody's matter here: a busy machine may make any of them slow.
# guide_runs SECTION: its commands, of which ctest alone may fail.
guide_runs() {
  guide "$1" | sed -E '/^ctest/s/ *(#.*)?$/ || true/' >commands
  bash -e commands >said 2>&1 || { echo "status $?"; cat said; }
}

say "The guide, in a project"
cp -r "$source/examples/perf_test" project
cd project || exit 1
git init -q . 2>/dev/null
guide_runs "In a project of your own"
check "the guide has commands" test "$(grep -c '^c\|^h' commands)" -ge 6
check "at first there is nothing to gate against" grep -qE '^[[:space:]]+[0-9]+ - sums.verdict \(Skipped\)' said
check "a reviewed baseline is written" test -n "$(find baselines -name sums.json)"
check "it has measured twice" test "$(harness history list --db build/perf/history.db | grep -c ' sums ')" = 2
ctest --test-dir build -N | sed -n 's/^ *Test *#[0-9]*: //p'

# From here on the programs tell times in place of taking them: COST microseconds and some.
# told_project FOLDER [WORD...]: its one test, with further words of harness_add_perf_test().
told_project() {
  local folder=$1
  shift
  mkdir "$folder"
  cat >"$folder/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.21)
project(told NONE)
enable_testing()
find_package(harness 0.1 REQUIRED)
file(READ cost COST)
configure_file(bench.sh.in bench.sh @ONLY)
harness_add_perf_test(NAME told COMMAND "\${CMAKE_BINARY_DIR}/bench.sh" GOOGLE_BENCHMARK LAUNCHES 5 $*)
END
  cat >"$folder/bench.sh.in" <<'END'
#!/bin/sh
for word in "$@"; do case $word in --benchmark_out=*) BENCHMARK_OUT=${word#*=} ;; esac; done
printf '{"context": {"num_cpus": 3, "caches": [{"type": "Data", "level": 1, "size": 32768, "num_sharing": 1}]},
  "benchmarks": [{"name": "BM_sort", "run_type": "iteration", "iterations": 9, "real_time": %d.%s,
  "time_unit": "us"}]}' @COST@ "$(date +%N)" >"$BENCHMARK_OUT"
END
  chmod +x "$folder/bench.sh.in"
}
# cost FOLDER MICROSECONDS: configured anew.
cost() {
  printf '%s' "$2" >"$1/cost"
  cmake -S "$1" -B "$1/build" -DCMAKE_PREFIX_PATH="$PREFIX" >"$WORK.log/configure" 2>&1 || cat "$WORK.log/configure"
}

say "Again: nothing that did not change fails"
cd "$WORK" || exit 1
told_project told DELTA 50%
cost told 100
outcomes told/build
outcomes told/build

say "Four times the work"
cost told 400
outcomes told/build
check "the table is in JUnit" grep -q 'regressed' junit.xml

say "What ctest keeps for CDash"
cost told 100
ctest --test-dir told/build -T Test >"$WORK.log/ctest" 2>&1 || cat "$WORK.log/ctest"
xml=$(find told/build/Testing -name Test.xml)
check "percentiles" grep -qE '<NamedMeasurement type="numeric/double" name="p50 [^"]* \(ns\)"><Value>[0-9.e+]+</Value>' <(tr -d '\n\t' <"$xml" | sed 's/<NamedMeasurement/\n&/g')
check "changes" grep -qE 'name="change p50 [^"]* \(%\)"' "$xml"
if command -v gnuplot >/dev/null; then
  check "a figure" grep -qE 'type="image/png"|type="file"' "$xml"
  check "that is there" test -s "$(find told/build/perf/plots -name '*.png' | head -1)"
fi

say "A reviewed baseline, in a fresh checkout, of a project in a folder of it"
mkdir reviewed
told_project reviewed/bench DELTA 50% PLOTS NONE
cost reviewed/bench 100
git -C reviewed init -q .
git -C reviewed add bench/CMakeLists.txt bench/bench.sh.in bench/cost
git -C reviewed -c user.name=Ada -c user.email=a@example.org commit -q -m 'Start'
outcomes reviewed/bench/build
# recorded_commit: is the commit that of the newest recording?
recorded_commit() { harness history list --db reviewed/bench/build/perf/history.db --json | grep -q "$(git -C reviewed rev-parse HEAD)"; }
check "it has its commit" recorded_commit
(cd reviewed && harness baseline save told --db bench/build/perf/history.db --file auto) >/dev/null
for cost in 100 400; do
  rm -rf reviewed/bench/build
  cost reviewed/bench $cost
  outcomes reviewed/bench/build
done
check "with changes it has none" not recorded_commit

say "Below a folder with a comma in its name, with a name that is no regular expression"
mkdir 'a,b'
told_project 'a,b/told' PLOTS NONE
sed -i 's/NAME told/NAME c++.2/' 'a,b/told/CMakeLists.txt'
cost 'a,b/told' 100
outcomes 'a,b/told/build'
check "the history lies in the build" test -s 'a,b/told/build/perf/history.db'
again=$(sed -n "s/^ *ctest -R '\(.*\)'$/\1/p" 'a,b/told/build/Testing/Temporary/LastTest.log')
ctest --test-dir 'a,b/told/build' -N -R "$again" | tail -n 1

say "A program that fails, one that is no Google Benchmark"
cd "$WORK" || exit 1
mkdir bad
cat >bad/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.21)
project(bad NONE)
enable_testing()
find_package(harness 0.1 REQUIRED)
harness_add_perf_test(NAME dies COMMAND /bin/false GOOGLE_BENCHMARK LAUNCHES 3)
harness_add_perf_test(NAME mute COMMAND /bin/true GOOGLE_BENCHMARK LAUNCHES 3)
END
cmake -S bad -B bad/build -DCMAKE_PREFIX_PATH="$PREFIX" >"$WORK.log/configure" 2>&1 || cat "$WORK.log/configure"
outcomes bad/build
grep -c 'left no JSON' bad/build/Testing/Temporary/LastTest.log

say "Words arrive as they were given"
mkdir words
cat >words/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.21)
project(words NONE)
enable_testing()
find_package(harness 0.1 REQUIRED)
harness_add_perf_test(NAME words COMMAND "${CMAKE_SOURCE_DIR}/said.sh" "\${HOME:-1}" "(1)2\\.5" "" "c;d" "[" "e\\"
  OPTIONS --max-time 20ms --metric "rate=/rate: ([^]]+)\\S/" --better lower LAUNCHES 3 PLOTS NONE)
END
cat >words/said.sh <<'END'
#!/bin/sh
printf '<%s>\n' "$@" >"${0%/*}/said"
echo "rate: 5;"
END
chmod +x words/said.sh
cmake -S words -B words/build -DCMAKE_PREFIX_PATH="$PREFIX" >"$WORK.log/configure" 2>&1 || cat "$WORK.log/configure"
outcomes words/build
cat words/said

say "Words that are refused"
# refused WORDS [LINE]: the line stands before the package is found.
refused() {
  printf '%s\n' 'cmake_minimum_required(VERSION 3.18)' 'project(bad NONE)' "${2:-}" \
    'find_package(harness 0.1 REQUIRED)' "harness_add_perf_test($1)" >bad/CMakeLists.txt
  cmake -S bad -B bad/build -DCMAKE_PREFIX_PATH="$PREFIX" 2>&1 | tr '\n' ' ' |
    sed -nE 's/.*CMake Error at [^:]*:[0-9]+ \([a-z_]*\): *(.*) Call Stack.*/\1\n/p' | tr -s ' '
}
refused "SUITE ci"
refused "NAME a/b SUITE ci"
refused "NAME a"
refused "NAME $(printf %067d 0) SUITE ci"
refused "NAME encode_large_documents_as_base64 COMMAND b"
refused "NAME c++ COMMAND b"
refused "NAME a SUITE ci COMMAND b"
refused "NAME a SUITE ci GOOGLE_BENCHMARK"
refused "NAME a COMMAND b DEVICE cpu"
refused "NAME a COMMAND b GOOGLE_BENCHMARK OPTIONS --seed 1"
refused "NAME a SUITE ci BASLINE b"
refused "NAME a SUITE ci DELTA 5"
refused "NAME a SUITE ci DELTA 5% p95=1.5"
refused 'NAME a COMMAND b "a]====]b"'
refused 'NAME a COMMAND b "c]====="'
refused "NAME a SUITE ci" "set(CMAKE_VERSION 3.18.4)"
check "empty words of a wrapper are none" test -z "$(refused 'NAME a COMMAND b GOOGLE_BENCHMARK OPTIONS ""')"
page_delta=$(sed -n 's/^| .DELTA share.* .\([^ ]*gemm[^ ]*\). |$/\1/p' "$source/docs/ctest.md")
check "DELTA as the page has it is taken" test "${page_delta:+there}:$(refused "NAME a SUITE ci DELTA $page_delta")" = there:
cmake -S bad -B bad/build -DCMAKE_PREFIX_PATH="$PREFIX" -Dharness_DIR= >/dev/null 2>&1
sed -i 's/harness 0.1/harness 9.0/' bad/CMakeLists.txt
check "another version is not taken" not cmake -S bad -B bad/build -DCMAKE_PREFIX_PATH="$PREFIX"

say "The guide, without a project"
mkdir alone
cd alone || exit 1
mkdir .git
export HARNESS_PERF_LAUNCHES=3
guide_runs "Without a project"
unset HARNESS_PERF_LAUNCHES
ctest --test-dir perf -N | sed -n 's/^ *Test *#[0-9]*: //p'
check "at first it is skipped" grep -q 'perf.pointwise.residual (Skipped)' said

say "On the device with a scripted clock"
cd "$WORK" || exit 1
mkdir fake
cd fake || exit 1
mkdir .git
# Launches differ, and by as much each time: with noise of its own a base may by chance lie so low that
# ten launches do not show the same.
noise=fake:launch=0.01,sd=0.02,base=2000
make_fake() {
  cmake -DFOLDER=perf -DFILTERS=null/copy/right -DDEVICE="$1" \
    -DOPTIONS='--iterations;100' -DPLOTS=NONE \
    -P "$PREFIX/share/harness/ctest/folder.cmake" >"$WORK.log/folder" 2>&1 || cat "$WORK.log/folder"
}
make_fake "$noise,draw=3"
outcomes perf -L perf
sed -n 's/^  .*baseline save \(.*\) --db .*/save \1/p' perf/Testing/Temporary/LastTest.log
check "it says that the next run is gated against it" \
  grep -q 'kept as the candidate. The next run is gated against it' perf/Testing/Temporary/LastTest.log
say "The second run gates against the first"
make_fake "$noise,draw=6,slow=1.5"
outcomes perf -L perf
check "it says against what" grep -q 'Against the candidate, the first recording' perf/Testing/Temporary/LastTest.log
say "What cannot tell says the command that would make it"
make_fake "$noise,draw=5"
HARNESS_PERF_LAUNCHES=2 outcomes perf -L perf
grep -o 'HARNESS_PERF_LAUNCHES=[0-9]* ctest.*' perf/Testing/Temporary/LastTest.log | head -n 1
outcomes perf -R null.copy --fixture-exclude-setup '.*'
grep -o 'HARNESS_PERF_LAUNCHES=[0-9]* ctest.*' perf/Testing/Temporary/LastTest.log
make_fake "$noise,draw=3"
outcomes perf -L perf >/dev/null
harness baseline save main --db perf/history.db >/dev/null
say "The same"
make_fake "$noise,draw=6"
outcomes perf -L perf
say "Half as fast again"
make_fake "$noise,draw=8,slow=1.5"
outcomes perf -L perf
say "Judged again, without measuring"
outcomes perf -R null.copy --fixture-exclude-setup '.*'
say "Never measured"
rm perf/perf.newest
outcomes perf -R null.copy --fixture-exclude-setup '.*'

say "Machines of two kinds that share a history"
cd "$WORK" || exit 1
mkdir kinds
cd kinds || exit 1
mkdir .git
class=$(harness list machines | sed -n '2s/^  \([^ ]*\) .*/\1/p')
cat >other.sh <<END
#!/bin/sh
[ "\$1" != list ] || { "$PREFIX/bin/harness" "\$@" | sed 's/$class/elsewhere/'; exit; }
exec "$PREFIX/bin/harness" "\$@"
END
chmod +x other.sh
for draw in 3 6; do
  make_fake "$noise,draw=$draw"
  outcomes perf -L perf
  sed -i "s#^set(HARNESS_PERF_HARNESS .*#set(HARNESS_PERF_HARNESS [[$PWD/other.sh]])#" perf/CTestTestfile.cmake
  outcomes perf -L perf
done
say "A baseline of the other kind is none here"
harness history show latest --db perf/history.db |
  sed -E -e "s/\"$class\"/\"elsewhere\"/" -e 's/("uuid":[[:space:]]*")[0-9a-f]{8}/\100000000/' >other.json
quiet import other.json --db perf/history.db
quiet baseline save main --db perf/history.db --ref 00000000
make_fake "$noise,draw=6"
outcomes perf -L perf
grep -o '^Against the candidate\|^Cannot tell' perf/Testing/Temporary/LastTest.log
say "A baseline that has not got it"
quiet run null/copy/right --batch 77 --device "$noise" --iterations 100 --launches 5 --db perf/history.db
quiet baseline save main --db perf/history.db --replace
outcomes perf -L perf
sed -n 's/^  .*baseline save main --db .* \(--[a-z]*\)$/save \1/p;/^Cannot tell/p' perf/Testing/Temporary/LastTest.log

say "Nothing of it can be measured on this machine: skipped, as its judgement"
cmake -DFOLDER=nothing -DNAME=nothing -DFILTERS=scope/on -DDEVICE=cpu:1 -DOPTIONS='--dim;calls=5000000' \
  -DLAUNCHES=1 -DPLOTS=NONE -P "$PREFIX/share/harness/ctest/folder.cmake" >"$WORK.log/folder" 2>&1 ||
  cat "$WORK.log/folder"
outcomes nothing -L perf
grep '^Nothing of' nothing/Testing/Temporary/LastTest.log

say "Kernels are found whatever becomes of the result; where none is, all is one test"
# listed NAME [WORD...]: the tests of a folder for ctest, with further words of its making.
listed() {
  cmake -DFOLDER="$1" -DNAME="$1" -DPLOTS=NONE "${@:2}" -P "$PREFIX/share/harness/ctest/folder.cmake" \
    >"$WORK.log/folder" 2>&1 || cat "$WORK.log/folder"
  ctest --test-dir "$1" -N | sed -n 's/^ *Test *#[0-9]*: //p'
}
listed kept -DFILTERS=null/copy/right -DDEVICE="$noise" '-DOPTIONS=--json;-o;kept.json;--format=csv'
listed none -DFILTERS=none/such
check "no file is made by that" test ! -e kept.json -a ! -e kept/kept.json

say "Against a branch: both commits built and measured in turn"
cd "$WORK" || exit 1
mkdir against
cd against || exit 1
export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=a@example.org
export GIT_COMMITTER_NAME=Ada GIT_COMMITTER_EMAIL=a@example.org
git -c init.defaultBranch=main init -q .
# In a folder that a shell and sed could read otherwise, in a configuration that is not the first one,
# with flags without which nothing compiles or links, and with a package in the sources that costs.
mkdir -p 'R&D/vendored'
cat >'R&D/CMakeLists.txt' <<'END'
cmake_minimum_required(VERSION 3.21)
project(told C)
enable_testing()
find_package(harness 0.1 REQUIRED)
find_package(vendored REQUIRED PATHS "${CMAKE_SOURCE_DIR}/vendored" NO_DEFAULT_PATH)
add_executable(bench bench.c)
target_compile_definitions(bench PRIVATE COST=${VENDORED_COST})
add_test(NAME other COMMAND bench)
harness_add_perf_test(NAME told COMMAND bench GOOGLE_BENCHMARK LAUNCHES 5 PLOTS NONE)
END
cat >'R&D/bench.c' <<'END'
#include <stdio.h>
#include <string.h>
#include <unistd.h>
extern char linked[];
char *volatile place = linked;
int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "--benchmark_out=", 16) == 0)
            freopen(argv[i] + 16, "w", stdout);
    printf("{\"benchmarks\": [{\"name\": \"BM_sort\", \"run_type\": \"iteration\", \"iterations\": 9, "
           "\"real_time\": %d.%d, \"time_unit\": \"us\"}]}", TOLD * TIMES * COST, getpid() % 10);
    return 0;
}
END
cost_of() { echo "set(VENDORED_COST $1)" >'R&D/vendored/vendored-config.cmake'; }
cost_of 100
printf '%s\n' build .harness >.gitignore
git add .
git commit -q -m 'Start'
git checkout -q -b change
cost_of 130
git commit -q -a -m 'Slower'
cmake -S 'R&D' -B build -G 'Ninja Multi-Config' -DCMAKE_PREFIX_PATH="$PREFIX" -DCMAKE_C_FLAGS=-DTOLD=1 \
  "-DCMAKE_C_FLAGS_RELEASE=-DTIMES='1'" -DCMAKE_EXE_LINKER_FLAGS=-Wl,--defsym=linked=1 \
  >"$WORK.log/configure" 2>&1 || cat "$WORK.log/configure"
outcomes build
check "any case of -C" grep -q 'told.verdict' <(ctest --test-dir build -N -C release)
HARNESS_PERF_AGAINST=main outcomes build -C Release -L perf
grep -ohE '^▲  regressed  BM_sort' build/Testing/Temporary/LastTest.log | sort -u

say "What a gate has of OPTIONS, and where it runs"
printf '%s\n' '#!/bin/sh' 'printf "%s\n" "$@"' >"$WORK/said.sh"
chmod +x "$WORK/said.sh"
# asked FOLDER KIND WORD...: what `harness gate` is asked for there.
asked() {
  local folder=$1
  shift
  (cd "$folder" && HARNESS_PERF_AGAINST=main "$PREFIX/share/harness/ctest/perf.sh" record \
    --harness "$WORK/said.sh" --name told --db "$WORK/asked/x.db" --baseline told --metric rate \
    --source "$WORK/against/R&D" --build "$WORK/against/build" "$@") >said 2>&1 || echo "status $?"
  sed -e '/^gate$/,/^10m$/d' -e 's/ $//' said
}
asked 'R&D' COMMAND --metric 'rate=/rate: (\S+)/' --better=higher --max-time 500ms --no-repeat -- \
  "$WORK/against/build/app" 'a b'
asked build GOOGLE_BENCHMARK -- "$WORK/against/build/bench"
mkdir "$WORK/own"
git -C "$WORK/own" init -q .
echo 'project(harness C)' >"$WORK/own/CMakeLists.txt"
asked "$WORK/own" KERNELS --batch 1 --max-time 5ms --seed 1 null/copy
asked . KERNELS null/copy
asked . COMMAND --prepare 'make data' -- sort x
asked 'R&D' COMMAND -- "$WORK/against/R&D/bench.c" "$WORK/against/R&D/own.sh"
