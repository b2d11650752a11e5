# shellcheck shell=bash
# Ctrl-C: what is finished is kept, and the program says so.

# The sixth case never ends; the five before it are done then.
"$HARNESS" run null/copy/right --device "$FAKE,hang=3" --seed 2 --launches 2 --iterations 5 \
  >out 2>err &
pid=$!
check "five cases get finished" wait_for finished 1 5
kill -INT $pid
status=0
wait $pid || status=$?
cat out
sed 's/^/2> /' err
echo "[$status]"
interrupted() { [ "$status" = "$1" ] && "$HARNESS" history list | grep -qE "^ +$2 .* 5 OK, unfinished"; }
knock_if "SIGINT" "5 of 5 finished measurements kept, and it says so" interrupted 130 1
t history list
t history verify
check "an unfinished run is no REF of its own accord" \
  not "$HARNESS" compare --baseline latest --head 1
t compare --baseline 1 --head 1

say "SIGTERM is the same"
"$HARNESS" run null/copy/right --device "$FAKE,hang=3" --seed 2 --launches 1 --iterations 5 \
  >out 2>err &
pid=$!
check "five cases get finished" wait_for finished 2 5
kill -TERM $pid
status=0
wait $pid || status=$?
sed 's/^/2> /' err
echo "[$status]"
knock_if "SIGTERM" "5 of 5 finished measurements kept, and it says so" interrupted 143 2

# struck CHECK COMMAND...: begun in the background, interrupted when CHECK holds.
struck() {
  local begun=$1
  shift
  status=0
  "$HARNESS" "$@" >out 2>err &
  pid=$!
  check "$*: is at it" wait_for "$begun"
  kill -INT $pid
  wait $pid || status=$?
  sed 's/^/2> /' err
  echo "[$status]"
}

say "The new side of a comparison"
new_side() { finished 3 5; }
struck new_side compare --baseline 1 --run null/copy/right --device "$FAKE,hang=3" --seed 2

say "A build"
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z'
git -c init.defaultBranch=main init -q project
cd project || exit 1
export GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=ada@example.org
export GIT_COMMITTER_NAME=Ada GIT_COMMITTER_EMAIL=ada@example.org
git commit -q --allow-empty -m Start
git commit -q --allow-empty -m Next
export CLI_TEST_PLACE=$PWD
building() { [ -e begun ]; }
# shellcheck disable=SC2016  # for the shell of the build
builds='touch "$CLI_TEST_PLACE/begun"; exec sleep 600'
struck building gate --base HEAD~1 --bench 'true' --build-command "$builds"
rm begun
struck building compare --baseline HEAD~1 --build --build-command "$builds" null/copy/right --device "$FAKE"
