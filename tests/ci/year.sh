# shellcheck shell=bash
# A year of nights by the real commands: import, trend, alert.sh. One issue for each step, none closed
# while its step stands, the status stays with it; the notes say what ended the others; a quiet
# history opens none. Here 150 nights, of which most quiet ones are not looked at;
# HARNESS_NIGHTS=365 looks at each night of a whole year. U-06, U-07, U-11.
# shellcheck source=tests/ci/lib.sh
. "$CLI/../ci/lib.sh"
forge_start
nights=${HARNESS_NIGHTS:-150}
[[ $nights =~ ^[1-9][0-9]*$ && $nights -ge 150 ]] || { echo "HARNESS_NIGHTS is 150 or more"; exit 1; }
git init -q toy
cd toy || exit 1

# night FIRST-FILE NUMBER-OF-FILES: results of Google Benchmark, each a launch. Series of 1 % noise:
# `stays` is 4 % slower from night 40, `twice` 4 % from 45 and 4 % more from 110, `back` 5 % from 60
# to 99, `meant` 10 % from 80; `often` gets 4 % slower five times, `jumps` goes back and forth between
# two modes 6 % apart every third night and is 15 % slower from 87, `moody` has noise of correlation
# 0.3 and is 5 % slower from 120; with QUIET=1 none is slower. No two in the same nights: steps there
# share an issue. The generator of numbers is our own (Park and Miller 1988), so that they are
# the same wherever it runs.
night() {
  awk -v night="$1" -v files="$2" -v quiet="${QUIET:-0}" '
    function uniform() { x = x * 16807 % 2147483647; return x / 2147483647 }
    function normal() { return sqrt(-2 * log(uniform())) * cos(6.283185307 * uniform()) }
    function seed(number) {
      x = 1 + number % 2147483646
      for (k = 0; k < 20; k++) uniform()
    }
    function jump() {
      third = int(night / 3)
      seed(third * third * 7907 + third * 31 + 17 + quiet)
      return uniform() < 0.5 ? 1 : 1.06
    }
    function mood(sum) {
      for (back = 8; back >= 0 && back < night; back--) {
        seed((night - back) * 7901 + 23 + quiet)
        sum = 0.3 * sum + sqrt(0.91) * normal()
      }
      return sum
    }
    function level(name) {
      if (quiet) return 1
      if (name == "often")
        return 1.04 ^ ((night >= 28) + (night >= 52) + (night >= 74) + (night >= 95) + (night >= 130))
      if (name == "jumps" && night >= 87) return 1.15
      if (name == "moody" && night >= 120) return 1.05
      if (name == "stays" && night >= 40) return 1.04
      if (name == "twice" && night >= 45) return night >= 110 ? 1.0816 : 1.04
      if (name == "back" && night >= 60 && night < 100) return 1.05
      if (name == "meant" && night >= 80) return 1.1
      return 1
    }
    function time(name) {
      if (name == "moody") return 1e5 * level(name) * exp(0.01 * moods)
      return 1e5 * level(name) * (name == "jumps" ? jumped : 1) * exp(0.01 * normal())
    }
    BEGIN {
      jumped = jump()
      moods = mood(0)
      seed(night * 7919 + quiet * 104729)
      nr = split("stays twice back meant calm even flat level often jumps moody", names, " ")
      for (file = 1; file <= files; file++) {
        out = "night-" file ".json"
        printf "{\"context\":{\"num_cpus\":4,\"mhz_per_cpu\":3000,\"caches\":[]},\"benchmarks\":[" >out
        for (i = 1; i <= nr; i++)
          printf("%s{\"name\":\"%s\",\"run_type\":\"iteration\",\"iterations\":100,\"real_time\":%.3f,\"cpu_time\":1,\"time_unit\":\"ns\"}",
            (i > 1 ? "," : ""), names[i], time(names[i])) >out
        print "]}" >out
        close(out)
      }
    }'
}

# measure NIGHT [FILES]: into the history, which is all that ci/nightly.sh does with a night.
measure() {
  local date
  date=$(date -u -d "2025-01-01 +$1 days" +%Y-%m-%dT03:00:00Z)
  rm -f night-*.json
  night "$1" "${2:-1}"
  quiet import night-*.json --date "$date" --machine box --branch main \
    --commit "$(printf '%040x' "$1")"
}

