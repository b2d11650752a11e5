#!/usr/bin/env bash
# Runs one golden test of the program:
#
#   tests/cli/run.sh HARNESS CMAKE tests/cli/NAME.sh
#
# NAME.sh is sourced in a fresh folder, with the functions of lib.sh; all it prints, made
# independent of time, place and build, must equal NAME.expected. Exit status 0, 1 or 77 (skipped,
# with a reason). HARNESS_UPDATE_GOLDEN=1 writes NAME.expected instead: read the difference.
set -euo pipefail

HARNESS=$(realpath "$1")
CMAKE=$2
TEST=$(realpath "$3")
CLI=$(cd "$(dirname "$0")" && pwd)
expected=${TEST%.sh}.expected

WORK=$(mktemp -d)
cleanup() {
  chmod -R u+w "$WORK" "$WORK.log" 2>/dev/null || true
  rm -rf "$WORK" "$WORK.log"
}
trap cleanup EXIT
mkdir "$WORK.log"

# What the test has to tell of hard knocks, for the table of `ctest -L reliability`.
told=${HARNESS_KNOCKS:-/dev/null}
unset HARNESS_KNOCKS
export KNOCKS=$WORK.log/knocks
: >"$KNOCKS"
: >"$told"

# What a test must not inherit.
unset OPENBLAS_CORETYPE BLIS_ARCH_TYPE ONEDNN_MAX_CPU_ISA DNNL_MAX_CPU_ISA MKL_ENABLE_INSTRUCTIONS ATEN_CPU_CAPABILITY
unset HARNESS_DB HARNESS_FAKE HARNESS_ISA HARNESS_SWEEP SLURM_ARRAY_JOB_ID NO_COLOR COLUMNS OMP_NUM_THREADS XDG_CONFIG_HOME
export no_proxy=127.0.0.1,localhost # where the servers of tests are
# Roofs of tests are looked at by none but their own.
export HARNESS_ROOFS=quick
export LC_ALL=C.UTF-8 TZ=UTC0
# The crashes of the tests are meant: they shall be signals under a sanitizer, too.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:handle_segv=0"
# The user's own harness.json, that is: there is none unless the test makes one.
export HOME=$WORK.log/home
JSON_VALUE=$(dirname "$HARNESS")/tests/cli/json_value
[ -x "$JSON_VALUE" ] || JSON_VALUE= # of an installed program
export HARNESS CMAKE WORK CLI JSON_VALUE

# A mark of a project, so that the default history lies here whatever is above.
mkdir "$WORK/.git"
cd "$WORK"

# Only what differs between machines, builds and times; the rest is compared to the letter.
commit=$("$HARNESS" version | sed -n 's/^commit \([0-9a-f]*\).*/\1/p')
class=$("$HARNESS" list machines | sed -n '2s/^  \([^ ]*\) .*/\1/p')
normalise() {
  sed -E \
    -e "s#$WORK#WORK#g" \
    -e "s/$class/CLASS/g" \
    -e 's/[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}Z/TIME/g' \
    -e 's/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/UUID/g' \
    -e "s/${commit:-no commit}/COMMIT/g" \
    -e "s/ at ${commit:0:7}( with uncommitted changes)?//g" \
    -e '/^(- )?The (base|head) was measured from a tree with uncommitted changes\.$/d' \
    -e 's/^( *run  uuid .*)  commit( +launches)/\1\2/' \
    -e 's/^( *[0-9]+  )[0-9a-f]{8}(  TIME  )/\1UUID\2/' \
    -e '/^ *(run  uuid|[0-9]+  UUID  TIME)  /s/   +/  /g' \
    -e 's/^( *[0-9]+  UUID  TIME(  .*)?)  [0-9a-f]{7}\+?(  [0-9]+  [0-9]+ OK)/\1\3/' \
    -e 's/^(2> launch [0-9]+\/[0-9]+: .* left ).*/\1T/' |
    sed -zE 's/\n\n+(\$ |facts: |$)/\n\1/g;s/\n\n\n+== /\n\n== /g' # what a note that is left out leaves behind
}

status=0
bash -c 'set -u; . "$CLI/lib.sh"; . "$1"' bash "$TEST" >"$WORK.log/raw" 2>&1 </dev/null || status=$?
# What a test leaves out here and why is for the log alone; it goes on with the rest.
sed -n '/^skipped: /p' "$WORK.log/raw"
normalise <"$WORK.log/raw" | sed '/^skipped: /d' >"$WORK.log/actual"
if [ "$status" -ne 0 ]; then
  cat "$WORK.log/actual"
  [ "$status" -ne 77 ] || sed -n 's/^SKIPPED: /skipped\t/p' "$WORK.log/actual" >"$told"
  [ "$status" -eq 77 ] || echo "the test script ended with status $status"
  exit "$status"
fi
if [ "${HARNESS_UPDATE_GOLDEN:-}" = 1 ]; then
  cp "$WORK.log/actual" "$expected"
  echo "wrote $expected"
elif ! diff -u --label expected --label actual "$expected" "$WORK.log/actual"; then
  echo "If that is intended: HARNESS_UPDATE_GOLDEN=1, and read what changes."
  exit 1
fi
cat "$KNOCKS" >"$told"
