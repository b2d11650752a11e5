# shellcheck shell=bash
# A history copied, restored and moved by commands, and one whose file goes away while it is used. U-05.

hex() { sed -E 's/\.(before|kept|left|backup)-[0-9a-f]{8}/.\1-HEX/g'; }
files() { find "$1" -type f | sort | hex; }
# A process that was killed keeps its locks until its memory is given back.
gone() { wait_for not kill -0 "$1"; }

say "Backup and restore"
fake seed=1 --launches 1 --batch 1
t history backup kept.db
fake seed=2 --launches 2 --batch 1
t history restore kept.db --dry-run
t history restore kept.db
t history verify
t history restore none.db
t history restore kept.db --db new/h.db
t history restore kept.db --db kept.db
echo 'my notes' >notes.db
t history restore notes.db
t history restore kept.db --db notes.db | hex
check "what was there is kept" grep -q 'my notes' notes.db.before-*
head -c -8192 kept.db >damaged.db
t history restore damaged.db 2>&1 | cut -c1-60
t history restore

say "Move"
t history move kept.db --db new/h.db
t history move far/away/h.db --db new/h.db --dry-run
t history move far/away/h.db --db new/h.db
files new
files far
t history verify --db far/away/h.db
t history move x.db --db none.db
ln -s far/away/h.db link.db
t history move x.db --db link.db
t history move

say "A private history stays private"
fake seed=7 --launches 1 --batch 1 --db own.db
chmod 600 own.db
private() { test "$(stat -c %a "$1")" = 600; }
quiet history backup own_copy.db --db own.db
check "as a backup" private own_copy.db
quiet history restore own_copy.db --db own_new.db
check "as a new one, of the backup" private own_new.db
quiet history salvage own.db own_saved.db
check "salvaged" private own_saved.db
other_disk=$(mktemp -d /dev/shm/harness-XXXXXX 2>/dev/null || mktemp -d)
quiet history move "$other_disk/own.db" --db own_new.db
check "on another disk" private "$other_disk/own.db"
rm -r "$other_disk"
chmod 644 own_copy.db
echo 'my notes' >own.db
quiet history restore own_copy.db --db own.db
check "in the place of a damaged one" private own.db
chmod 444 own_copy.db
quiet history backup own_second.db --db own_copy.db
check "the copy of one that may not be written to may" test "$(stat -c %a own_second.db)" = 644

say "A name that SQLite would take for an address"
t history backup file:x.db --db far/away/h.db
t history verify --db file:x.db
quiet history salvage file:x.db file:y.db
t history verify --db file:y.db
quiet history restore file:x.db --db file:z.db
t history verify --db file:z.db
check "and nothing else is there" test "$(echo file:* [xyz].db*)" = "file:x.db file:y.db file:z.db [xyz].db*"

say "While somebody reads"
fake seed=3 --launches 1 --batch 1 --db far/away/h.db
"$HARNESS" serve --db far/away/h.db --port 0 >serving 2>&1 &
server=$!
check "it is served" wait_for grep -q 'http' serving
t history move x.db --db far/away/h.db
t history restore .harness/history.db --db far/away/h.db
kill -TERM $server
wait $server || true
t history move x.db --db far/away/h.db
knock_checks "histories restored and moved by commands" "the content is whole, before and after"

say "Copied over a file that is served, with the log of a run that was killed"
fake seed=5 --launches 1 --batch 1 --label first --db served.db
fake seed=6 --launches 1 --batch 1 --label other --db other.db
rm serving # on a busy machine it would be read before the server has made it empty
"$HARNESS" serve --db served.db --port 0 --open >serving 2>&1 &
server=$!
check "it is served" wait_for grep -q 'http' serving
port=$(grep -oE ':[0-9]+/' serving | head -1 | tr -d :/)
ask() {
  exec 3<>"/dev/tcp/127.0.0.1/$port"
  printf 'GET /api/core HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&3
  cat <&3
  exec 3<&-
}
shows() { grep -q "\"$1\"" <(ask); }
check "its run is shown" wait_for shows first
"$HARNESS" run null/copy/right --device "$FAKE,hang=3" --seed 2 --launches 2 --iterations 5 \
  --db served.db >out 2>err &
