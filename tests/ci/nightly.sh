# shellcheck shell=bash
# Nights: the history comes back from its branch and goes there again, a regression opens one issue
# with its commits, and closes it when it is gone. U-05, U-06, U-11.
# shellcheck disable=SC2016  # what is quoted is for another shell
# shellcheck source=tests/ci/lib.sh
. "$CLI/../ci/lib.sh"
forge_start
git init -q --bare remote.git
git -c init.defaultBranch=main init -q toy
cd toy || exit 1
git remote add origin ../remote.git
git commit -q --allow-empty -m 'Start'

# night SETTINGS [ARG...]: one night on the fake device, on a fresh checkout's terms.
night() {
  local settings=$1
  shift
  rm -rf ../out
  s nightly.sh --output ../out --branch history --name box null/copy/right --device "$FAKE,$settings" \
    --seed 1 --iterations 20 --launches 1 --batch 3,4 --seq 8 "$@" >../said 2>&1
}
issues() { forge '.issues[] | "#\(.number) \(if .open then "open" else "closed" end): \(.title)"'; }

say "Too few nights to tell"
night seed=1,sd=0.004
status_in ../said
grep -c 'first night' ../said
night seed=2,sd=0.004
status_in ../said
check "the history has both" test "$("$HARNESS" history list --db ../out/history.db | grep -c OK)" = 2
(cd ../out && find . -type f ! -name 'history.db*' | sort | paste -sd ' ')

say "A long time all is well"
# Nights one by one are slow; these are the same by hand.
for i in $(seq 3 14); do fake "seed=$i,sd=0.004" --launches 1 --batch 3,4 --seq 8 --db ../out/history.db; done
rm -rf ../back
mkdir ../back
quiet history backup ../back/history.db --db ../out/history.db
gzip ../back/history.db
"$CI/branch.sh" put history box ../back
night seed=15,sd=0.004
status_in ../said
check "no issue" test "$(forge '.issues | length')" = 0

say "One of the two gets slower, and stays so"
for i in $(seq 16 24); do
  night "seed=$i,sd=0.004,slow=1.2,only=4"
  status_in ../said
done | sort | uniq -c | sed 's/^ *[0-9]* //'
status_in ../said
issues
check "the trend is on the page of the issue's run" grep -q 'null/copy' ../out/trend.md

say "It goes"
for i in $(seq 25 36); do
  night "seed=$i,sd=0.004"
  [ "$(forge '[.issues[] | select(.open)] | length')" != 0 ] || break
done
issues
status_in ../said
check "one issue in all" test "$(forge '.issues | length')" = 1

say "A folder that was kept with the log of a run that was killed, night after night"
again() { # SEED: as night, but what is in the folder stays
  s nightly.sh --output ../out --branch history --name box null/copy/right \
    --device "$FAKE,seed=$1,sd=0.004" --seed 1 --iterations 20 --launches 1 --batch 3,4 --seq 8 \
    >../said 2>&1
}
kill_a_run() {
  "$HARNESS" run null/copy/right --device "$FAKE" --launches 1000 --iterations 20 --batch 3,4 --seq 8 \
    --db ../out/history.db >../killed 2>&1 &
  local pid=$!
  wait_for test -s ../out/history.db-wal
  sleep 0.3
  disown $pid
  kill -KILL $pid
}
nights=4 held=0
before=$("$HARNESS" history list -n 1000 --db ../out/history.db | grep -c OK)
for i in $(seq $nights); do
  kill_a_run
  again "$((50 + i))"
  "$HARNESS" history verify --db ../out/history.db >/dev/null || break
  [ "$("$HARNESS" history list -n 1000 --db ../out/history.db | grep -c OK)" = $((before + i)) ] || break
  held=$((held + 1))
done
check "each time it has all nights, and one more" test $held = $nights

say "It is meant to be: that is said in the history that is kept, by one command"
rm -rf ../back
"$CI/branch.sh" get history box ../back
gzip -d ../back/history.db.gz
# Not as slow as before: a level that comes back is one of two modes, and no step.
for i in $(seq 60 75); do
  fake "seed=$i,sd=0.004,slow=1.5,only=4" --launches 1 --batch 3,4 --seq 8 --db ../back/history.db
done
mkdir ../meant
quiet history backup ../meant/history.db --db ../back/history.db
gzip ../meant/history.db
"$CI/branch.sh" put history meant ../meant
on_meant() { "$CI/history.sh" history/meant "$@"; }
check "a step stands" not on_meant trend --delta 3%
on_meant baseline accept null/copy --reason 'checks its input' >../said 2>&1
check "it is accepted" grep -q '^accepted as 1: null/copy/right/' ../said
check "and stands no longer" on_meant trend --delta 3%
git -C ../remote.git rev-parse history >../before
on_meant history list >../said 2>&1
check "what is only read is not put back" cmp ../before <(git -C ../remote.git rev-parse history)
s history.sh history/nowhere trend 2>&1 | grep -v '^2> branch.sh'
s history.sh history/meant baseline accept null/copy --reason twice 2>&1 | sed 's#/[^ ]*/history.db#DB#'

say "Written while a night measures: neither is lost"
cat >../bench.sh <<'END'
echo x >>../count
printf '{"context":{"num_cpus":2},"benchmarks":[{"name":"BM","run_type":"iteration","iterations":9,"real_time":%d,"time_unit":"us"}]}' \
  $((1000 + $(wc -l <../count))) >"$OUT"
