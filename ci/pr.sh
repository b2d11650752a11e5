#!/usr/bin/env bash
# Says whether a change makes something slower: its head against the commit it branched off, both
# built and measured in turn on this machine. It needs no right to write anywhere and no secret, so
# it may run the code of strangers; ci/comment.sh posts what it leaves behind.
#
#   pr.sh [--base REF] [--head REF] [--number N] [--output FOLDER] [OPTION VALUE...] [FILTER...]
#
# Without --base, --head and --number they are taken from the event of the workflow
# (GITHUB_EVENT_PATH) or of GitLab's merge request (CI_MERGE_REQUEST_...).
#
#   --output FOLDER        what is left behind, see below (default harness-pr)
#   --db FILE              a history to add to (default FOLDER/history.db, made anew)
#   --history BRANCH/NAME  begin with what ci/nightly.sh keeps there: it gives the comment its trends
#   --comment-id NAME      one comment a NAME (default harness): machines that each write their own
#   --image-base URL       where the pictures will be seen; with PICTURES_BRANCH that is where
#                          ci/comment.sh puts them on that branch of GITHUB_REPOSITORY, or of the
#                          project at GitLab's CI_PROJECT_URL
#   --suite --device --model --batch --seq --dim --variant --dtype --cache --budget --blocks
#   --timeout --seed --build-command --build-program --delta --fdr --metric
#                          as of `harness compare`
#
# For programs of your own that write Google Benchmark's JSON, or another form that `harness import`
# reads:
#   --bench COMMAND        one measurement: writes $OUT; the sources are in $SOURCE, what was built
#                          in $BUILD. Default: HARNESS_BENCH; where that is set, the options of
#                          harness's own kernels do not matter
#   --bench-build COMMAND  builds $SOURCE in $BUILD (default HARNESS_BENCH_BUILD, else cmake, Release)
#   --launches N           measurements of each side (default 6)
#
# FOLDER gets comment.md, pictures/, number, head, status (0, 1, 77 or 2), compare.json and
# junit.xml. Exit status: 0 no regression, or none that could be told (HARNESS_UNDECIDED=fail makes
# that 77); 1 regression; 2 usage or failure. Nothing but hashes and numbers of the event is used:
# titles and names of branches may hold what they like.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=ci/lib.sh
. "$here/lib.sh"
need git

base='' head='' number='' out=harness-pr db='' kept='' id=harness image_base=''
bench=${HARNESS_BENCH:-} bench_build=${HARNESS_BENCH_BUILD:-} launches=6 said='' measuring=() judging=() filters=()
while [ $# -gt 0 ]; do
  case $1 in
    -h|--help) usage_of "$0"; exit 0 ;;
    -*) [ $# -ge 2 ] || fail "$1 needs a value" ;;
  esac
  case $1 in
    --delta|--fdr) check_share "$1" "$2" ;;
  esac
  case $1 in
    --base) base=$2 ;;
    --head) head=$2 ;;
    --number) number=$2 ;;
    --output) out=$2 ;;
    --db) db=$2 ;;
    --history) kept=$2 ;;
    --comment-id) id=$2 ;;
    --image-base) image_base=$2 ;;
    --bench) bench=$2 said=--bench ;;
    --bench-build) bench_build=$2 ;;
    --launches) launches=$2 ;;
    --suite|--device|--model|--batch|--seq|--dim|--variant|--dtype|--cache|--budget|--blocks|\
      --timeout|--seed|--build-command|--build-program) measuring+=("$1" "$2") ;;
    --delta|--fdr|--metric) judging+=("$1" "$2") ;;
    -*) fail "unknown option $1; --help lists them" ;;
    *) filters+=("$1"); shift; continue ;;
  esac
  shift 2
done

case ${HARNESS_UNDECIDED:-pass} in
  pass|fail) ;;
  *) fail "HARNESS_UNDECIDED is '$HARNESS_UNDECIDED'; it may be pass or fail" ;;
