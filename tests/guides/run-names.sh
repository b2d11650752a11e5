# shellcheck shell=bash
# Around docs/run-names.md: a history of two labelled runs.
before() {
  need_tools jq
  in_path
  project toy
  fake nightly
  fake head
}
after() {
  check "a baseline before a label" test "$(harness baseline show main | grep -c 'run 1$')" = 1
  check "a number, a label and a uuid are one run" test "$(
    for name in 1 run:1 nightly label:nightly "$(harness history show 1 | jq -r '.runs[0].uuid[:8]')"; do
      harness history show "$name" | jq -r '.runs[].uuid'
    done | sort -u | wc -l)" = 1
  check "one rule alone" not harness history show branch:nightly
}
