# shellcheck shell=bash
# A history that may only be read: reading works, writing says why not.

fake seed=3 --launches 3 --db h/history.db
chmod a-w h h/history.db
chmod a+rx . h
chmod a+r h/history.db
if [ -w h/history.db ]; then # root may write anything: be nobody
  as_nobody "root can write to read-only files"
fi
cp h/history.db before
t history list --db h/history.db
t history verify --db h/history.db
t compare --baseline run:1 --head 1 --db h/history.db | sed -n '/^[2$[]/p'
t compare --baseline run:1 --head 1 --no-record --db h/history.db | sed -n '/^[2$[]/p'
t run null/copy/right --device "$FAKE" --batch 1 --launches 1 --db h/history.db
t baseline save main --db h/history.db
t baseline save main --file - --db h/history.db | sed 's/^{.*/{.../'
t run null/copy/right --device "$FAKE" --batch 1 --launches 1 --db h/new.db
check "nothing changed" cmp h/history.db before
check "nothing was added" test "$(ls h)" = history.db
knock_checks "a history that may only be read" "reading works, writing says why not, nothing changes"

say "What of a folder may not be read is named"
mkdir res
"$HARNESS" export 1 --db h/history.db >res/1.json
cp res/1.json res/2.json
mkdir res/deep
chmod a+rx res
chmod a+r res/1.json
chmod 0 res/2.json res/deep
t export ./res/ --format csv -o /dev/null
t compare --baseline ./res/1.json --head ./res/ --no-record --db h/history.db | grep '^Left out'
chmod u+rwx res/deep

say "A history in a folder that may not be entered"
mkdir x
cp h/history.db x/h.db
chmod 0 x
t history list --db x/h.db
t history move y.db --db x/h.db
t history salvage x/h.db y.db
t run null/copy/right --device "$FAKE" --batch 1 --dry-run --tuned --db x/h.db
chmod u+rwx x
