# shellcheck shell=bash
# What the golden tests are written in; sourced by run.sh before the test itself.

# The device with a scripted clock: everything it measures is known beforehand.
# shellcheck disable=SC2034  # for the tests
FAKE=fake:base=2000,seed=3

# t ARG...: one call of the program, as a reader would see it.
t() { called harness "$HARNESS" "$@"; }

# called NAME PROGRAM ARG...: the call, its exit status in brackets if that is not 0, and what it says. Without the
# roofs: whether a call measures them (again) depends on how busy the machine was when the last one did.
called() {
  local name=$1 status=0
  shift
  "$@" >"$WORK.log/out" 2>"$WORK.log/err" || status=$?
  shift
  printf '$ %s%s%s\n' "$name" "$([ $# -eq 0 ] || printf ' %q' "$@")" \
    "$([ $status -eq 0 ] || echo " [$status]")"
  cat "$WORK.log/out"
  sed -E -e '/^(measuring the roofs of|the roofs vary by) /d' -e 's/^/2> /' "$WORK.log/err"
}

# The same without the list of all that there is: it grows with every new kernel.
t_cut() { t "$@" | sed -E 's/(there are:?) .*/\1 .../'; }

# brief: a filter for what an earlier call of the test has shown: how measuring goes, and what the
# words of a comparison end with.
brief() {
  sed -zE -e 's/\n(2> (measuring|block|comparison) |Noise, medians |[0-9]+ compared, chance )[^\n]*//g' \
    -e 's/\nThe (base|head) was measured from a tree [^\n]*//g' \
    -e 's/\n\n+(2> |$)/\n\1/'
}

# quiet ARG...: a step that the test needs but does not look at.
quiet() {
  "$HARNESS" "$@" >"$WORK.log/out" 2>"$WORK.log/err" && return
  echo "harness $* failed with status $?:"
  cat "$WORK.log/out" "$WORK.log/err"
  exit 1
}

# Runs of the fake device: quick and without a table. fake SETTINGS RUN-OPTION...
fake() {
  local settings=$1
  shift
  quiet run null/copy/right --device "fake:base=2000,$settings" --seed 1 --iterations 20 "$@"
}

# as_nobody WHY PREFIX...: from here on the program is started through PREFIX..., and not by root.
as_nobody() {
  local why=$1 nobody=()
  shift
  if [ "$(id -u)" = 0 ]; then
    command -v setpriv >/dev/null || skip "$why, and there is no setpriv"
    nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    "${nobody[@]}" "$HARNESS" version >/dev/null 2>&1 ||
      skip "the program lies where nobody but root can start it"
  fi
  printf '#!/bin/sh\nexec %s "%s" "$@"\n' "${nobody[*]} $*" "$HARNESS" >program
  chmod a+rx program
  HARNESS=$WORK/program
}

# change FILE SQL: as another program would that keeps the checksums of pages, past all checks.
change() {
  if command -v sqlite3 >/dev/null; then
    sqlite3 "$1" "$2"
  else
    python3 -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.executescript(sys.argv[2])
db.close()' "$1" "$2" || skip "there is neither sqlite3 nor python3"
  fi
  "$SEAL_HISTORY" "$1"
}

# say TITLE: a new part of the test.
say() {
  count_facts
  printf '\n== %s\n' "$*"
}

# fact WHAT COMMAND...: something that is no output of the program; it is named where it does not hold.
checks=0 checks_held=0
fact() {
  local what=$1
  shift
  checks=$((checks + 1))
  if "$@" >/dev/null 2>&1; then
    checks_held=$((checks_held + 1))
  else
    echo "NO: $what"
  fi
}

# check WHAT COMMAND...: a fact that is looked at everywhere: how many held is told at the end of a
# part, so that none is left out unseen.
check() {
  local before=$checks_held
  fact "$@"
  [ $checks_held -eq $before ] || echo "$1" >>"$WORK.log/facts"
}

count_facts() {
  [ ! -s "$WORK.log/facts" ] || echo "facts: $(wc -l <"$WORK.log/facts")"
  : >"$WORK.log/facts"
}
trap count_facts EXIT