esac
if [ ${#measuring[@]} -gt 0 ] && [ -n "$said" ]; then
  fail "${measuring[0]} does not go with --bench"
fi

# The event's own account of the change: numbers and hashes alone.
read_event() {
  local event=${GITHUB_EVENT_PATH:-}
  if [ -n "$event" ] && [ -z "$base" ]; then
    need jq
    if [ "$(jq -r '.action // ""' "$event")" = closed ]; then
      echo "pr.sh: the pull request is closed; nothing to measure"
      exit 0
    fi
    number=${number:-$(jq -r '.pull_request.number // ""' "$event")}
    head=${head:-$(jq -r '.pull_request.head.sha // ""' "$event")}
    base=$(jq -r '.pull_request.base.sha // ""' "$event")
    if ! is_commit "$base" || ! is_commit "$head"; then
      fail "the event in $event is of no pull request; give --base"
    fi
  elif [ -n "${CI_MERGE_REQUEST_IID:-}" ] && [ -z "$base" ]; then
    number=${number:-$CI_MERGE_REQUEST_IID}
    head=${head:-${CI_MERGE_REQUEST_SOURCE_BRANCH_SHA:-$CI_COMMIT_SHA}}
    base=${CI_MERGE_REQUEST_DIFF_BASE_SHA:-}
    is_commit "$base" || fail "CI_MERGE_REQUEST_DIFF_BASE_SHA is no commit; give --base"
  fi
}
read_event
[ -n "$base" ] || fail "give --base REF: the branch or commit to compare with"
[[ ! $number || $number =~ ^[1-9][0-9]{0,8}$ ]] || fail "--number: \"$number\" is no number"
[[ $launches =~ ^[1-9][0-9]{0,2}$ ]] || fail "--launches: \"$launches\" is no number up to 999"
[[ $id =~ ^[A-Za-z0-9][A-Za-z0-9._\ -]{0,60}$ ]] || fail "--comment-id: letters, digits, . _ -"

# commit_of REF: its full hash.
commit_of() {
  if [[ $1 == -* ]] || ! git rev-parse --verify --quiet "$1^{commit}"; then
    fail "git knows no commit \"$1\" here; in a workflow fetch all of the history (fetch-depth: 0)"
  fi
}
head=$(commit_of "${head:-HEAD}")
base=$(commit_of "$base")
fork=$(git merge-base "$base" "$head") ||
  fail "${base:0:7} and ${head:0:7} have no commit in common; is the clone a shallow one?"

harness=$(find_harness)
mkdir -p "$out"
rm -rf "${out:?}"/{comment.md,pictures,number,head,status,compare.json,junit.xml,kept}
out=$(realpath "$out")
if [ -z "$db" ]; then # what was measured another day is not measured in turn with this
  db=$out/history.db
  remove_history "$db"
fi
[ ! -e "$db" ] || [ -z "$kept" ] || fail "--history begins a new history; $db is there already"
printf '%s\n' "$head" >"$out/head"
[ -z "$number" ] || printf '%s\n' "$number" >"$out/number"

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

comment=(--format github --comment-id "$id" --output "$out/comment.md" --images "$out/pictures")
if [ -z "$image_base" ] && [ -n "${PICTURES_BRANCH:-}" ] && [ -n "$number" ]; then
  image_base=$(pictures_address)/pr-$number/${head:0:12}
fi
[ -z "$image_base" ] || comment+=(--image-base "$image_base")

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
if [ "$fork" = "$head" ]; then
  echo "pr.sh: ${head:0:7} has nothing that ${base:0:7} does not have; nothing to measure" >&2
  echo 0 >"$out/status"
  exit 0
elif [ -n "$bench" ]; then
  "$here/ab.sh" --base "$fork" --head "$head" --bench "$bench" --build "$bench_build" \
    --launches "$launches" --work "$out/work" --db "$db" --label "$id"
  "$harness" compare --baseline "label:$id base" --head "label:$id head" --db "$db" \
    "${judging[@]}" "${comment[@]}" "${filters[@]}" || status=$?
else
  "$harness" compare --build --baseline "$fork" --head "$head" --db "$db" --label "$id" \
    "${measuring[@]}" "${judging[@]}" "${comment[@]}" "${filters[@]}" || status=$?
fi
[ -s "$out/comment.md" ] || fail "there is no comparison, see above (status $status)"

# The same once more, for programs.
again() {
  "$harness" compare --baseline "label:$id base" --head "label:$id head" --db "$db" --no-record \
    "${judging[@]}" "$@" || [ $? -ne 2 ]
}
again --format json --output "$out/compare.json"
again --format junit --output "$out/junit.xml"
again
echo "$status" >"$out/status"
[ -z "${GITHUB_STEP_SUMMARY:-}" ] || cat "$out/comment.md" >>"$GITHUB_STEP_SUMMARY"

case $status in
  0) echo "pr.sh: no regression" ;;
  1) echo "pr.sh: REGRESSION, see above" ;;
  77)
    echo "pr.sh: cannot tell, see above"
    [ "${HARNESS_UNDECIDED:-pass}" = fail ] || exit 0
    ;;
esac
exit "$status"