# Nights on which CI looks: those after something was planted or undone, and every tenth.
is_looked_at() {
  local at
  [ "$nights" -lt 365 ] || return 0
  for at in 28 40 45 52 60 74 80 87 95 100 110 120 130; do
    if [ "$1" -ge "$at" ] && [ "$1" -lt $((at + 14)) ]; then return 0; fi
  done
  [ $(($1 % 10)) = 0 ]
}

# look: what the night says, and the alerts where it says something else than the last one.
previous='' status=0
look() {
  local standing
  status=0
  "$HARNESS" trend --all --json --delta 3% -o trend.json || status=$?
  standing=$(jq -c '[.steps[] | {key, back: .back.run, accepted}], .withdrawn' trend.json)
  if [ "$standing" = "$previous" ] && [ "$nights" -lt 365 ]; then return; fi
  previous=$standing
  "$CI/alert.sh" trend.json >alert.out 2>&1 || { cat alert.out; exit 1; }
}

# The series of the issues, in the order in which they were opened.
issues() { forge '.issues[] | "\(.title | capture("Slower: (?<key>[a-z]+)").key) \(if .open then "open" else "closed" end)"'; }

# The series that open issues speak of.
marked() {
  local mark
  forge '.issues[] | select(.open).body' | grep -o 'harness-alert:[A-Za-z0-9+/=]*' |
    while IFS=: read -r _ mark; do base64 -d <<<"$mark" | jq -r .key; done |
    grep -o '^[a-z]*' | sort -u | paste -sd ' '
}

say "A year in which seven series get slower, one of them twice, one five times; one goes back, one is meant to be"
fell=0 closed_early=0 last=0
for i in $(seq "$nights"); do
  case $i in
    79 | 92) measure "$i" 5 ;; # as many as ci/nightly.sh takes
    *) measure "$i" ;;
  esac
  if [ "$i" = 95 ]; then
    key=$(jq -r '[.steps[] | select(.key | contains("meant"))][0].key' trend.json)
    quiet baseline accept "$key" --reason 'checks its input'
  fi
  if [ "$i" -lt 20 ] || ! is_looked_at "$i"; then continue; fi
  look
  if [ "$last" = 1 ] && [ "$status" != 1 ]; then fell=$((fell + 1)); fi
  last=$status
  # No step has an end before night 95.
  if [ "$i" -lt 95 ] && issues | grep -q closed; then closed_early=$((closed_early + 1)); fi
  if issues | grep -q '^\(stays\|twice\|often\|jumps\|moody\) closed'; then closed_early=$((closed_early + 1)); fi
done
check "an issue for each step" test "$(issues | cut -d ' ' -f 1 | paste -sd ' ')" = \
  "often stays often twice back often meant often twice moody often"
# Where the modes leave the place of its step open it shares an issue.
check "each series that is slower is in an open one" test "$(marked)" = "jumps moody often stays twice"
check "none was closed while its step stood" test $closed_early = 0
check "the status stayed with the steps" test $fell = 0
issues
forge '.notes[].body' | grep '^| ' | grep -v '^| benchmark' |
  sed -E 's/at [0-9a-f]{7}, [0-9-]{10}/at COMMIT, DATE/'
check "no step was withdrawn" test "$(jq '.withdrawn | length' trend.json)" = 0
"$HARNESS" trend --delta 3% | head -n 1

say "A quiet year opens none"
forge_set '.issues = [] | .notes = []'
export HARNESS_DB=$PWD/quiet.db QUIET=1
alarms=0
for i in $(seq "$nights"); do
  measure "$i"
  if [ "$i" -lt 20 ] || ! { [ "$nights" -ge 365 ] || [ $((i % 10)) = 0 ]; }; then continue; fi
  look
  if [ "$status" != 0 ]; then alarms=$((alarms + 1)); fi
done
check "no alarm in any night" test $alarms = 0
check "no issue" test "$(forge '.issues | length')" = 0
