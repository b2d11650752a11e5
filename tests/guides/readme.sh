# shellcheck shell=bash
# Around README.md: its first command builds, the others use what it built. Runs are short here: one
# kernel of the suite, on the devices that README.md and ci/quickstart.sh name.
not_run 'ci/quickstart.sh*' 'builds and measures: three minutes'
not_run 'ci/test.sh*' 'everything, this test too'
before() {
  pictures_maybe
  project toy
  git commit -q --allow-empty -m 'The start'
  mkdir -p build/release
  harness() {
    case $1 in
      run) "$BUILT" run 'layernorm/*/naive' --batch 1 --seq 32 --launches 1 --iterations 3 "${@:2}" ;;
      *) "$BUILT" "$@" ;;
    esac
  }
  { printf '#!/bin/bash\nBUILT=%q\n' "$BUILT"
    declare -f harness
    echo 'harness "$@"'; } >build/release/harness
  chmod +x build/release/harness
  # As after the first command: a run is "main".
  harness run --device "$(sed -n 's/^device=//p' "$SOURCE_TREE/ci/quickstart.sh")" >"$WORK/runs" &&
    "$BUILT" baseline save main >>"$WORK/runs"
}
after() {
  "$BUILT" compare --baseline 1 --head 2 --all >"$WORK/both"
  check "what is run is what the first command measured" not grep -E ' (new|missing) ' "$WORK/both"
  check "and compared" grep -q 'launches; 3 on each side are needed' "$WORK/both"
  "$BUILT" baseline show main >"$WORK/main"
  check "main is the new run" grep -qx '  run 2' "$WORK/main"
}
