# shellcheck shell=bash
# Names for runs, in the history and as files. U-06, U-12.

t baseline list
t baseline save main
t baseline remove main --db typo.db
t baseline accept null --reason none --db typo.db
t baseline unaccept 1 --db typo.db
t compare --baseline main --run null/copy/right --device fake --db typo.db
check "no history is made by that" test ! -e .harness -a ! -e typo.db
fake seed=3 --launches 3
t baseline list
t baseline save main --note "the first"
t baseline save main
fake seed=3 --launches 3 --label twice
fake seed=3 --launches 3 --label twice
t baseline save team/both --ref twice
t baseline list
t baseline show team/both
t baseline save main --replace
t baseline show main
"$HARNESS" baseline list --json >list.json
echo "in JSON: $(json_length list.json), $(json list.json 1 name) has" \
  "$(json_length list.json 1 runs) runs"
for option in ref=1 note=n replace file=f reason=r metric=p50 change=+8% by=me names json here; do
  t baseline remove main "--$option"
done
t baseline show main --names
t baseline remove main
t baseline remove main
t history list

say "As a file, to be reviewed and kept with the code"
t baseline save gate --ref 1 --file b/gate.json
t baseline save gate --ref 1 --file auto
t baseline save gate --ref 1 --file b/gate.json --note "why"
t baseline save gate --ref 1 --file b/gate.json --replace
check "it is where compare looks" cmp b/gate.json baselines/*/gate.json
for name in latest 42 a..b ../out release/ main.json release/1.0; do
  t baseline save "$name" --ref 1 --file auto
done
t compare --baseline ./b/gate.json --head 2
t compare --baseline gate --head 2 | brief
t compare --baseline baseline:gate --head 2 | brief
t compare --baseline team/both --head 1 | brief
t compare --baseline release/1.0 --head 2 | brief
t baseline show release/1.0 --here
t baseline show team/both --here
t baseline show main --here | sed 's/\("baseline:main"\).*/\1/'
t baseline show gate --here --json
measured_beside() {
  "$HARNESS" compare --baseline "$1" --run null/copy/right --device "$FAKE" --seed 1 --batch 4 --db none.db 2>&1
}
check "without a history a pipe is read once" grep -q '^1 compared' <(measured_beside <(cat b/gate.json))

say "A file goes before a label or branch of that name, a baseline of the history before the file"
fake seed=3 --launches 3 --label gate
t compare --baseline gate --head 2 | brief
t compare --baseline label:gate --head 2 | brief
t baseline save gate --ref 3
t compare --baseline gate --head 2 | brief
t baseline show gate --here
t history verify

say "Runs of another machine class"
class=$("$HARNESS" list machines | sed -n '2s/^  \([^ ]*\) .*/\1/p')
"$HARNESS" history show 1 | sed "s/\"$class\"/\"elsewhere\"/" >elsewhere.json
quiet import elsewhere.json --db moved.db
quiet baseline save gate --db moved.db
quiet baseline save far --db moved.db
t baseline show far --here --db moved.db
t baseline show gate --here --db moved.db
t baseline save far --db moved.db --file auto
