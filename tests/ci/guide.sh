# shellcheck shell=bash
# docs/ci.md as a stranger follows it: a project with three Google Benchmarks, a change that makes one
# slower, each command of the guide as it stands there, and the workflows' own commands after that,
# into a comment. Offline. U-07, U-10.
# shellcheck disable=SC2016  # what is quoted is for jq, or for the build
# shellcheck source=tests/ci/lib.sh
. "$CLI/../ci/lib.sh"
"$HARNESS" help import >/dev/null 2>&1 || skip "this harness has no import yet"
need_tools c++ cmake python3
python3 -c 'import yaml' 2>/dev/null || skip "python3 has no module yaml"
[ -e /usr/include/benchmark/benchmark.h ] || skip "Google Benchmark has no headers here"
forge_start

# What step 1 of the guide makes.
installed=$HOME/.local/harness
mkdir -p "$installed/bin" "$installed/share/harness"
ln -s "$HARNESS" "$installed/bin/harness"
cp -r "$CI" "$installed/share/harness/ci"
unset HARNESS

# The stranger's project.
git -c init.defaultBranch=main init -q "$WORK/project"
cd "$WORK/project" || exit 1
cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.16)
project(toy CXX)
find_package(benchmark REQUIRED)
add_executable(bench bench.cc)
target_link_libraries(bench benchmark::benchmark_main)
CMAKE
cat >bench.cc <<'CXX'
#include <benchmark/benchmark.h>
#include <unistd.h>
// The times are made up, with a little noise from process to process: how busy the machine is that
// runs this test must not matter.
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
CXX
printf '%s\n' harness-pr nightly nightly.db >.gitignore
git add .
git commit -q -m 'Three benchmarks'
git checkout -q -b slower
sed -i 's/300/600/' bench.cc
git commit -q -a -m 'Sort twice, to be sure'

# step NR: the commands of the guide's NR-th block, as they stand there.
step() {
  awk -v wanted="$1" '/^```sh$/ { nr++; inside = nr == wanted; next } /^```/ { inside = 0 } inside' \
    "$CI/../docs/ci.md" >"$WORK/step.sh"
  [ -s "$WORK/step.sh" ] || echo "NO: the guide has no block $1"
  # shellcheck source=/dev/null
  . "$WORK/step.sh"
}

say "At home first"
status=0
step 1 >said 2>&1 || status=$?
echo "exit status $status"
check "the one that is slower is named" grep -q 'BM_sort.*regressed\|regressed.*BM_sort' said
check "the comment has it, too" grep -q BM_sort harness-pr/comment.md
sed -n 1p harness-pr/comment.md
check "the worktrees are gone" test "$(git worktree list | wc -l)" = 1
check "the checkout is as it was" test -z "$(git status --porcelain | grep -v said)"

say "The workflows"
git checkout -q main
step 2 >said 2>&1
echo "[$?]"
git show --stat --format=%s HEAD | sed 's/ *|.*//' | head -4
HARNESS_BUILD=$WORK/lint "$HERE/actionlint.sh" .github/workflows/*.yml >lint 2>&1
case $? in 0 | 77) echo "actionlint says nothing, or is not here" ;; *) cat lint ;; esac

say "The pull request: the workflow's own command"
command_of() { # FILE STEP: prints what it runs, with its variables
  python3 - "$@" <<'PY'
import shlex, sys, yaml
workflow = yaml.safe_load(open(sys.argv[1]))
step = next(s for job in workflow["jobs"].values() for s in job["steps"] if s.get("name") == sys.argv[2])
for name, value in {**workflow["env"], **step.get("env", {})}.items():
    if "${{" not in value:
        print(f"export {name}={shlex.quote(value)}")
print(step["run"])
PY
}
export RUNNER_TEMP=$WORK/runner GITHUB_EVENT_PATH=$WORK/event.json
mkdir -p "$RUNNER_TEMP/harness"
ln -s "$installed" "$RUNNER_TEMP/harness/out"
ln -s "$CI" "$RUNNER_TEMP/harness/ci"
command_of .github/workflows/harness-pr.yml 'Measure both sides' >measure.sh
command_of .github/workflows/harness-comment.yml Comment >comment.sh
git checkout -q slower
head=$(git rev-parse HEAD)
jq -n --arg head "$head" --arg base "$(git rev-parse main)" '{action: "opened", pull_request:
  {number: 7, base: {sha: $base}, head: {sha: $head}}}' >"$GITHUB_EVENT_PATH"
git init -q --bare "$WORK/remote.git"
git remote add origin "$WORK/remote.git"
unset HARNESS_BENCH
status=0
bash -e measure.sh >said 2>&1 || status=$?
echo "exit status $status"
forge_set --arg head "$head" '.pulls["7"] = {open: true, head: $head}'
HEAD_SHA=$head bash -e comment.sh
check "the comment names it" grep -q BM_sort <(forge '.notes[0].body')

say "A night"
export HARNESS_BENCH='"$BUILD/bench" --benchmark_min_time=0.01 --benchmark_out="$OUT" --benchmark_out_format=json'
unset GITHUB_TOKEN
status=0
step 3 >said 2>&1 || status=$?
echo "exit status $status"
(cd nightly && find . -maxdepth 1 -name '*.json' -name 'trend*' -o -name '*.gz' -o -name 'report.html' | sort | paste -sd ' ')
