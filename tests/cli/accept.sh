# shellcheck shell=bash
# Changes that are meant to be: accepted, they are no alarm, as long as the baseline lacks them.
# U-06, U-12.

# The commit is this build's, if it has one.
accept() { t baseline accept "$@" | sed -E 's/ since [0-9a-f]{7}$//'; }
# verdicts COMPARE-OPTION...: what it comes to.
verdicts() {
  local status=0
  "$HARNESS" compare "$@" --json -o verdicts.json || status=$?
  echo "compare $*: $(json verdicts.json counts regressed) regressed," \
    "$(json verdicts.json counts broken) broken, exit status $status"
}
key4='null/copy/right/fp32/batch=4,seq=16/fake/warm'

fake seed=3 --launches 5
t baseline save main
accept null --reason "too early"
t baseline accepted
fake seed=3,slow=1.10,only=4 --launches 5 --label slow
verdicts --baseline main

say "What cannot be accepted"
accept "$key4"
accept "$key4" --reason ""
accept gemm --reason "of others"
accept null --metric p95 --reason "was not compared"
accept null --metric nosuch --reason "no metric" | sed 's/; there are .*/ .../'
accept 'null/copy/right/fp32/batch=1,*' --reason "is the same"
accept 'null/copy/right/fp32/batch=[123],*' --reason "are all the same"
accept "$key4" --change -10% --reason "is no change for the worse"
accept "$key4" --change much --reason "no number"
t baseline accepted

say "Accepted: it no longer counts"
accept null/copy --metric median --reason "exact GELU costs that" --by "A. Person"
accept null/copy --reason "before it is compared again"
accept "$key4" --reason "by its key"
t compare --baseline main
t compare --baseline main --format markdown
accept null/copy --reason "twice"
t baseline accepted | sed -E 's/ +[0-9a-f]{7}  A/  A/;s/since +by/since  by/'
"$HARNESS" baseline accepted --json >accepted.json
echo "in JSON: $(json_length accepted.json), $(json accepted.json 0 metric)" \
  "$(json accepted.json 0 reason), by $(json accepted.json 0 author)"
t history verdicts 2
verdicts --baseline main --any-machine --no-record

say "More than was accepted counts again"
fake seed=3,slow=1.25,only=4 --launches 5 --label slower
verdicts --baseline main
accept "$key4" --change +30% --reason "half of it is still to be mended" --by me
verdicts --baseline main
verdicts --baseline main --head slow

say "Other benchmarks, metrics and the other direction are not accepted"
fake seed=3,slow=1.10,only=5 --launches 5 --label other
verdicts --baseline main
verdicts --baseline main --head slow --metric gflops
accept "$key4" --metric gflops --change +9% --reason "faster is not worse"
accept "$key4" --metric gflops --reason "the same in FLOP/s" --by me
verdicts --baseline main --head slow --metric gflops
verdicts --baseline slow --head main

say "A baseline that has the change: the same again is a new one"
fake seed=3,slow=1.10,only=4 --launches 5 --label slow-again
t baseline save now --ref slow-again
fake seed=3,slow=1.21,only=4 --launches 5 --label slower-still
verdicts --baseline now --head slower-still

say "Taken back"
t baseline unaccept 1
t baseline unaccept 1
verdicts --baseline main --head slow
t baseline unaccept 2
verdicts --baseline main --head slow
t baseline unaccept
t baseline unaccept one

say "Broken"
fake seed=3 --launches 3 --batch 1,2 --label all-ok
"$HARNESS" run null/copy/right --device "$FAKE,crash=2" --seed 1 --launches 3 --iterations 20 \
  --batch 1,2 --label dies >/dev/null 2>&1
verdicts --baseline all-ok --head dies
key2=${key4/batch=4/batch=2}
accept "$key2" --change +5% --reason "is no matter of time"
accept "$key2" --reason "the driver is to blame" --by me
verdicts --baseline all-ok --head dies

say "All or none of several"
fake seed=3 --launches 3 --batch 2,4 --label two-ok
"$HARNESS" run null/copy/right --device "fake:base=2000,seed=3,slow=1.10,only=2,crash=4" --seed 1 \
  --launches 3 --iterations 20 --batch 2,4 --label two-bad >/dev/null 2>&1
verdicts --baseline two-ok --head two-bad
"$HARNESS" baseline accepted --json >before.json
accept null/copy/right --metric p50 --change +12% --reason "the second cannot be"
"$HARNESS" baseline accepted --json >accepted.json
check "none was" cmp before.json accepted.json