# Hard knocks, for the table of `ctest -L reliability`: what was done, how often it held, how often it
# was done, what holding means.
knock() { printf '%s\t%s\t%s\t%s\n' "$@" >>"$KNOCKS"; }

# knock_checks WHAT MEANING: it holds where the checks since the last call do.
knock_checks() {
  knock "$1" $checks_held $checks "$2"
  checks=0 checks_held=0
}

# knock_if WHAT MEANING COMMAND...: done once; it holds where the command succeeds.
knock_if() {
  local what=$1 meaning=$2 held=0
  shift 2
  if "$@" >/dev/null 2>&1; then held=1; fi
  knock "$what" $held 1 "$meaning"
}

# Of random cases and moments, for RANDOM: HARNESS_SEED, or the day's, as tests/support/knocks.h has
# it. It is told beside the result.
random_seed() {
  local day=$(($(date +%s) / 86400))
  echo "${HARNESS_SEED:-$((day * 1000))}"
}

not() { ! "$@"; }

skip() {
  echo "SKIPPED: $*"
  exit 77
}

# json_asked --value|--length FILE KEY...: by json_value.c where it is built, which starts at once; what it
# leaves is for cmake, a parser that is there in any case.
json_asked() {
  local how=$1 file=$2 length=() status=3
  shift 2
  [ "$how" = --value ] || length=(-DLENGTH=1)
  if [ -n "${JSON_VALUE:-}" ]; then
    status=0
    "$JSON_VALUE" "$how" "$file" "$@" || status=$?
  fi
  [ $status -eq 3 ] || return $status
  "$CMAKE" -DFILE="$file" -DKEYS="$(IFS=';' && echo "$*")" "${length[@]}" -P "$CLI/json.cmake"
}

# json FILE KEY...: a value in a JSON file.
json() { json_asked --value "$@"; }

# json_length FILE KEY...: how many elements an array or object has.
json_length() { json_asked --length "$@"; }

# wait_for COMMAND...: until it succeeds, at most 20 s.
wait_for() {
  local tries=0
  until "$@" >/dev/null 2>&1; do
    tries=$((tries + 1))
    [ $tries -lt 400 ] || return 1
    sleep 0.05
  done
}

# finished RUN NR: so many measurements of the run are in the history by now.
finished() { "$HARNESS" history list | grep -qE "^ +$1 .* $2 OK"; }

# Processes that carry this mark in their environment: a test's own, whoever their parent is. Others
# come and go meanwhile, which grep takes for a failure: what it found is what counts. What looks for
# them carries none.
marked() {
  CLI_TEST_MARK='' grep -lsz "^CLI_TEST_MARK=$1\$" /proc/[0-9]*/environ | CLI_TEST_MARK='' grep .
}

# marked_with MARK ARGUMENT: has one of them this argument?
marked_with() {
  marked "$1" | sed 's/environ$/cmdline/' | CLI_TEST_MARK='' xargs grep -qsz "^$2\$"
}

# A git repository in ./toy whose builds are this program with a fake device of other settings.
toy_repository() {
  export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
  export GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=ada@example.org
  export GIT_COMMITTER_NAME=Ada GIT_COMMITTER_EMAIL=ada@example.org
  git -c init.defaultBranch=main init -q toy
  cd toy || exit 1
  cat >build.sh <<'END'
fake=$(cat fake) first=
[ -n "$fake" ] || { echo "fake:1: error: nothing here" >&2; exit 1; }
[ "$fake" != mute ] || first='[ "$1" = version ] || exit 9'
printf '%s\n' '#!/bin/sh' "$first" "export HARNESS_FAKE=${fake#mute}" "exec $HARNESS \"\$@\"" \
  >"$BUILD/harness"
chmod +x "$BUILD/harness"
echo once more >>"$BUILD/../../builds.count"
END
  printf '%s\n' .harness >.gitignore
  git add .
}

# toy_commit SETTINGS TITLE: one more commit, always with the same hash. No SETTINGS: it does not
# build; "mute": it builds, but measures nothing.
toy_commit() {
  echo "$1" >fake
  git add fake
  GIT_AUTHOR_DATE='2026-01-02 03:04:05Z' GIT_COMMITTER_DATE='2026-01-02 03:04:05Z' \
    git commit -q --allow-empty -m "$2"
}
