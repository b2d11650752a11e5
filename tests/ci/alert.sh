# shellcheck shell=bash
# Issues from a trend: opened once, joined, closed when it is gone, opened again, left alone when a
# person closed it; names that would like to be markup. U-06, U-11.
# shellcheck disable=SC2016  # what is quoted is for jq, or meant as it is
# shellcheck source=tests/ci/lib.sh
. "$CLI/../ci/lib.sh"
forge_start
git init -q toy
cd toy || exit 1
for title in 'Start' 'Add a <b>cache</b> & @ada' 'Drop $(touch run) `touch run`' 'After'; do
  GIT_AUTHOR_DATE='2026-01-02 03:04:05Z' GIT_COMMITTER_DATE='2026-01-02 03:04:05Z' \
    git commit -q --allow-empty -m "$title"
done
good=$(git rev-parse HEAD~3) bad=$(git rev-parse HEAD~1)
day=86400000
t0=1767312000000 # 2026-01-02

# trend: as `harness trend --all --json` says it, from the steps and quiet series in $steps, $quiet.
trend() {
  jq -n --argjson steps "[${steps:-}]" --argjson quiet "[${quiet:-}]" \
    --argjson withdrawn "[${withdrawn:-}]" --argjson watch "[${watch:-}]" --argjson cards "[${cards:-}]" \
    --arg metric "${metric:-p50}" \
    '{schema_version: 1, metric: $metric, fdr: 0.05, delta: 0.03, exit_status: 0, counts: {},
      steps: $steps, withdrawn: $withdrawn, watch: $watch, drifts: [], quiet: $quiet, cards: $cards}' >trend.json
}
# step KEY FROM-DAY TO-DAY CHANGE [MORE]: worse, and still there.
step() {
  jq -nc --arg key "$1" --argjson from $((t0 + $2 * day)) --argjson to $((t0 + $3 * day)) \
    --argjson change "$4" --arg good "$good" --arg bad "$bad" --argjson more "${5:-{\}}" \
    '{key: $key, machine: "box", points: 30, good: {run: 1, time_ms: $from, commit: $good},
      bad: {run: 2, time_ms: $to, commit: $bad}, before: 100, after: 110, change: $change,
      worse: true, p: 0.001, q: 0.01, state: "still there"} + $more'
}
calm() { jq -nc --arg key "$1" --argjson p "${2:-0.6}" '{key: $key, machine: "box", points: 30, p: $p}'; }
alert() {
  trend
  s alert.sh trend.json
}
issues() { forge '.issues[] | "#\(.number) \(if .open then "open" else "closed" end): \(.title)"'; }
body() { forge ".issues[$1].body" | sed -e "s/$good/GOOD/g; s/$bad/BAD/g" -e "s/${good:0:12}/GOOD/g; s/${bad:0:12}/BAD/g" -e "s/${good:0:7}/GOOD/g; s/${bad:0:7}/BAD/g" -e "s/$(git rev-parse --short HEAD~2)/COMMIT/"; }
both=$(step a/b 3 5 0.12),$(step a/c 4 6 0.31)

say "Nothing stands"
quiet=$(calm a/b)
alert
issues

say "Two benchmarks in one window are one issue"
steps=$both quiet=''
alert
issues
body 0 | sed -E 's/(harness-alert:)[A-Za-z0-9+=/]+/\1MARK/'
forge '.issues[0].body' | sed -n 's/^<!-- harness-alert:\(.*\) -->$/\1/p' | while read -r mark; do
  base64 -d <<<"$mark" | jq -c '{key, machine, metric}'
done

say "It stays: no second one, also if the estimate moves by a run"
alert
steps=$(step a/b 4 6 0.11),$(step a/c 4 6 0.31)
alert
issues

say "A third benchmark joins it, and another window is another issue"
steps=$both,$(step a/d 5 6 0.07),$(step a/b 20 21 0.5)
alert
alert
issues
body 0 | grep '^|'
check "the marks of all three are there" \
  test "$(forge '.issues[0].body' | grep -c '^<!-- harness-alert:')" = 3

say "One of the three went back: the issue stays"
gone='{"back": {"run": 9, "time_ms": 1}, "state": "went back"}'
steps=$(step a/b 3 5 0.12 "$gone"),$(step a/c 4 6 0.31),$(step a/d 5 6 0.07),$(step a/b 20 21 0.5)
alert
issues
say "One is not measured any more: that says nothing"
steps=$(step a/b 3 5 0.12 "$gone"),$(step a/c 4 6 0.31 "$gone"),$(step a/b 20 21 0.5)
alert
quiet=$(calm a/d null)
alert
issues
say "All three are gone: one went back, one was accepted, one was withdrawn; the note says so"
withdrawn=$(step a/d 4 6 0.07 '{"gone": {"run": 9, "time_ms": 1}, "state": "withdrawn at abc, 2026-01-20: a slope | or so"}')
steps=$(step a/b 3 5 0.12 "$gone"),$(step a/c 4 6 0.31 '{"accepted": "wanted"}'),$(step a/b 20 21 0.5)
quiet=$(calm a/d)
alert
alert
issues
forge '.notes[] | "\(.on): \(.body)"'
withdrawn=''

