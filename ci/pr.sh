#!/usr/bin/env bash
# Says whether a change makes something slower: `harness gate`, with what a forge needs around it.
# It needs no right to write anywhere and no secret, so it may run the code of strangers;
# ci/comment.sh posts what it leaves behind.
#
#   pr.sh [--output FOLDER] [--db FILE] [--history BRANCH/NAME] [--image-base URL]
#         [OPTION-OF-GATE...] [FILTER...]
#
#   --output FOLDER        what is left behind, see `harness help gate` (default harness-pr)
#   --db FILE              a history to add to (default FOLDER/history.db, made anew)
#   --history BRANCH/NAME  begin with what ci/nightly.sh keeps there: it gives the comment its trends
#   --image-base URL       where the pictures will be seen; with PICTURES_BRANCH that is where
#                          ci/comment.sh puts them on that branch of GITHUB_REPOSITORY, or of the
#                          project at GitLab's CI_PROJECT_URL
#
# HARNESS_BENCH and HARNESS_BENCH_BUILD are --bench and --build-command, where these are not given;
# options of harness's own kernels do not matter then.
# HARNESS_UNDECIDED=fail is --fail-on undecided.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=ci/lib.sh
. "$here/lib.sh"
need git
trust_checkout

out=harness-pr db='' kept='' image_base='' bench=${HARNESS_BENCH:-} build=${HARNESS_BENCH_BUILD:-}
given='' # --bench
gate=() kernels=() # options; those of harness's own kernels
help_if_asked "$@" # anywhere else it may be the value of one of gate's options
while [ $# -gt 0 ]; do
  case $1 in
    --output|--db|--history|--image-base) [ $# -ge 2 ] || fail "$1 needs a value" ;;
  esac
  case $1 in
    --output) out=$2; shift ;;
    --db) db=$2; shift ;;
    --history) kept=$2; shift ;;
    --image-base) image_base=$2; shift ;;
    --bench|--bench=*) bench='' given=yes; gate+=("$1") ;;
    --build-command|--build-command=*) build=''; gate+=("$1") ;;
    --suite|--device|--model|--batch|--seq|--dim|--variant|--dtype|--cache|--build-program)
      [ $# -ge 2 ] || fail "$1 needs a value"
      kernels+=("$1" "$2")
      shift
      ;;
    *) gate+=("$1") ;;
  esac
  shift
done
case ${HARNESS_UNDECIDED:-pass} in
  pass) ;;
  fail) gate+=(--fail-on undecided) ;;
  *) fail "HARNESS_UNDECIDED is '$HARNESS_UNDECIDED'; it may be pass or fail" ;;
esac
if [ -n "$bench" ]; then
  gate=(--bench "$bench" ${build:+--build-command "$build"} "${gate[@]}")
else
  gate=(${given:+${build:+--build-command "$build"}} "${kernels[@]}" "${gate[@]}")
fi

# Where a browser sees PICTURES_BRANCH.
pictures_address() {
  if [ -n "${GITHUB_REPOSITORY:-}" ]; then
    echo "https://raw.githubusercontent.com/$GITHUB_REPOSITORY/$PICTURES_BRANCH"
  elif [ -n "${CI_PROJECT_URL:-}" ]; then
    echo "$CI_PROJECT_URL/-/raw/$PICTURES_BRANCH"
  else
    fail "PICTURES_BRANCH needs GITHUB_REPOSITORY: OWNER/NAME, or GitLab's CI_PROJECT_URL"
  fi
}
if [ -z "$image_base" ] && [ -n "${PICTURES_BRANCH:-}" ]; then
  image_base="$(pictures_address)/pr-{number}/{head}"
fi

harness=$(find_harness)
rm -rf "${out:?}"/{pictures,kept}
out=$(realpath -m "$out")
if [ -z "$db" ]; then # what was measured another day is not measured in turn with this
  db=$out/history.db
  remove_history "$db"
fi
[ ! -e "$db" ] || [ -z "$kept" ] || fail "--history begins a new history; $db is there already"

# restore: what was fetched as the history; why not, where it is damaged or of a newer harness.
# Nothing is there then.
restore() {
  gzip -dc "$out/kept/history.db.gz" >"$out/kept/history.db" &&
    "$harness" history restore "$out/kept/history.db" --db "$db"
}

# The comment is worth something without trends, too.
fetch_history() {
  local why
  if "$here/branch.sh" get "${kept%/*}" "${kept##*/}" "$out/kept"; then
    why=$(restore 2>&1) || {
      why=$(grep -m 1 . <<<"$why") # gzip begins with an empty line
      echo "pr.sh: no trends: the history that is kept as $kept cannot be used: $why" >&2
    }
  fi
  rm -rf "$out/kept"
}
[ -z "$kept" ] || fetch_history

status=0
"$harness" gate --output "$out" --db "$db" --images "$out/pictures" \
  ${image_base:+--image-base "$image_base"} "${gate[@]}" || status=$?
[ -z "${GITHUB_STEP_SUMMARY:-}" ] || [ ! -s "$out/comment.md" ] ||
  cat "$out/comment.md" >>"$GITHUB_STEP_SUMMARY"
exit "$status"
