#!/usr/bin/env bash
# Issues from what `harness trend --all --json` says: one for each place in the history where
# something got slower and stays so, closed when all of it is gone.
#
#   alert.sh TREND.json [--db FILE] [--history BRANCH/NAME] [--dry-run]
#
# --history: where nights keep the history; issues then say how a change is accepted there.
#
# An issue speaks of the steps that fall into one window of commits: what one change did to twenty
# benchmarks is one issue. Its body holds a mark for each benchmark (key, machine, metric, and the
# runs between which it got slower); a later night finds the same step by the same key and a window
# that overlaps, so an estimate that moves by a run opens no second issue. Benchmarks that join later
# are added to the body. A step is gone when its series is still there and is judged by the same
# metric, and the step no longer stands in it: it went back, was accepted (`harness baseline
# accept`), or was withdrawn, as the note says that closes the issue. A series that is no longer
# measured says nothing, and closes nothing. An issue that this script closed is opened again if the
# same step stands again; one that a person closed is left alone. What is only on watch opens none.
#
#   ALERT_LABEL    of the issues (default harness-regression)
#   ALERT_LIMIT    most new issues in one call (default 5)
#   ALERT_BISECT   a budget such as 20m: `harness bisect` names the commit in the newest new issue
#                  (each comparison gets that long; BISECT_OPTIONS go to it, too: words of a shell,
#                  without expansions)
#   HARNESS_BENCH, HARNESS_BENCH_BUILD   what the nights measured, as of nightly.sh: by that the commit
#                  is looked for. Else it is by the command that the trend tells; where it tells none
#                  the issue says why
# Forge and token: see ci/forge.sh. Exit status 0, or 2 on failure.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=ci/lib.sh
. "$here/lib.sh"
# shellcheck source=ci/forge.sh
. "$here/forge.sh"

trend='' db='' kept='' dry=no
while [ $# -gt 0 ]; do
  case $1 in
    -h|--help) usage_of "$0"; exit 0 ;;
    --db) db=${2:?}; shift ;;
    --history) kept=${2:?}; shift ;;
    --dry-run) dry=yes ;;
    -*) fail "unknown option $1" ;;
    *) trend=$1 ;;
  esac
  shift
done
[ -f "$trend" ] || fail "give the file that \`harness trend --all --json\` wrote"
label=${ALERT_LABEL:-harness-regression}
limit=${ALERT_LIMIT:-5}
[[ $label =~ ^[A-Za-z0-9._-]+$ && $limit =~ ^[0-9]+$ ]] || fail "ALERT_LABEL or ALERT_LIMIT is none"
words_of "${BISECT_OPTIONS:-}" || fail "BISECT_OPTIONS has a quote without its other half: $BISECT_OPTIONS"
bisect_options=("${words[@]}")
bench=()
[ -z "${HARNESS_BENCH:-}" ] ||
  bench=(--bench "$HARNESS_BENCH" ${HARNESS_BENCH_BUILD:+--build-command "$HARNESS_BENCH_BUILD"})
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
forge_init
# What is built and measured to find a commit does not see it.
export -n GITHUB_TOKEN HARNESS_GITLAB_TOKEN

# shellcheck disable=SC2016  # the variables are jq's
definitions='
# A mark is an HTML comment with base64 of JSON: nothing in a key can end it.
def mark: "<!-- harness-alert:" + ({key, machine, metric, from, to} | @json | @base64) + " -->";
def marks: [scan("<!-- harness-alert:([A-Za-z0-9+/=]+) -->") | .[0] |
            (try (@base64d | fromjson) catch empty)];
def closed_by_us: test("<!-- harness-alert-closed -->");
def same_place($a; $b): $a.machine == $b.machine and $a.metric == $b.metric and
  $a.from <= $b.to and $b.from <= $a.to;
def same($a; $b): $a.key == $b.key and same_place($a; $b);
'