say "It stands again: the same issue"
steps=$both,$(step a/b 20 21 0.5)
alert
issues
check "it is no longer marked as closed" not grep -q 'harness-alert-closed' <(forge '.issues[0].body')

say "What a person closed stays closed"
forge_set '.issues[1].open = false'
alert
issues

say "All of an issue went back as another one comes in the same window: it stays, with that"
forge_set '.issues = []'
steps=$both
alert
steps=$(step a/b 3 5 0.12 "$gone"),$(step a/c 4 6 0.31 "$gone"),$(step a/e 4 5 0.2)
alert
issues
body 0 | grep '^|' | tail -n 1

say "A trend of another metric says nothing of it"
forge_set '.issues = []'
steps=$both
alert
metric=p99 steps='' quiet=$(calm a/b),$(calm a/c)
alert
issues
steps=$(step a/b 3 5 0.4) quiet=$(calm a/c)
alert
issues
metric='' steps='' quiet=$(calm a/b),$(calm a/c)
alert
issues
quiet=''

say "Where more is better the worst step leads, too, and what is no speed got worse"
forge_set '.issues = []'
metric=thr
steps=$(step a/b 3 5 -0.055),$(step a/c 4 6 -0.3),$(step a/d 4 6 -0.2)
alert
forge_set '.issues = []'
metric=memory
steps=$(step a/b 3 5 0.12),$(step a/c 4 6 0.31)
cards=$(jq -nc 'range(2) | {kind: "step", nth: ., title: "+12 % worse"}' | paste -sd ,)
alert
body 0 | grep -E '^The history|as before'
metric='' cards=''

say "No alarms: better, accepted, with a change of environment"
forge_set '.issues = []'
steps=$(step a/b 3 5 -0.2 '{"worse": false}'),$(step a/c 4 6 0.3 '{"accepted": "wanted"}')
steps+=,$(step a/d 4 6 0.3 '{"surroundings": "compiler: 12 to 13"}')
alert
issues

say "On watch: no issue"
watch=$(step a/f 3 5 0.2),$(step a/g 3 5 -0.2 '{"worse": false}')
alert
issues
watch=''

say "Names that would like to be more"
steps=$(step '$(touch run)/`touch run`/a|b/<script>/@ada/#1/-->/_*_[x](y)' 3 5 0.2)
steps+=,$(step $'new\nline' 3 5 0.1)
alert
issues
body 0 | sed -n 3,6p
check "nothing was run" test ! -e run
alert
issues

say "Others' issues with such a mark are not ours"
forge_set '.issues[0].author = "mallory"'
alert
forge '.issues | length'

say "At most so many new ones"
forge_set '.issues = []'
steps=$(step a/a 1 2 0.1)
for i in 3 5 7 9; do steps+=,$(step a/a $i $((i + 1)) 0.1); done
trend
ALERT_LIMIT=2 s alert.sh trend.json
ALERT_LIMIT=2 s alert.sh trend.json
forge '.issues | length'
s alert.sh trend.json --dry-run
forge '.issues | length'

say "A body that somebody has edited takes another benchmark, too"
forge_set '.issues = []'
steps=$(step a/b 3 5 0.12)
alert
forge_set '.issues[0].body |= gsub("\n\n<!--"; "\n<!--")'
steps+=,$(step a/c 4 5 0.1)
alert
check "every mark is whole" test "$(forge '.issues[0].body' | grep -c harness-alert:)" = \
  "$(forge '.issues[0].body' | grep -c '^<!-- harness-alert:[A-Za-z0-9+/=]* -->$')"

say "Where that is wanted the commit is looked for; what looks for it sees no token"
forge_set '.issues = []'
# shellcheck disable=SC2028  # for that shell
echo '#!/bin/sh
echo "by $* <token ${GITHUB_TOKEN:-none}, ${HARNESS_GITLAB_TOKEN:-none}>"' >"$WORK/bisector"
chmod +x "$WORK/bisector"
steps=$(step --seed=4 3 5 0.2)
trend
HARNESS=$WORK/bisector ALERT_BISECT=1m BISECT_OPTIONS='--seed 3' s alert.sh trend.json
body 0 | sed -n '/^<pre>/,/^<.pre>/p' | tail -n 3

say "It is looked for by what the nights measured"
# shellcheck disable=SC2028  # for that shell
echo '#!/bin/sh
printf "[%s] " "$@" >"$WORK/called"' >"$WORK/bisector"
plain_commits() { sed -e "s/$good/GOOD/g; s/$bad/BAD/g"; }
# searched: a night with this step alone; what its issue says, and what is called.
searched() {
  forge_set '.issues = []'
  rm -f "$WORK/called"
  trend
  HARNESS=$WORK/bisector ALERT_BISECT=1m s alert.sh trend.json --db n.db | grep -v '^alert.sh: '
  body 0 | grep -E '^(To search|No search)'
  [ ! -e "$WORK/called" ] || { cat "$WORK/called" && echo; } | plain_commits
}
steps=$(step --seed=4 3 5 0.2)
export HARNESS_BENCH='TOKEN=1 "$BUILD/bench" --x' BISECT_OPTIONS="--delta '--seed=4=5%'"
searched
HARNESS_BENCH_BUILD='make O=$BUILD' searched