pid=$!
begun() { "$HARNESS" history list --db served.db | sed -n 2p | grep -q ' [1-9][0-9]* OK'; }
check "a run is measured" wait_for begun
disown $pid
kill -KILL $pid
gone $pid
cat other.db >served.db # as cp does it
check "the other history is shown" wait_for shows other
check "and not the old one" not shows first
check "it is sound" "$HARNESS" history verify --db served.db
kill -TERM $server
wait $server || true
check "and stays so" "$HARNESS" history verify --db served.db
"$HARNESS" history list --db served.db | grep -oE '[0-9]+ OK.*'
knock_checks "\`cp\` over a history that is served" "the new one is shown, sound, and has no page of the old"

say "Backups that are killed leave nothing for long"
fake seed=3,sd=0.05 --launches 40 --iterations 400 --db big.db
kills=20 left=0
mkdir copies
for ((i = 0; i < kills; i++)); do
  "$HARNESS" history backup "copies/$i.db" --db big.db >/dev/null 2>&1 &
  pid=$!
  disown $pid
  sleep "0.0$(printf %02d $((RANDOM % 40)))"
  kill -KILL $pid 2>/dev/null || true
  gone $pid
done
cp big.db copies/mine.backup-12.partial # not one of ours, by its name
exec 9>copies/x.backup-0a1b2c3d.partial # and one that somebody is writing
flock 9
quiet history backup copies/whole.db --db big.db
left=$(find copies -name '*.partial*' ! -name 'mine*' ! -name 'x.backup*' | wc -l)
[ "$left" = 0 ] || find copies -name '*.partial*'
check "nothing of them is left" test "$left" = 0
check "what others have is there" test -e copies/mine.backup-12.partial
check "what somebody holds is there" test -e copies/x.backup-0a1b2c3d.partial
exec 9>&-
quiet history backup copies/again.db --db big.db
check "until it is let go" test ! -e copies/x.backup-0a1b2c3d.partial
whole=0 nr=0
for copy in copies/*.db; do
  nr=$((nr + 1))
  "$HARNESS" history verify --db "$copy" >/dev/null && whole=$((whole + 1))
done
check "each that has its name is whole" test $whole = $nr
knock "kill -9 of \`history backup\`" $whole $nr "copies are whole or not there, left-overs go"

say "Removed while a run is measured"
# shellcheck disable=SC2016 # for that shell
echo 'until [ "$1" = 1 ] || [ -e removed ]; do sleep 0.05; done' >until_removed.sh
"$HARNESS" run --param n=1,2 --seed 6 --launches 1 --iterations 2 --no-repeat --db gone.db \
  -- sh until_removed.sh '{n}' >out 2>err &
pid=$!
some() { "$HARNESS" history list --db gone.db | grep -q ' [1-9][0-9]* OK'; }
check "some is measured" wait_for some
rm gone.db
touch removed
wait $pid
echo "[$?]"
tail -n 1 out | hex
grep '^harness:' err | hex
kept=$(echo gone.db.kept-*)
"$HARNESS" history list --db "$kept" | grep -oE '[0-9]+ OK.*'
t history merge "$kept" --db gone.db | hex
knock_if "\`rm\` of a history during a run" "all of the run is kept, and said" \
  "$HARNESS" history verify --db gone.db

say "The log of another file is told of by whichever command finds it"
fake seed=8 --launches 1 --batch 1 --db mine.db
"$HARNESS" run null/copy/right --device "$FAKE,hang=3" --seed 2 --launches 2 --iterations 5 \
  --db dead.db >out 2>err &
pid=$!
has_run() { "$HARNESS" history list --db dead.db | sed -n 2p | grep .; }
check "a run has begun" wait_for has_run
disown $pid
kill -KILL $pid
gone $pid
# tells COMMAND...: with the log of the one beside the other.
tells() {
  cp dead.db-wal mine.db-wal
  "$HARNESS" "$@" 2>&1 | grep 'the log beside it was of another file'
}
leaves() { not tells "$@" && cmp dead.db-wal mine.db-wal; }
check "not by names for the shell" leaves baseline list --names --db mine.db
check "nor by other names" leaves list metrics --names --db mine.db
check "by a merge of that file" tells history merge mine.db --db into.db
check "by a restore of it" tells history restore mine.db --db into.db
check "by a move" tells history move moved.db --db mine.db
