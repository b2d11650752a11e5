# shellcheck shell=bash
# docs/guides/gating-a-pr.md as a stranger follows it: a project with three Google Benchmarks, a change
# that makes one slower; then the workflows' own commands, into a comment. Offline. U-07, U-10.
# shellcheck disable=SC2016  # what is quoted is for jq
before() {
  python3 -c 'import yaml' 2>/dev/null || skip "python3 has no module yaml"
  clone_from_here
  installed
  google_benchmarks project
  printf '%s\n' .harness harness-pr >.gitignore
  git add .gitignore
  git commit -q -m 'What is not ours'
  git checkout -q -b slower
  sort_twice
  began=$SECONDS
}

# command_of FILE STEP: what the workflow runs there, with its variables.
command_of() {
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

linted() {
  HARNESS_BUILD=$WORK/lint "$GUIDES/../ci/actionlint.sh" .github/workflows/*.yml
  [[ $? == 0 || $? == 77 ]]
}

# A stranger's project with pytest-benchmark: what he types, timed. Debian's python3 has the plugin
# where the package is.
pytest_project() {
  local began=$SECONDS status=0
  if ! /usr/bin/python3 -c 'import pytest_benchmark' 2>/dev/null; then
    echo "skipped: python3-pytest-benchmark is not installed"
    return
  fi
  git -c init.defaultBranch=main init -q "$HOME/python"
  (
    cd "$HOME/python" || exit 1
    printf 'import time\n\nDELAY = 0.01\n\n\ndef test_sort(benchmark):\n    benchmark.pedantic(time.sleep, (DELAY,), rounds=20)\n' >test_sort.py
    printf '%s\n' .harness __pycache__ .pytest_cache .benchmarks >.gitignore
    git add .
    git commit -q -m 'Start'
    git checkout -q -b slower
    sed -i 's/0.01/0.03/' test_sort.py
    git commit -q -a -m 'Slower'
    harness gate --bench '/usr/bin/python3 -m pytest -q --benchmark-json=$OUT' --output ../python-left
  ) >"$WORK/said" 2>&1 || status=$?
  [ "$status" -eq 1 ] || cat "$WORK/said"
  check "a project with pytest-benchmark: one line typed, the regression found" test "$status" = 1
  check "Code Quality names the function" grep -q '"test_sort.py"' "$HOME/python-left/codequality.json"
  echo "it took $((SECONDS - began)) s"
}

# Who has no project at all, in a folder with nothing in it: what he types, timed. How sure the answer
# is depends on the machine; that there is one, and what is in the folder then, does not.
two_commands() {
  local began=$SECONDS status=0
  mkdir "$HOME/nothing"
  (
    cd "$HOME/nothing" || exit 1
    seq 200000 -1 1 >numbers
    harness compare -- gzip -1 -c numbers --versus gzip -6 -c numbers
  ) >"$WORK/said" 2>&1 || status=$?
  [[ $status == 1 || $status == 77 ]] || cat "$WORK/said"
  check "two commands: two lines typed, an answer" test "$status" = 1 -o "$status" = 77
  check "in a sentence of both" grep -q '^gzip -6 -c numbers .* gzip -1 -c numbers' "$WORK/said"
  check "and nothing else lies there" test "$(find "$HOME/nothing" -mindepth 1 -maxdepth 1 ! -name .harness -printf '%f')" = numbers
  echo "it took $((SECONDS - began)) s"
}

after() {
  local head status=0
  echo "the commands of the page took $((SECONDS - began)) s, besides building harness"
  pytest_project
  two_commands
  check "the checkout is as it was" test -z "$(git status --porcelain)"
  check "actionlint says nothing, or is not here" linted

  export RUNNER_TEMP=$WORK/runner GITHUB_EVENT_PATH=$WORK/event.json
  mkdir -p "$RUNNER_TEMP/harness"
  ln -s "$HOME/.local/harness" "$RUNNER_TEMP/harness/out"
  ln -s "$SOURCE_TREE/ci" "$RUNNER_TEMP/harness/ci"
  command_of .github/workflows/harness-pr.yml 'Measure both sides' >"$WORK/measure.sh"
  command_of .github/workflows/harness-comment.yml Comment >"$WORK/comment.sh"
  head=$(git rev-parse HEAD)
  jq -n --arg head "$head" --arg base "$(git rev-parse main)" '{action: "opened", pull_request:
    {number: 7, base: {sha: $base}, head: {sha: $head}}}' >"$GITHUB_EVENT_PATH"
  git init -q --bare "$HOME/remote.git"
  git remote add origin "$HOME/remote.git"
  unset HARNESS_BENCH
  forge_start
  bash -e "$WORK/measure.sh" >"$WORK/said" 2>&1 || status=$?
  [ "$status" -eq 1 ] || cat "$WORK/said"
  check "the workflow's own command finds it, too" test "$status" = 1
  forge_set --arg head "$head" '.pulls["7"] = {open: true, head: $head}'
  GITHUB_TOKEN=token-of-the-test HEAD_SHA=$head bash -e "$WORK/comment.sh"
  check "the comment names it" grep -q BM_sort <(forge '.notes[0].body')
}
