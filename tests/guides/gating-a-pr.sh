# shellcheck shell=bash
# docs/guides/gating-a-pr.md as a stranger follows it: a project with three Google Benchmarks, a change
# that makes one slower; then the workflows' own commands, into a comment. Offline. U-07, U-10.
# shellcheck disable=SC2016  # what is quoted is for jq
before() {
  python3 -c 'import yaml' 2>/dev/null || skip "python3 has no module yaml"
  clone_from_here
  installed
  google_benchmarks project
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

after() {
  local head status=0
  echo "the commands of the page took $((SECONDS - began)) s, besides building harness"
  check "the worktrees are gone" test "$(git worktree list | wc -l)" = 1
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
