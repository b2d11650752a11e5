# shellcheck shell=bash
# Around docs/scale.md: shards of a sweep, histories of other machines, a history to prune.
before() {
  local nr
  in_path
  impatient
  project toy
  mkdir shards
  for nr in 1 2 3; do
    fake "shard$nr"
    harness history backup "shards/$nr.db" >"$WORK/backup"
  done
  cp shards/1.db nightly.db
  cp shards/2.db a.db
  cp shards/3.db b.db
}
after() {
  check "what was saved is sound" harness history verify --db saved.db
  check "the whole sweep" test "$(harness history list --limit 3 | grep -c OK)" = 3
}