say "Measured in turn: both sides are of today"
for which in same slower; do
  printf '#!/bin/sh\nHARNESS_FAKE=seed=3%s exec "%s" "$@"\n' \
    "$([ $which = same ] || echo ,slow=1.10,only=4)" "$HARNESS" >$which
  chmod +x $which
done
in_turn() { verdicts --baseline-bin ./same --head-bin ./slower null/copy/right --batch 3,4 \
  --device "$FAKE" --seed 1 --db turns.db 2>/dev/null; }
in_turn
"$HARNESS" baseline accept "$key4" --reason "meant to be" --db turns.db >/dev/null
in_turn

say "No commits: a base that was measured when the change had been seen has it"
# bare RUN: that run, as if nobody knew of which commit it is
bare() { "$HARNESS" history show "$1" | sed -E 's/("commit": ?")[0-9a-f]*/\1/'; }
bare 1 >bare-one.json
bare slow >bare-slow.json
bare slower-still >bare-still.json
verdicts --baseline ./bare-one.json --head ./bare-slow.json
accept "$key4" --reason "meant to be, whatever it is of" --by me
verdicts --baseline ./bare-one.json --head ./bare-slow.json
verdicts --baseline ./bare-slow.json --head ./bare-still.json
quiet baseline unaccept 5

say "Commits: what the baseline's commit descends from is in it, whenever that was measured"
command -v git >/dev/null || exit 0
quiet baseline unaccept 3
built=$("$HARNESS" version | sed -n 's/^commit \([0-9a-f]*\).*/\1/p')
[ -n "$built" ] || exit 0
mkdir repository && cd repository || exit 1
commits=()
for title in one two three four; do
  git -c init.defaultBranch=main init -q .
  git -c user.name=T -c user.email=t@example.org commit -q --allow-empty -m "$title"
  commits+=("$(git rev-parse HEAD)")
done
git config user.name "B. Person"
# at COMMIT RUN: that run, as if of that commit
at() { "$HARNESS" history show "$2" --db ../.harness/history.db | sed "s/$built/${commits[$1]}/"; }
at 0 1 >one.json
at 1 slow >two.json
at 2 slow >three.json
at 3 slower-still >four.json
cp ../.harness/history.db history.db
export HARNESS_DB=history.db
verdicts --baseline ./one.json --head ./two.json
accept "$key4" --reason "meant to be"
"$HARNESS" baseline accepted --json >accepted.json
last=$(($(json_length accepted.json) - 1))
check "it is of the head's commit" test "$(json accepted.json $last commit)" = "${commits[1]}"
echo "by $(json accepted.json $last author)"
verdicts --baseline ./one.json --head ./two.json
verdicts --baseline ./one.json --head ./three.json
verdicts --baseline ./two.json --head ./four.json
verdicts --baseline ./three.json --head ./four.json

say "A head that does not contain the accepted commit is not excused"
git checkout -q -b other "${commits[0]}"
git -c user.name=T -c user.email=t@example.org commit -q --allow-empty -m aside
commits+=("$(git rev-parse HEAD)")
at 4 slow >aside.json
verdicts --baseline ./one.json --head ./aside.json

say "Seen beside the commit that it was measured on top of: committed, it is accepted still"
git checkout -q main
quiet baseline unaccept 6
at 0 slow >uncommitted.json
verdicts --baseline ./one.json --head ./uncommitted.json
accept "$key4" --reason "not committed yet"
verdicts --baseline ./one.json --head ./uncommitted.json
verdicts --baseline ./one.json --head ./two.json
verdicts --baseline ./one.json --head ./two.json --any-machine --no-record
verdicts --baseline ./two.json --head ./four.json

say "Amended: where no branch has the accepted commit any more, time tells; where one has, a note does"
quiet baseline unaccept 7
git checkout -q -b topic "${commits[0]}"
git -c user.name=T -c user.email=t@example.org commit -q --allow-empty -m topic
commits+=("$(git rev-parse HEAD)")
at 5 slow >topic.json
verdicts --baseline ./one.json --head ./topic.json
accept "$key4" --reason "of a topic"
git -c user.name=T -c user.email=t@example.org commit -q --allow-empty --amend -m 'topic, in other words'
commits+=("$(git rev-parse HEAD)")
at 6 slow >amended.json
verdicts --baseline ./one.json --head ./amended.json
git branch kept "${commits[5]}"
verdicts --baseline ./one.json --head ./amended.json
"$HARNESS" compare --baseline ./one.json --head ./amended.json >compared.txt || true
sed -nE 's/ was accepted at [0-9a-f]{7}, / was accepted at COMMIT, /p' compared.txt
