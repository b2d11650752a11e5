# shellcheck shell=bash
# Around docs/profiling.md.
# shellcheck disable=SC2016  # SQL
before() {
  local folder
  in_path
  impatient
  pictures_maybe
  project toy
  if ! harness list devices | grep -E '^ +cuda +[^ ]' | grep -qv 'no \|not '; then
    not_run '*--device cuda --counters*' 'maybe: needs a GPU'
  fi
  not_run 'nsys *' 'needs Nsight Systems and a GPU'
  not_run 'ncu *' 'needs Nsight Compute and a GPU'
  for folder in profile-before profile-nano OLD; do
    cp -r "$SOURCE_TREE/tests/fixtures/profile/forward" $folder
  done
  for folder in profile-after NEW; do
    cp -r "$SOURCE_TREE/tests/fixtures/profile/forward-slower" $folder
  done
  cp "$SOURCE_TREE/tests/fixtures/activity/ncu_raw.csv" kernels.csv
  python3 - "$SOURCE_TREE/tests/fixtures/activity/nsys.sql" report.sqlite <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[2])
db.executescript(open(sys.argv[1]).read())
db.close()
PY
}
after() {
  ! command -v gnuplot >/dev/null || check "pictures" test -s profile-nano/plots/profile/flame.png
  check "the page" test -s report.html
}
