# shellcheck shell=bash
# Around README.md: its first command builds, the others use what it built. Runs are short here.
not_run 'ci/quickstart.sh*' 'builds and measures: three minutes'
not_run 'build/release/harness run *' 'measures for a minute; docs/overview.md runs kernels'
not_run 'ci/test.sh*' 'everything, this test too'
before() {
  pictures_maybe
  project toy
  git commit -q --allow-empty -m 'The start'
  mkdir -p build/release
  impatient
  { printf '#!/bin/bash\nBUILT=%q\n' "$BUILT"
    declare -f harness
    echo 'harness "$@"'; } >build/release/harness
  chmod +x build/release/harness
  # As after the first two commands: two runs, and the first is "main".
  "$BUILT" run 'layernorm/*/naive' --batch 1 --seq 32 --launches 1 --iterations 3 >"$WORK/runs" &&
    "$BUILT" baseline save main >>"$WORK/runs" &&
    "$BUILT" run 'layernorm/*/naive' --batch 1 --seq 32 --launches 1 --iterations 3 >>"$WORK/runs"
}
