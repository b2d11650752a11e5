# shellcheck shell=bash
# A history that may only be read: reading works, writing says why not.

fake seed=3 --launches 3 --db h/history.db
chmod a-w h h/history.db
chmod a+rx . h
chmod a+r h/history.db
if [ -w h/history.db ]; then # root may write anything: be nobody
  command -v setpriv >/dev/null || skip "root can write to read-only files, and there is no setpriv"
  nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  "${nobody[@]}" "$HARNESS" version >/dev/null 2>&1 ||
    skip "the program lies where nobody but root can start it"
  printf '#!/bin/sh\nexec setpriv --reuid=65534 --regid=65534 --clear-groups "%s" "$@"\n' \
    "$HARNESS" >program
  chmod a+rx program
  HARNESS=$WORK/program
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
