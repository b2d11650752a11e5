# shellcheck shell=bash
# Imports that a stranger made: every format, with names, numbers, nesting and bytes that no tool
# writes. Each is refused or taken; what was taken can be listed, compared, drawn, reported and
# exported; nothing runs, no control character comes out, and it ends soon within little memory. A
# sample of them; all by HARNESS_STRANGERS=all, from a seed of one's own by HARNESS_SEED=N.
# shellcheck source=tests/cli/strangers.lib.bash
source "$CLI/strangers.lib.bash"
fixtures=$(dirname "$CLI")/fixtures/import

valid_metrics() {
  ! grep -qvP '^(#|[a-z_0-9]+(\{([a-zA-Z_0-9]+="([^"\\]|\\["\\n])*",?)*\})? )' out ||
    { echo "NO: $what: no OpenMetrics" && return 1; }
}

hold() {
  rm -rf h.db* plots
  soon import input --db h.db --label imported || return 1
  grep -q '^run ' out || return 0
  soon history list --db h.db && soon compare --baseline latest --head latest --db h.db &&
    soon trend --db h.db && soon history show latest --db h.db || return 1
  for form in json csv markdown gbench; do soon export latest --format $form --db h.db || return 1; done
  soon export latest --format openmetrics --db h.db && valid_metrics || return 1
  soon history verify --db h.db && soon report --db h.db -o page.html || return 1
  [ $((done % 10)) -ne 0 ] || soon plot --db h.db -o plots --only roofline,latency,distribution --format svg
}

each_case hold 24 "$fixtures"/*.json "$fixtures"/*.jsonl
check "each is refused or taken, soon, and what comes out is text" test $held -eq $done
check "nothing ran" test -z "$(find . -name 'PWNED*')"
knock "strangers' imports, and each command on what they leave" $held $done \
  "refused or taken within seconds and memory, nothing runs, no control characters"