# What stands, and which series are judged at all.
jq "$definitions"'
  if .schema_version != 1 then error("not the JSON of harness trend --json") else . end |
  .metric as $metric | (.cards // []) as $cards |
  { judged: ([.steps[], .drifts[], ((.quiet // [])[] | select(.p != null))] |
      map({key, machine, metric: $metric}) | unique),
    standing: [ .steps | to_entries[] | .key as $nth | .value |
      select(.worse and (.back | not) and (.accepted | not) and ((.surroundings // "") == "")) |
      { key, machine, metric: $metric, from: .good.time_ms, to: .bad.time_ms,
        good: (.good.commit // ""), bad: (.bad.commit // ""), before, after, change } +
      ((first($cards[] | select(.kind == "step" and .nth == $nth)) | {command, no_command,
          word: (if (.title // "") | endswith(" worse") then "worse" else "slower" end)}) // {}) ],
    # Why a step does not stand.
    facts: [ .steps[], (.withdrawn // [])[] |
      { key, machine, metric: $metric, from: .good.time_ms, to: .bad.time_ms,
        fact: (if .accepted then "accepted: " + .accepted
               elif (.surroundings // "") != "" then "came with a change of environment: " + .surroundings
               elif .back or .gone then .state else null end) } | select(.fact) ],
    watch: [ (.watch // [])[] | select(.worse) ] | length }' \
  "$trend" >"$work/now.json" || fail "$trend cannot be read"

forge_issues "$label" >"$work/issues.jsonl"

# Rows of a table; keys come from the history and are text in it.
# shellcheck disable=SC2016
row='def cell: gsub("&"; "&amp;") | gsub("#"; "#&#8203;") | gsub("@"; "@&#8203;") |
  gsub("<"; "&lt;") | gsub(">"; "&gt;") | gsub("[|]"; "&#124;") | gsub("`"; "&#96;") | gsub("[*]"; "&#42;") |
  gsub("_"; "&#95;") | gsub("\\["; "&#91;") | gsub("[\r\n]"; " ");
def percent: (. * 1000 | round / 10) as $p | (if $p > 0 then "+" else "" end) + "\($p) %";
def word: .word // "slower";
def row: "| \(.key | cell) | \(.machine | cell) | \(.change | percent) |";'

# Three lists: issues to add to, issues whose steps are gone, groups of new steps. What fits into no
# issue any more (GitHub takes 65,536 characters; the rest of a new one is below 15,000) gets another.
jq -s --slurpfile now "$work/now.json" --argjson room 45000 "$definitions$row"'
  def size: (row | length) + (mark | length) + 3;
  $now[0] as $now |
  map(. + {marks: (.body | marks)}) as $issues |
  def stands($m): any($now.standing[]; same(.; $m));
  def judged($m): any($now.judged[];
    .key == $m.key and .machine == $m.machine and .metric == $m.metric);
  def known($s): any($issues[].marks[]; same(.; $s));
  def home($s; $joined): first($issues[] | .number as $n | select(.open and any(.marks[]; same_place(.; $s)) and
    (.body | length) + ($s.size + ($joined | map(select(.number == $n) | .step.size) | add // 0)) <= 60000));
  reduce ($now.standing | map(select(known(.) | not) | .size = size) | sort_by(-(.change | fabs))[]) as $s
    ({join: [], new: []};
     ([home($s; .join)] | first) as $home |
     if $home then .join += [{number: $home.number, step: $s}]
     else ([.new | to_entries[] | select(same_place(.value[0]; $s) and
                (.value | map(.size) | add) + $s.size <= $room) | .key] | first) as $i |
       if $i == null then .new += [[$s]] else .new[$i] += [$s] end
     end) |
  [.join[].number] as $joined |
  . + { gone: [ $issues[] | select(.open and (.marks | length) > 0) |
          select(.number | IN($joined[]) | not) |
          select(all(.marks[]; judged(.) and (stands(.) | not))) ],
        again: [ $issues[] | select((.open | not) and (.body | closed_by_us)) |
          select(any(.marks[]; stands(.))) ] }' "$work/issues.jsonl" >"$work/plan.json"

# commits GOOD BAD: a line for each commit after GOOD up to BAD, at most 20, as HTML for a <pre>, where
# an @name notifies nobody; nothing where git does not know them.
commits() {
  is_commit "$1" && is_commit "$2" || return 0
  git log --first-parent --no-show-signature --format='%h %s' -n 20 "$1..$2" -- 2>/dev/null |
    cut -c 1-120 | sed -e 's/&/\&amp;/g' -e 's/</\&lt;/g' -e 's/>/\&gt;/g' || true
}

# shown TEXT: as it is, in a line of Markdown.
shown() { jq -rn --arg text "$1" "$row"'$text | cell'; }

# search_line GROUP-FILE: how the commit is looked for, or why it is not. The benchmark's own command
# is not shown: a token may stand in it.
search_line() {
  local call own=''
  [ ${#bench[@]} -eq 0 ] || own="--bench \"\$HARNESS_BENCH\"${bench[2]:+ --build-command \"\$HARNESS_BENCH_BUILD\"}"
  call=$(jq -r --arg own "$own" '.[0] |
    "harness bisect --good \(.good[:12]) --bad \(.bad[:12])" as $begin |
    if $own != "" then "\($begin) \($own) \(.key | @sh)"
    elif .no_command then ""
    else .command // "\($begin) \(.key | @sh)" end' "$1")
  if [ -n "$call" ]; then
    printf 'To search them: <code>%s</code>\n' "$(shown "$call")"
  else
    printf 'No search for the commit: %s.\n' "$(shown "$(jq -r '.[0].no_command' "$1")")"
  fi
}

# culprit GROUP-FILE: what `harness bisect` found, where it was asked for and can be told. Why it found
# nothing is for this script's own log: the words of a failure repeat the benchmark's command.
culprit() {
  local status=0 good bad key known search
  [ -n "${ALERT_BISECT:-}" ] || return 0
  good=$(jq -r '.[0].good' "$1") bad=$(jq -r '.[0].bad' "$1") key=$(jq -r '.[0].key' "$1")
  known=$(jq -r '.[0] | .command // .no_command // empty' "$1")
  is_commit "$good" && is_commit "$bad" || return 0
  search=(--good "$good" --bad "$bad" "${bench[@]}" --budget "$ALERT_BISECT" ${db:+--db "$db"}
    "${bisect_options[@]}")
  if [ ${#bench[@]} -gt 0 ] || [ -z "$known" ]; then
    search+=(-- "$key")
  else # its own words: it knows the device
    [[ $known == 'harness bisect '* ]] && words_of "$known" || return 0
    search=("${words[@]:2}" "${search[@]:4}")
  fi
  "$(find_harness)" bisect "${search[@]}" >"$work/bisect" 2>"$work/bisect.log" || status=$?
  if [ $status -ne 0 ] && [ $status -ne 77 ]; then
    tail -n 20 "$work/bisect.log" >&2
    echo "It failed with status $status; the log of the job that opened this issue says why." >>"$work/bisect"
  fi
  printf '\nWhat <code>harness bisect</code> says:\n\n<pre>\n'
  tail -n 40 "$work/bisect" | sed -e 's/&/\&amp;/g' -e 's/</\&lt;/g' -e 's/>/\&gt;/g'
  printf '</pre>\n'
}

# accepting GROUP-FILE: how it is said that a change is meant to be. Without --metric it is p50's.
accepting() {
  local call=harness
  [ -z "$kept" ] || call="\"\$HARNESS_CI/history.sh\" $kept"
  printf '\nIf it is meant to be: <code>%s baseline accept %s --reason WHY</code>. ' \
    "$(shown "$call")" "$(shown "$(jq -r '.[0] | (.key | @sh) +
      if .metric == "p50" then "" else " --metric \(.metric | @sh)" end' "$1")")"
}

# body GROUP-FILE BISECT: of a new issue, the worst step first.
body() {
  local good bad since word
  good=$(jq -r '.[0].good' "$1") bad=$(jq -r '.[0].bad' "$1")
  since=$(jq -r '.[0] | [.from, .to] | map(. / 1000 | todate[:10]) | unique | join(" to ")' "$1")
  word=$(jq -r "$row"'.[0] | word' "$1")
  echo "The history of nightly runs says that this got $word ($since), and stays so."
  printf '\n| benchmark | machine | change |\n|---|---|---|\n'
  jq -r "$definitions$row"'.[] | row' "$1"
  echo
  jq -r "$definitions"'.[] | mark' "$1"
  printf '\nCommits in which it may have come, the newest first'
  if is_commit "$good" && [ "$good" != "$bad" ]; then
    printf ' (%s..%s):\n\n' "${good:0:7}" "${bad:0:7}"
    commits "$good" "$bad" >"$work/commits"
    if [ -s "$work/commits" ]; then printf '<pre>\n%s\n</pre>\n\n' "$(cat "$work/commits")"; fi
    search_line "$1"
  else
    printf ': the code was the same on both sides; look at the machine.\n'
  fi
  [ "$2" = no ] || culprit "$1"
  accepting "$1"
  printf 'This issue is closed when the runs are as %s as before, all of it is accepted, or later ' \
    "$([ "$word" = slower ] && echo fast || echo good)"
  printf 'nights show that it was no step.\n'
}

act() {
  echo "alert.sh: $1"
  [ "$dry" = no ]
}

# Adds rows and marks behind the table of an issue that is there.
join_issue() {
  local number=$1
  act "#$number: $(jq --argjson n "$number" '[.join[] | select(.number == $n)] | length' \
    "$work/plan.json") more" || return 0
  jq -r --argjson n "$number" --slurpfile plan "$work/plan.json" "$definitions$row"'
    select(.number == $n) | .body as $body | [$plan[0].join[] | select(.number == $n) | .step] as $more |
    ($body | gsub("\r"; "") | split("\n\n<!-- harness-alert:")) as $parts |
    $parts[0] + "\n" + ($more | map(row) | join("\n")) + "\n\n" +
    ($more | map(mark) | join("\n")) +
    ($parts[1:] | map("\n<!-- harness-alert:" + .) | join("\n"))' "$work/issues.jsonl" >"$work/text"
  forge_issue_edit "$number" "$work/text" open
}

close_issue() {
  act "#$1 is gone: closed" || return 0
  jq -r --argjson n "$1" --slurpfile now "$work/now.json" "$definitions$row"'
    select(.number == $n) | .body | marks | map(. as $m |
      ([$now[0].facts[] | select(.key == $m.key and same_place(.; $m)) | .fact] | first) as $fact |
      "| \(.key | cell) | \(.machine | cell) | \($fact // "no step is named there any more" | cell) |") |
    "Nothing of it stands.\n\n| benchmark | machine | what became of it |\n|---|---|---|\n" + (.[:100] | join("\n")) +
    (if length > 100 then "\n\nAnd \(length - 100) more." else "" end)' \
    "$work/issues.jsonl" >"$work/text"
  forge_issue_note "$1" "$work/text"
  jq -r --argjson n "$1" 'select(.number == $n) | .body + "\n<!-- harness-alert-closed -->"' \
    "$work/issues.jsonl" >"$work/text"
  forge_issue_edit "$1" "$work/text" closed
}

open_again() {
  act "#$1 stands again: opened again" || return 0
  jq -r --argjson n "$1" 'select(.number == $n) | .body | gsub("\n?<!-- harness-alert-closed -->"; "")' \
    "$work/issues.jsonl" >"$work/text"
  forge_issue_edit "$1" "$work/text" open
  echo "It is there again." >"$work/text"
  forge_issue_note "$1" "$work/text"
}

open_issue() {
  local title number bisect=no
  jq ".new[$1]" "$work/plan.json" >"$work/group"
  title=$(jq -r "$row"'.[0] as $s | "\($s | word | sub("^(?<first>.)"; .first | ascii_upcase)): " +
    "\($s.key | gsub("[\r\n]"; " ") | .[:150])" +
    " (\($s.change | percent))" + (if length > 1 then " and \(length - 1) more" else "" end)' \
    "$work/group")
  act "new: $title" || return 0
  [ "$1" -ne 0 ] || bisect=yes
  body "$work/group" "$bisect" >"$work/text"
  number=$(forge_issue_open "$label" "$title" "$work/text")
  echo "alert.sh: opened #$number"
}

for number in $(jq '[.join[].number] | unique[]' "$work/plan.json"); do join_issue "$number"; done
for number in $(jq '.gone[].number' "$work/plan.json"); do close_issue "$number"; done
for number in $(jq '.again[].number' "$work/plan.json"); do open_again "$number"; done
new=$(jq '.new | length' "$work/plan.json")
for i in $(seq 0 $((new - 1))); do
  if [ "$i" -ge "$limit" ]; then
    echo "alert.sh: $((new - limit)) more are left for the next night (ALERT_LIMIT=$limit)"
    break
  fi
  open_issue "$i"
done
echo "alert.sh: $(jq -r '.standing | length | if . == 1 then "1 step stands" else "\(.) steps stand" end' \
  "$work/now.json")"
watch=$(jq .watch "$work/now.json")
[ "$watch" = 0 ] || echo "alert.sh: $watch on watch, which may become one"
