#!/usr/bin/env bash
# Executes every command of a Markdown page as a reader would: in order, in one shell, in a scratch
# home; compares exit statuses, and output where the page shows it (guide.py says how).
#
#   run.sh HARNESS CMAKE PAGE.md NAME
#
# NAME.sh beside this file, if there is one, says what stands around the page, with the functions of
# lib.sh: before() makes what a reader has already, after() looks at more than the page shows, and
# `not_run PATTERN REASON` names commands that are not executed here; each is printed with its reason.
# Exit status 0, 1 or 77 (skipped). HARNESS_UPDATE_GUIDE=1 writes what was printed into the page.
set -euo pipefail

export -n HARNESS
HARNESS=$(realpath "$1") CMAKE=$2 PAGE=$(realpath "$3") NAME=$4
GUIDES=$(cd "$(dirname "$0")" && pwd)
command -v python3 >/dev/null || { echo "SKIPPED: there is no python3"; exit 77; }
if ldd "$HARNESS" | grep -qE 'lib[atl]san|libubsan'; then
  echo "SKIPPED: readers have no build with sanitizers"
  exit 77
fi

WORK=$(mktemp -d)
cleanup() {
  chmod -R u+w "$WORK" 2>/dev/null || true
  rm -rf "$WORK"
}
trap cleanup EXIT
STEPS=$WORK/steps
python3 "$GUIDES/guide.py" steps "$PAGE" "$STEPS"

# What a page must not inherit, be it a user's or a CI system's.
unset HARNESS_DB HARNESS_FAKE HARNESS_ISA HARNESS_SWEEP HARNESS_BENCH HARNESS_BENCH_BUILD HARNESS_CI
unset SLURM_ARRAY_JOB_ID NO_COLOR COLUMNS OMP_NUM_THREADS XDG_CONFIG_HOME GITLAB_CI
unset GITHUB_TOKEN GITHUB_REPOSITORY GITHUB_EVENT_PATH GITHUB_STEP_SUMMARY GITHUB_API_URL
unset HARNESS_GITLAB_TOKEN CI_MERGE_REQUEST_IID FORGE HARNESS_BOT PICTURES_BRANCH
export no_proxy=127.0.0.1,localhost # where the servers of tests are
# Roofs of tests are looked at by none but their own.
export HARNESS_ROOFS=quick
export LC_ALL=C.UTF-8 TZ=UTC0 HOME=$WORK/home
export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=ada@example.org
export GIT_COMMITTER_NAME=Ada GIT_COMMITTER_EMAIL=ada@example.org
mkdir "$HOME"
cd "$HOME"

status=0
started=$SECONDS
BUILT=$HARNESS BUILD_TREE=$(dirname "$HARNESS") SOURCE_TREE=$(cd "$GUIDES/../.." && pwd)
export BUILT BUILD_TREE SOURCE_TREE CMAKE WORK STEPS GUIDES SETTING=$GUIDES/$NAME.sh
bash "$GUIDES/session.sh" </dev/null || status=$?
[ "$status" -ne 77 ] || exit 77
if [ "${HARNESS_UPDATE_GUIDE:-}" = 1 ]; then
  python3 "$GUIDES/guide.py" update "$PAGE" "$STEPS"
elif ! python3 "$GUIDES/guide.py" check "$STEPS"; then
  echo "$PAGE shows something else. If it should: HARNESS_UPDATE_GUIDE=1, and read what changes."
  status=1
fi
echo "$((SECONDS - started)) s"
(exit "$status")
