# shellcheck shell=bash
# Around docs/report.md: a project with twelve runs.
not_run 'harness run --suite quick*' 'measures for a minute; docs/guides/first-hour.md runs kernels'
before() {
  local nr
  in_path
  impatient
  project toy
  for nr in $(seq 11); do fake "run$nr"; done
  harness baseline save main >"$WORK/saved"
  fake run12
  mkdir profile-nano
  echo '[{"operation": "head", "duration_ms": 2}]' >profile-nano/trace.json
  harness export 12 -o results.json 2>"$WORK/export" || cat "$WORK/export"
}
after() {
  check "the report" test -s .harness/visualizations/report.html
  check "that of the file lies beside it" test -s visualizations/report.html
}
