# shellcheck shell=bash
# A file that is no sound history of this version is refused, and not written over.

try() {
  local file=$1
  cp "$file" before
  t history list --db "$file"
  t run null/copy/right --device "$FAKE" --batch 1 --launches 1 --iterations 3 --db "$file"
  t baseline save main --db "$file"
  check "$file is as it was" cmp "$file" before
}
# bytes FILE OFFSET ESCAPES: writes over some bytes
bytes() { printf '%b' "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none; }

fake seed=3 --launches 3 --db good.db
check "a history at rest is one file" test ! -s good.db-wal

say "No database"
seq 1 2000 >text.db
try text.db

say "Another program's database"
cp good.db foreign.db
bytes foreign.db 68 '\x00\x00\x00\x07'
try foreign.db

say "Of a newer version"
cp good.db newer.db
bytes newer.db 60 '\x00\x00\x03\xe7'
"$SEAL_HISTORY" newer.db
try newer.db

say "Cut off"
head -c 9000 good.db >short.db
try short.db

say "Overwritten inside"
cp good.db torn.db
size=$(stat -c %s torn.db)
head -c $((size - 4096)) /dev/zero | tr '\0' 'x' | dd of=torn.db bs=4096 seek=1 conv=notrunc status=none
cp torn.db before
t history verify --db torn.db | sed -E 's/(problems?)[:;].*/\1 .../;s/(malformed|corrupt|damaged).*/\1 .../;s/page [0-9]+/page N/'
check "torn.db is as it was" cmp torn.db before

say "Empty: nothing to read, a place for a new history"
: >empty.db
t history list --db empty.db
t run null/copy/right --device "$FAKE" --batch 1 --launches 1 --iterations 3 --db empty.db
t history verify --db empty.db

say "No file"
mkdir folder
t history list --db folder
t history list --db none.db
t run null/copy/right --device "$FAKE" --batch 1 --launches 1 --db ''
t run null/copy/right --device "$FAKE" --batch 1 --launches 1 --db text.db/x.db
knock_checks "files that are no sound history of this version" "refused, and left as they are"