say "Its failure is told; the command, in which a token may stand, is not in the issue"
echo '#!/bin/sh
echo "step commit"
echo "harness: head: $* ended with status 1" >&2
exit 2' >"$WORK/failing"
chmod +x "$WORK/failing"
forge_set '.issues = []'
HARNESS=$WORK/failing ALERT_BISECT=1m s alert.sh trend.json --db n.db 2>&1 | grep -v '^alert.sh: ' | plain_commits
body 0 | sed -n '/^<pre>/,/^<.pre>/p' | tail -n 4
check "the issue has no part of it" not grep -q 'TOKEN\|bench. --x' <(forge '.issues[0].body')

say "Else by the command that the trend tells"
unset HARNESS_BENCH
steps=$(step a/b 3 5 0.2),$(step a/c 3 5 0.1)
cards=$(jq -nc '{kind: "drift", nth: 0, command: "harness compare --build"},
  {kind: "step", nth: 1, no_command: "of another"},
  {kind: "step", nth: 0, command: "harness bisect --good aaaa --bad bbbb --device '"'fake:a b'"' a/b"}' | paste -sd ,)
searched
cards=$(jq -nc '{kind: "step", nth: 0, no_command: "these are results of another program"}')
searched
cards='' BISECT_OPTIONS="--delta '5%" s alert.sh trend.json 2>&1 | grep -v '^2> xargs'
unset BISECT_OPTIONS
cards=''
forge_set '.issues = []'
steps=$(step --seed=4 3 5 0.2)
alert

say "A mark that somebody spoilt is none"
forge_set '.issues[0].body |= gsub("harness-alert:[A-Za-z0-9+/=]+"; "harness-alert:====")'
alert
forge '.issues | length'

say "Commits that are not there, and the same on both sides"
forge_set '.issues = []'
good=4444444444444444444444444444444444444444
steps=$(step a/b 3 5 0.12)
alert
body 0 | grep -A4 '^Commits'
good=$bad
steps=$(step a/c 30 35 0.12)
alert
body 1 | grep -A4 '^Commits'

say "Where the history is kept on a branch, that is where a change is accepted"
forge_set '.issues = []'
steps=$(step "a'b_c" 30 35 0.12)
trend
s alert.sh trend.json --history harness-history/cpu
body 0 | grep -o '^If it is meant to be: <code>.*</code>'

say "What is no trend"
echo '{"schema_version": 2}' >trend.json
s alert.sh trend.json 2>&1 | grep -v '^2> jq'
s alert.sh nowhere.json

say "GitLab"
export FORGE=gitlab CI_PROJECT_ID=5 HARNESS_GITLAB_TOKEN=token-of-the-test
forge_set '.issues = [] | .notes = []'
steps=$both quiet=''
alert
alert
steps='' quiet=$(calm a/b),$(calm a/c)
alert
issues
steps=$both
alert
issues
forge '.issues[0].labels | join(",")'
say "Where GitLab does not say whose token it is, nothing is done"
forge_set '.refused = ["user"]'
alert
HARNESS_BOT=project_1_bot s alert.sh trend.json
forge_set '.refused = []'
HARNESS_BOT=' ' s alert.sh trend.json
issues
say "Those that another token of the project wrote are ours, also where that was revoked"
for author in project_5_bot project_5_bot2 project_5_bot_0a1b2c ghost; do
  forge_set --arg author $author '.issues[0].author = $author'
  alert
done
say "Those of another project's token, or of somebody who is called alike, are not"
for author in project_55_bot project_5_botanist mallory; do
  forge_set --arg author $author '.issues |= .[:1] | .issues[0].author = $author'
  alert | tail -n 2 | head -n 1
done
HARNESS_BOT='project_1_bot mallory' s alert.sh trend.json
forge_set '.issues |= .[:1] | .issues[0].author = "project_1_bot"'

say "More than one issue can hold: several, and each within what a forge takes"
# many COUNT: that many benchmarks of one change.
many() {
  step KEY 40 41 0.2 | jq -c --argjson count "$1" '. as $one | [range($count) | $one + {key:
    "gemm/linear/simd_bf16/fp32/batch=\(.),seq=2048,n=4096,k=4096/cpu-64t/warm"}]' >many.json
  steps=''
  trend
  jq --slurpfile many many.json '.steps = $many[0]' trend.json >all.json
  s alert.sh all.json
}
longest() { forge "[.issues[$held:][].body | length] | max"; }
held=$(forge '.issues | length')
many 300
check "all fit" test "$(longest)" -lt 65536
check "each step is in one of them" test "$(forge ".issues[$held:][].body" | sed -n 's/^<!-- harness-alert:\(.*\) -->$/\1/p' |
  while read -r mark; do base64 -d <<<"$mark" | jq -r .key; done | sort -u | wc -l)" = 300
many 420
check "what joins fits, too" test "$(longest)" -lt 65536
