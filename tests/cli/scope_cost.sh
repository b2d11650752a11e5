# shellcheck shell=bash
# What a scope costs is a benchmark: listed, checked against its oracle, in the history, compared as
# any other. S4-13, S4-15.

say "Listed"
"$HARNESS" list kernels | grep '^  scope/' | sed 's/   */  /g'
# As wide as the longest name of this build.
"$HARNESS" list variants | grep '^  scope/' | sed 's/   */  /g'

say "Checked, measured, kept"
quiet run scope --device cpu:1 --launches 3 --max-time 40ms --label first
quiet run scope --device cpu:1 --launches 3 --max-time 40ms --label second
"$HARNESS" history show first >show.json
for i in $(seq 0 $(($(json_length show.json runs 0 measurements) - 1))); do
  echo "$(json show.json runs 0 measurements "$i" key | cut -d/ -f1-5) $(json show.json runs 0 measurements "$i" outcome)"
done | sort | uniq -c
"$HARNESS" compare --baseline first --head second --all --json -o compare.json >/dev/null 2>&1
json_length compare.json rows

say "Too many"
t run scope/on --device cpu:1 --dim calls=5000000 --launches 1 2>&1 | grep -v '^2> launch'

say "Beside LTTng: a session that fails at any step is no number"
# Stand-ins for all that is started: ci/scope_costs.sh alone is looked at, and nothing is measured.
mkdir tools
tool() { printf '%s\n' '#!/bin/sh' "${@:2}" >"tools/$1" && chmod +x "tools/$1"; }
measured() { printf '{"key": "scope/%s/macro/fp32/calls=1,depth=1/cpu-1t/warm", "samples_ns": [10], "batch": 1}' "$1"; }
echo "{\"runs\": [{\"measurements\": [$(measured on), $(measured off), $(measured memory), $(measured sampled)]}]}" >own.json
echo '{"profiles": [{"summary": {"cost": {"on": 9, "off": 1, "memory": 20}}}]}' >fresh.json
tool harness "case \$1 in run) cat '$WORK/own.json' ;; *) cat '$WORK/fresh.json' ;; esac"
# shellcheck disable=SC2016
tool cc 'case " $* " in *" -E "*) exec cat >/dev/null ;; esac' 'printf "#!/bin/sh\necho 5.0\n" >points; chmod +x points'
# shellcheck disable=SC2016
tool lttng '[ "$1" != "$FAILS" ] || { echo "no such session"; exit 1; }'
# shellcheck disable=SC2016
tool lttng-sessiond 'sleep 60 & echo $! >"$3"'
tool pkg-config 'echo 2.13'
tool apt-cache
beside() { # STEP ROW
  command -v python3 >/dev/null || return 0
  FAILS=$1 HARNESS=$WORK/tools/harness CC=$WORK/tools/cc PATH=$WORK/tools:$PATH \
    "$CLI/../../ci/scope_costs.sh" --output table.md && grep -qxF "$2" table.md
}
check "one that runs has its numbers" beside none '| LTTng-UST 2.13 | 5.0 | 5.0 |'
for step in create enable-event start destroy; do
  check "one that fails at $step has none" beside $step '| LTTng-UST: it did not run: no such session | – | – |'
done

say "In each other's units: recording costs more than not recording, by far"
# median KERNEL: ns of a launch of 16384 scopes
median() {
  for i in $(seq 0 $(($(json_length compare.json rows) - 1))); do
    case $(json compare.json rows "$i" key) in
      scope/"$1"/macro/fp32/calls=16384,depth=1/*)
        json compare.json rows "$i" base value
        ;;
    esac
  done
}
ratio() { awk -v a="$(median "$1")" -v b="$(median "$2")" -v most="$3" 'BEGIN { exit !(a > 0 && b > 0 && a <= most * b) }'; }
"$HARNESS" version | grep -q ', Debug,' && skip "what scopes cost one another, in a build that is not optimized"
check "off is an eighth of on, or less" ratio off on 0.125
check "a sample of one in a hundred is below on" ratio sampled on 0.9