END
own() { # COMMAND [ARG...]: a night of the project's own
  HARNESS_BENCH_BUILD=true s nightly.sh --output ../own --branch history --name own --launches 1 --bench "$@" \
    >../said 2>&1
}
own 'sh ../bench.sh'
status_in ../said
export CI
own 'sh ../bench.sh; "$CI/history.sh" history/own history annotate latest "new BIOS" >&2'
status_in ../said
check "both nights are there" test "$("$CI/history.sh" history/own history list | grep -c OK)" = 2
"$CI/history.sh" history/own trend --json >../trend.json 2>/dev/null
check "and what was written" test "$(jq -r '.annotations[].text' ../trend.json)" = "new BIOS"

say "Put there while a night packs its history, by another clone: neither is lost"
git init -q ../other
git -C ../other remote add origin "$WORK/remote.git"
mkdir ../bin
cat >../bin/git <<'GIT'
#!/usr/bin/env bash
PATH=${PATH#*:} # that of the git behind this one
if [[ " $* " == *" push "* ]] && mkdir "$WORK/raced" 2>/dev/null; then
  (cd "$WORK/other" && "$CI/history.sh" history/own history annotate latest "new fan") >&2
fi
exec git "$@"
GIT
chmod +x ../bin/git
PATH=$WORK/bin:$PATH own 'sh ../bench.sh'
status_in ../said
check "somebody was faster" test -d ../raced
check "all nights are there" test "$("$CI/history.sh" history/own history list | grep -c OK)" = 3
"$CI/history.sh" history/own trend --json >../trend.json 2>/dev/null
check "and what was written" test "$(jq -r '.annotations[].text' ../trend.json | sort | paste -sd ,)" = "new BIOS,new fan"

say "What is old goes where that is wanted; a history that cannot be put back is told, and so is the trend"
nights() { "$CI/history.sh" history/own history list | grep -c OK; }
own 'sh ../bench.sh' --prune '--keep-runs 1 --vacuum'
status_in ../said
check "one night of before stays" test "$(nights)" = 2
own 'sh ../bench.sh' --prune '--keep-runs none'
status_in ../said
tail -n 1 ../said
check "it was measured all the same" test "$(nights)" = 3
s nightly.sh --prune "'"  2>&1 | grep -v '^2> xargs'
rm -r ../own
own 'sh ../bench.sh; mv ../remote.git ../away.git'
mv ../away.git ../remote.git
status_in ../said
tail -n 1 ../said
check "there is a trend" grep -q '1 too short' ../own/trend.txt
check "and a history to keep" gzip -t ../own/history.db.gz

say "A result that is wrong is told, a damaged history is kept, and nothing is measured"
night seed=40 null/copy/inexact
status_in ../said
rm -rf ../back
mkdir ../back
head -c 5000 /dev/urandom | gzip >../back/history.db.gz
"$CI/branch.sh" put history box ../back
git -C ../remote.git rev-parse history >../before
night seed=41
status_in ../said
check "the branch is as it was" cmp ../before <(git -C ../remote.git rev-parse history)
s nightly.sh --name ../x
s nightly.sh --delta 5

say "Programs of one's own: one that writes nothing is no night, whatever is left of another"
mkdir ../out2
echo '{}' >../out2/launch-001.json
export HARNESS_BENCH_BUILD=true
HARNESS_BENCH='true "$OUT"' s nightly.sh --output ../out2 --launches 2 2>&1 | sed "s#$WORK#WORK#"

say "What is a result for a gate is one for a night: a file, what is printed, the time of the whole"
cat >../print.sh <<'END'
printf '{"context":{"num_cpus":2},"benchmarks":[{"name":"BM","run_type":"iteration","iterations":9,"real_time":%s,"time_unit":"us"}]}' \
  "$(date +%N | sed 's/^0*//')"
END
printf 'sh ../print.sh >"$BENCHMARK_OUT"\necho "BM took long"\n' >../write.sh
for command in 'sh ../write.sh' 'sh ../print.sh' 'sort: sh ../print.sh' 'A=1 "$SOURCE"/../takes.sh x' 'wait: sleep 0.01'; do
  rm -rf ../out3
  printf '#!/bin/sh\necho done\n' >../takes.sh
  chmod +x ../takes.sh
  "$CI/nightly.sh" --output ../out3 --launches 3 --bench "$command" >../said 2>&1 || cat ../said
  "$HARNESS" history show latest --db ../out3/history.db >../shown.json
  echo "$command: $(jq -r '[.. | objects | .key // empty] | unique | join(" ")' ../shown.json)"
done
check "it took ten milliseconds" test "$(jq '[.. | objects | .samples_ns? // empty | .[]] | min / 1e7 | floor' ../shown.json)" -ge 1
printf '#!/bin/sh\n[ "$2" != --dry-run ] || exit 3\nexec "%s" "$@"\n' "$HARNESS" >../keyless
chmod +x ../keyless
HARNESS=$WORK/keyless s nightly.sh --output ../out4 --launches 1 --bench 'sleep 0.01'
HARNESS_BENCH='[ ! -e ../once ] || exit 0; touch ../once; sh ../print.sh' s nightly.sh --output ../out4 --launches 2
HARNESS_BENCH='echo in vain; exit 3' s nightly.sh --output ../out4

say "A night is of the commit that was built, whatever is checked out when it ends"
built=$(git rev-parse HEAD)
"$CI/nightly.sh" --output ../out5 --launches 1 --bench 'git commit -q --allow-empty -m Later; sh ../print.sh' \
  >../said 2>&1 || cat ../said
"$HARNESS" history show latest --db ../out5/history.db >../shown.json
check "it is" test "$(jq -r '.runs[0].build.commit' ../shown.json)" = "$built"
