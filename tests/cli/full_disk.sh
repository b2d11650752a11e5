# shellcheck shell=bash
# No room left: a clear error, and what was there stays whole. A limit on the size of files stands
# for the disk.

fake seed=3 --launches 3 --db h.db
t history verify --db h.db
limit=$(($(stat -c %s h.db) / 1024 + 8))
(
  trap '' XFSZ # the write fails instead of the process
  ulimit -f $limit
  status=0
  "$HARNESS" run null/copy/right --device "$FAKE,sd=0.1" --seed 1 --launches 50 --iterations 5000 \
    --db h.db >out 2>err || status=$?
  echo "status $status"
)
grep -v '^launch' err
check "what was finished before is kept" "$HARNESS" history verify --db h.db
"$HARNESS" history list --db h.db | tail -1
knock_checks "a file that may not grow (ulimit)" "a clear error, what was finished is kept"

say "A salvage that has no room"
(
  trap '' XFSZ
  ulimit -f 100
  t history salvage h.db rest.db | sed -E 's/damaged-[0-9a-f]+/damaged-NR/'
)
check "it leaves nothing" not ls rest.db*

say "A result that cannot be written"
t run null/copy/right --device "$FAKE" --seed 1 --batch 1 --launches 1 --iterations 5 -o /dev/full
t history list
