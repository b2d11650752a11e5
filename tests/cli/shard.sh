# shellcheck shell=bash
# Parts of a sweep make the whole: each benchmark once, however they are divided: by their number,
# by a history, or by a file. U-12.

# run DB ARG...: runs over 49 benchmarks, nothing to see unless it fails.
run() {
  local db=$1
  shift
  "$HARNESS" run null/copy/right --device fake --batch 1:7:+1 --seq 1:64:*2 --launches 1 \
    --iterations 1 --format csv --db "$db" "$@" 2>err || cat err >&2
}
# Their keys.
keys() { run "$@" | sed -n 's/.*"\(null[^"]*\)".*/\1/p' | sort; }
plan() { sed -n 's/.*; plan //p' err; }

# parts NAME DB ARG...: all four, and what is to be said of them.
parts() {
  local name=$1 db=$2 i
  shift 2
  : >plans
  for i in 1 2 3 4; do
    keys "$db" "$@" --shard $i/4 >"$name$i"
    plan >>plans
  done
  check "the parts make the whole" cmp whole <(sort "$name"?)
  check "no benchmark is twice" test -z "$(sort "$name"? | uniq -d)"
  check "all say the same plan" test "$(sort -u plans | wc -l)" -eq 1
}
keys whole.db >whole
check "the whole is all 49" test "$(wc -l <whole)" -eq 49

say "Nothing is known: every fourth"
for i in 1 2 3 4; do
  keys none$i.db --shard $i/4 >every$i
  echo "part $i has $(wc -l <every$i)"
done
check "the parts make the whole" cmp whole <(sort every?)
check "no benchmark is twice" test -z "$(sort every? | uniq -d)"

say "By the history, into which all of them write"
cp whole.db shared.db
parts first shared.db
check "each says what it should last" grep -qE '^shard 4/4: [0-9]+ of 49 benchmarks, [0-9.]+ [mu]?s of [0-9.]+ [mu]?s a launch by what they last took; plan [0-9a-f]{16}$' err
parts second shared.db

say "One of them is started again while the others are to come"
: >plans
for i in 1 3 2 3 4; do
  keys shared.db --shard $i/4 >again$i
  plan >>plans
  [ $i -ne 3 ] || cp again3 "again.$(wc -l <plans)"
done
check "the parts make the whole" cmp whole <(sort again[1-4])
check "it got the same both times" cmp again.2 again.4
check "all say the same plan" test "$(sort -u plans | wc -l)" -eq 1

say "By a file: one that takes as long as all the others, and three that nobody knows"
{
  printf '{"schema_version":1,"seconds":{"%s":46' "$(head -1 whole)"
  sed -n '2,46s/.*/,"&":1/p' whole
  printf '}}'
} >durations.json
parts known whole.db --durations durations.json
for i in 1 2 3 4; do echo "part $i has $(wc -l <known$i)"; done
check "the long one is alone" cmp known1 <(head -1 whole)
printf '{"schema_version":1,"seconds":{"%s":1,"%s":2}}' "$(sed -n 3p whole)" "$(sed -n 5p whole)" >few.json
parts few whole.db --durations few.json
# A run in which all of them take as long, however busy this machine is.
run whole.db --format json -o run.json >/dev/null
sed -E 's/"seconds":[[:space:]]*[0-9.e+-]+/"seconds":1/g' run.json >even.json
"$HARNESS" import even.json --db even.db >/dev/null
check "the JSON of a run is such a file, too" \
  test "$(keys new.db --shard 1/2 --durations even.json | wc -l)" -ge 24
check "so is the history of another machine" \
  test "$(keys new.db --shard 1/2 --durations even.db | wc -l)" -ge 24

say "What ends between the parts of a sweep with a name changes none of them, nor does one that is made again"
cp even.db named.db
: >plans
for i in 1 2 3 4 2; do
  keys named.db --shard $i/4 --sweep nightly >named$i
  plan >>plans
  keys named.db >/dev/null
done
check "the parts make the whole" cmp whole <(sort named[1-4])
check "all say the same plan" test "$(sort -u plans | wc -l)" -eq 1
t baseline save alike --ref sweep:nightly --db named.db
keys named.db --shard 4/4 --sweep nightly --durations durations.json >named4
t baseline save unlike --ref nightly --db named.db

say "A part that was measured again is no base for the rest of its sweep"
for i in 1 2; do fake seed=3 --launches 5 --sweep before --shard $i/2 --db again.db; done
for i in 1 2 1; do fake seed=3,slow=1.5 --launches 5 --sweep after --shard $i/2 --db again.db; done
t compare --baseline latest --db again.db --json -o again.json
echo "$(json again.json base): $(json again.json counts regressed) regressed"

say "What is kept of it"
"$HARNESS" history show 1 --db none2.db >run.json
echo "shard $(json run.json runs 0 shard index)/$(json run.json runs 0 shard count)"
check "and the plan" grep -qE '"plan":[[:space:]]*"[0-9a-f]{16}"' run.json

say "Mistakes"
t run --shard 1/2 --durations no.json null/copy/right --device fake --db new.db
echo '{"a":1}' >odd.json
t run --shard 1/2 --durations odd.json null/copy/right --device fake --db new.db
printf '{"seconds":{"%s":"long"}}' "$(head -1 whole)" >odd.json
t run --shard 1/2 --durations odd.json null/copy/right --device fake --batch 1 --seq 1 --db new.db
t run --durations odd.json null/copy/right --device fake --db new.db
t run --shard 3/2 null/copy/right --device fake --db new.db
t run --shard 7/7 null/copy/right --device fake --batch 1 --seq 1 --db new.db
