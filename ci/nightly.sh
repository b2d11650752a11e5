#!/usr/bin/env bash
# A night's run into the long history of a machine, and what the history now says: a report, and
# with a forge's token an issue for each regression (ci/alert.sh).
#
#   nightly.sh [--output FOLDER] [--db FILE] [--branch BRANCH] [--name NAME]
#              [--bench COMMAND] [RUN-OPTION...]
#
#   --output FOLDER   gets trend.json, trend.txt, trend.md, report.html, history.db.gz, doctor.txt
#                     (default harness-nightly)
#   --db FILE         the history (default FOLDER/history.db)
#   --branch BRANCH   where the history is kept between the nights: fetched before, put back after.
#                     A branch without history of its own (ci/branch.sh)
#   --name NAME       this machine's folder on the branch (default cpu)
#   --bench COMMAND   instead of `harness run`, one of `harness gate`, [NAME: ]COMMAND: its result is
#                     what it writes to $OUT, or to its standard output, in a form that `harness
#                     import` reads, else the time of the whole command, unless that names $OUT.
#                     (Default HARNESS_BENCH; where that is set, options of `harness run` do not
#                     matter.) It runs in this checkout; HARNESS_BENCH_BUILD is run once before,
#                     with $SOURCE, here, and $BUILD as of `harness gate`
#   --launches N      times COMMAND is run (default 5)
#   --delta SHARE     leave out steps smaller than this (default 3%)
#   --prune OPTIONS   of `harness history prune`, which is done before measuring, as words of a shell:
#                     '--samples-older-than 90d --vacuum'. A forge may refuse a history that only grows
# All other options are those of `harness run`, such as --suite full --device cuda.
#
# Exit status: 0 no step for the worse stands, or too few nights to tell; 1 a regression
# stands, or a result was wrong; 2 failure. Where only the history is not pruned, or not put back, the
# night is measured and told all the same.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=ci/lib.sh
. "$here/lib.sh"

out=harness-nightly db='' branch='' name=cpu bench=${HARNESS_BENCH:-} launches=5 delta=3% prune='' run=()
while [ $# -gt 0 ]; do
  case $1 in
    -h|--help) usage_of "$0"; exit 0 ;;
    --output|--db|--branch|--name|--bench|--launches|--delta|--prune)
      [ $# -ge 2 ] || fail "$1 needs a value"
      ;;
  esac
  case $1 in
    --output) out=$2; shift ;;
    --db) db=$2; shift ;;
    --branch) branch=$2; shift ;;
    --name) name=$2; shift ;;
    --bench) bench=$2; shift ;;
    --launches) launches=$2; shift ;;
    --delta) delta=$2; shift ;;
    --prune) prune=$2; shift ;;
    *) run+=("$1") ;;
  esac
  shift
done
[[ $name =~ ^[A-Za-z0-9_][A-Za-z0-9._-]*$ ]] || fail "--name: letters, digits, . _ -"
[[ $launches =~ ^[1-9][0-9]{0,2}$ ]] || fail "--launches: \"$launches\" is no number up to 999"
check_share --delta "$delta"
words_of "$prune" || fail "--prune has a quote without its other half: $prune"
prune_options=("${words[@]}")
undone=()
harness=$(find_harness)
trust_checkout
mkdir -p "$out"
out=$(realpath "$out")
db=${db:-$out/history.db}

# The token is for the alerts: what is measured does not get it. (What git needs to push the branch
# is in the configuration of the checkout, or in git's part of the environment; a night measures code
# that is in the repository already.)
export -n GITHUB_TOKEN HARNESS_GITLAB_TOKEN

# A history that cannot be read is never replaced by a new one.
fetch_history() {
  local status=0
  kept_fetch "$branch" "$name" "$db" "$out/kept" || status=$?
  case $status in
    0) ;;
    1) fail "the history that was kept is damaged" ;;
    77) echo "nightly.sh: this is the first night of $name" ;;
    *) fail "the history cannot be fetched; nothing was measured" ;;
  esac
}

# keep_history: false where it is not all kept.
keep_history() {
  local put=yes
  rm -rf "$out/history.db.gz" "$out/kept"
  [ -z "$branch" ] || kept_put "$branch" "$name" "$db" "$out/kept" || put=no
  # What cannot be put there is packed all the same: it is an artifact of the job.
  [ -f "$out/kept/history.db.gz" ] || kept_pack "$db" "$out/kept" || return 1
  cp "$out/kept/history.db.gz" "$out/history.db.gz" && [ $put = yes ]
}

