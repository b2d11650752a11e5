# shellcheck shell=bash
# Around docs/guides/nightly.md: a project with three Google Benchmarks, twelve nights of it, and a
# forge on loopback.
# The table of this machine is not touched: it is a file here, in which somebody has another line.
crontab() {
  case ${1:-} in
    -l) cat "$WORK/table" ;;
    -) cat >"$WORK/table.new" && mv "$WORK/table.new" "$WORK/table" ;;
    *) cp "$1" "$WORK/table" ;;
  esac
}
before() {
  echo '5 4 * * 0 other' >"$WORK/table"
  need_tools jq curl gzip
  in_path
  installed
  google_benchmarks project
  git init -q --bare "$HOME/remote.git"
  git remote add origin "$HOME/remote.git"
  git push -q origin main
  twelve_nights
  echo token-of-the-test >"$HOME/.token"
  forge_start
}

# A night is a run of five launches, each a file; on the eighth a sort got slower.
twelve_nights() {
  local night launch date
  mkdir archive
  for night in $(seq 12); do
    date=$(printf '2026-03-%02dT03:00:00Z' "$night")
    git commit -q --allow-empty -m "Night $night"
    for launch in 1 2 3 4 5; do
      gbench_json $((night * 5 + launch)) "$date" 2 "$([ "$night" -lt 8 ] && echo 1 || echo 1.2)" \
        BM_sum BM_sort BM_parse >"archive/$launch.json"
    done
    harness import archive/*.json --db twelve-nights.db --label nightly --machine this \
      --commit HEAD --branch main --date "$date" >"$WORK/import" 2>&1 || cat "$WORK/import"
  done
  rm -r archive
  harness trend --all --json --db twelve-nights.db -o twelve-nights.json || true
  printf '%s\n' 'twelve-nights.*' >>.git/info/exclude
}

# The line of cron while a night runs: the checkout that it measures stays what it is.
one_night_at_a_time() {
  sed -E 's/^0 3 \* \* \* //; s/\\%/%/g' nightly.cron >"$WORK/line.sh"
  git push -q -u origin main
  git reset -q --hard HEAD~1
  local head
  head=$(git rev-parse HEAD)
  check "a night that meets another does nothing" not flock .git/nightly.lock sh "$WORK/line.sh"
  check "the checkout of the other is as it was" test "$(git rev-parse HEAD)" = "$head"
}

after() {
  check "a report" test -s nightly/report.html
  check "the history of the night" test -s nightly/history.db.gz
  check "what was written is on the branch" grep -q 'new BIOS' \
    <("$HARNESS_CI/history.sh" harness-history/ci-runner trend --json)
  check "what was accepted stands no longer" harness trend --db twelve-nights.db
  check "the branch holds it, and no history" test \
    "$(git --git-dir="$HOME/remote.git" rev-list --count harness-history)" = 1
  check "the line of cron holds the command" grep -qF " --bench '$HARNESS_BENCH' >" nightly.cron
  one_night_at_a_time
  check "the table has it beside what was there" diff "$WORK/table" <(echo '5 4 * * 0 other'; cat nightly.cron)
  if type -P crontab >/dev/null; then check "cron takes it" command crontab -n nightly.cron; fi
  "$HARNESS_CI/alert.sh" twelve-nights.json --db twelve-nights.db
  check "the issue names the benchmark" grep -q BM_sort <(forge '.issues[0].title')
}
