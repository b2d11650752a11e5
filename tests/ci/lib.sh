# shellcheck shell=bash
# What the tests of ci/ share; sourced by them, after tests/cli/lib.sh.
# shellcheck disable=SC2034  # for the tests
HERE=$(cd "$CLI/../ci" && pwd)
CI=$(cd "$CLI/../../ci" && pwd)
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=ada@example.org
export GIT_COMMITTER_NAME=Ada GIT_COMMITTER_EMAIL=ada@example.org
# What a real CI has set must not reach the tests.
unset GITHUB_ACTIONS GITHUB_TOKEN GITHUB_REPOSITORY GITHUB_EVENT_PATH GITHUB_STEP_SUMMARY GITHUB_API_URL
unset GITLAB_CI HARNESS_GITLAB_TOKEN CI_MERGE_REQUEST_IID CI_PROJECT_URL FORGE HARNESS_BOT PICTURES_BRANCH
unset HARNESS_BENCH HARNESS_BENCH_BUILD ALERT_BISECT BISECT_OPTIONS

need_tools() {
  local tool
  for tool in "$@"; do
    command -v "$tool" >/dev/null || skip "there is no $tool here"
  done
}

# s SCRIPT ARG...: one call of a script of ci/.
s() {
  local name=$1
  shift
  called "ci/$name" "$CI/$name" "$@"
}

# status_in FILE: that of the call which the file has.
status_in() {
  local status
  status=$(sed -nE '1s/.* (\[[0-9]+\])$/\1/p' "$1")
  echo "${status:-[0]}"
}

# A forge on loopback, whose state lies in forge.json; ended with the test.
forge_start() {
  need_tools python3 jq curl
  echo '{"pulls": {}, "notes": [], "issues": [], "log": []}' >"$WORK/forge.json"
  python3 "$HERE/fake_forge.py" "$WORK/forge.json" "$WORK/forge.port" &
  FORGE_PID=$!
  trap 'kill $FORGE_PID; count_facts' EXIT
  wait_for test -s "$WORK/forge.port" || { echo "the fake forge does not start"; exit 1; }
  export GITHUB_API_URL CI_API_V4_URL GITHUB_REPOSITORY=ada/toy GITHUB_TOKEN=token-of-the-test
  GITHUB_API_URL=http://127.0.0.1:$(cat "$WORK/forge.port")
  CI_API_V4_URL=$GITHUB_API_URL
}

# forge JQ-PROGRAM: looks at the state.  forge_set JQ-PROGRAM: changes it.
forge() { jq -r "$@" "$WORK/forge.json"; }
forge_set() {
  jq "$@" "$WORK/forge.json" >"$WORK/forge.new"
  mv "$WORK/forge.new" "$WORK/forge.json"
}
