# shellcheck shell=bash
# Around docs/exit-status.md: a baseline, and a run after it.
before() {
  in_path
  project toy
  fake before
  harness baseline save main >"$WORK/saved"
  fake after
}
