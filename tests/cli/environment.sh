# shellcheck shell=bash
# Where the history lies, colours, and readers that went away.

run() { t run null/copy/right --device "$FAKE" --seed 1 --batch 1 --launches 1 --iterations 5 "$@"; }
say "The history is the project's, from any folder in it"
mkdir -p project/.git project/sub/deep
cd project/sub/deep || exit 1
run | grep '^run'
cd "$WORK" || exit 1
check "it is at the top" test -f project/.harness/history.db
check "and only there" test ! -e .harness

say "HARNESS_DB, and --db before it"
HARNESS_DB=$WORK/variable.db run | grep '^run'
HARNESS_DB=$WORK/variable.db run --db option.db | grep '^run'
HARNESS_DB=$WORK/variable.db t history verify
HARNESS_DB='' t history list

say "Colours on a terminal alone, and not against the user's will"
cd project || exit 1
coloured() { grep -q $'\033\[[0-9;]*m' "$1"; }
quiet run null/copy/right --device "$FAKE" --seed 1 --launches 3 --iterations 5
quiet run null/copy/right --device "$FAKE,slow=2" --seed 1 --launches 3 --iterations 5
if command -v script >/dev/null; then
  script -qec "'$HARNESS' compare --baseline 2 --head 3" terminal >/dev/null 2>&1
  NO_COLOR=1 script -qec "'$HARNESS' compare --baseline 2 --head 3" plain >/dev/null 2>&1
  check "colours on a terminal" coloured terminal
  check "none with NO_COLOR" not coloured plain
  check "the verdict in both" test "$(grep -l regressed terminal plain | wc -l)" -eq 2
else
  skip "there is no script to make a terminal with"
fi
"$HARNESS" compare --baseline 2 --head 3 >piped
check "none in a pipe" not coloured piped

say "A reader that went away, a full disk, a closed output"
mkfifo reader
true <reader &
exec 4>reader # it has opened it
wait $!       # and it is gone
status=0
"$HARNESS" list >&4 2>err || status=$?
exec 4>&-
cat err
echo "[$status]"
t list models >/dev/null
status=0
"$HARNESS" list >/dev/full || status=$?
echo "[$status]"
status=0
"$HARNESS" list >&- || status=$?
echo "[$status]"
status=0
"$HARNESS" run null/copy/right --device "$FAKE" --seed 1 --launches 2 --iterations 5 \
  >&- 2>err || status=$?
grep -v '^launch' err
echo "[$status]"
t history verify
t history list