# The name and the command of --bench, as harness/session/bench/bench.c takes them apart: what has no
# name is called by its program.
bench_name=bench bench_call='' bench_project=() bench_form=''
# shellcheck disable=SC2016
names_out='\$(OUT([^A-Za-z0-9_]|$)|\{OUT)'
split_bench() {
  local words word
  if [[ $bench =~ ^([A-Za-z0-9_.+-]{1,60}):\ (.*)$ ]]; then
    bench_name=${BASH_REMATCH[1]} bench_call=${BASH_REMATCH[2]} bench_project=(--project "$bench_name")
    return
  fi
  bench_call=$bench
  read -rd '' -a words <<<"$bench" || true
  for word in "${words[@]}"; do
    [[ $word != *=* ]] || continue # a variable of the command's environment
    word=${word##*/}
    word=${word//[^A-Za-z0-9_.+-]/}
    [[ ! $word =~ ^[A-Za-z0-9] ]] || bench_name=${word:0:60}
    break
  done
}

# is_result FILE: can `harness import` read it?
is_result() {
  local status=0
  "$harness" import "$1" --db "$out/try.db" >/dev/null 2>&1 || status=$?
  remove_history "$out/try.db"
  return $status
}

# write_time FILE BEGAN TOOK, in microseconds: a result of hyperfine, by the key that `harness gate`
# gives the time of a command. When it began makes it unlike all others: a file that is in the history
# already adds nothing.
write_time() {
  local key
  key=$("$harness" run --dry-run --name "$bench_name" -- true) || key=''
  [ -n "$key" ] || fail "no key for the time of the command: $bench"
  printf '{"results": [{"command": "%s", "times": [%d.%06d]}], "began": %s}\n' "$key" \
    $(($3 / 1000000)) $(($3 % 1000000)) "$2" >"$1"
}

# call_bench FILE: one launch, whose result is FILE then. What a result is, the first call decides.
call_bench() {
  local said=$out/said.txt form start took
  start=${EPOCHREALTIME/[.,]/}
  OUT=$1 BENCHMARK_OUT=$1 BENCHMARK_OUT_FORMAT=json sh -c "$bench_call" </dev/null >"$said" || {
    tail -n 20 "$said" >&2
    fail "the command failed: $bench"
  }
  took=$((${EPOCHREALTIME/[.,]/} - start))
  if [ -s "$1" ]; then
    form="a result in \$OUT"
  elif [[ $bench_call =~ $names_out ]]; then
    fail "the command wrote no \$OUT ($1): $bench"
  elif is_result "$said"; then
    form='a result on its standard output'
    cp "$said" "$1"
  else
    form='no result, so its time counts'
    write_time "$1" "$start" $took
    bench_project=()
  fi
  [ "${bench_form:-$form}" = "$form" ] || fail "the command gave $bench_form before, and $form now: $bench"
  bench_form=$form
}

measure() {
  local launch files=() commit
  commit=$(git rev-parse --verify --quiet HEAD 2>/dev/null) || commit='' # before it is built
  if [ -z "$bench" ]; then
    "$harness" run "${run[@]}" --db "$db" --output "$out/run.txt"
    return
  fi
  export SOURCE=$PWD BUILD=$out/build
  mkdir -p "$BUILD"
  sh -c "${HARNESS_BENCH_BUILD:-$build_by_cmake}" >"$out/build.log" 2>&1 </dev/null || {
    tail -n 20 "$out/build.log" >&2
    fail "the build failed"
  }
  rm -rf "$out"/launch-*.json # of another night: the command may write none
  split_bench
  for launch in $(seq "$launches"); do
    files+=("$(printf '%s/launch-%03d.json' "$out" "$launch")")
    call_bench "${files[-1]}"
  done
  rm -f "$out/said.txt"
  "$harness" import "${files[@]}" --label nightly --machine this --db "$db" \
    ${commit:+--commit "$commit"} "${bench_project[@]}"
}

[ -z "$branch" ] || fetch_history
if [ -f "$db" ]; then
  "$harness" history verify --db "$db" >&2 || fail "the history $db is damaged; nothing was measured"
  [ ${#prune_options[@]} -eq 0 ] || "$harness" history prune "${prune_options[@]}" --db "$db" >&2 || undone+=(pruned)
fi
"$harness" doctor >"$out/doctor.txt" 2>&1 || true

wrong=0
measure || wrong=$?
[ "$wrong" -le 1 ] || fail "nothing was measured (status $wrong)"
keep_history || undone+=("kept outside of $db")
rm -rf "$out/kept"

status=0
trend=("$harness" trend --delta "$delta" --db "$db")
"${trend[@]}" --all --json --output "$out/trend.json" || status=$?
[ "$status" -ne 2 ] || fail "the history tells nothing, see above"
"${trend[@]}" --output "$out/trend.txt" || true
"${trend[@]}" --format markdown --output "$out/trend.md" || true
cat "$out/trend.txt"
[ -z "${GITHUB_STEP_SUMMARY:-}" ] || cat "$out/trend.md" >>"$GITHUB_STEP_SUMMARY"
"$harness" report --db "$db" --output "$out/report.html" ||
  echo "nightly.sh: there is no report, see above" >&2

if [ -n "${GITHUB_TOKEN:-}${HARNESS_GITLAB_TOKEN:-}" ]; then
  export GITHUB_TOKEN HARNESS_GITLAB_TOKEN
  HARNESS=$harness HARNESS_BENCH=$bench "$here/alert.sh" "$out/trend.json" --db "$db" ${branch:+--history "$branch/$name"} ||
    fail "the issues are not up to date, see above"
else
  echo "nightly.sh: no token of a forge, so no issues are opened or closed"
fi
[ ${#undone[@]} -eq 0 ] || fail "see above: the history was not ${undone[0]}${undone[1]:+, nor ${undone[1]}}"
[ "$status" -ne 77 ] || status=0 # too few nights yet
[ "$wrong" -eq 0 ] || status=1
exit "$status"
