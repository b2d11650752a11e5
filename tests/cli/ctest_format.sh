# shellcheck shell=bash
# The form of a comparison that CTest takes numbers from. U-10, S0-15.
fake seed=3 --launches 5 --batch 1,4 --label main

say "Nothing to compare with: the percentiles alone"
t compare --baseline main --format ctest 'null/*/batch=4,*'

say "Changes, too"
t baseline save main
fake seed=5,slow=1.25 --launches 5 --batch 1,4
t compare --baseline main --format ctest --metric p50,p95 'null/*/batch=4,*'
"$HARNESS" compare --baseline main --format ctest --all >all || true
check "a percentile of each benchmark" test "$(grep -c 'name="p50 ' all)" -eq \
  "$("$HARNESS" run null/copy/right --device "$FAKE" --batch 1,4 --dry-run | wc -l)"
check "the table is as ever" diff <(sed '/^<CTest/d' all) <("$HARNESS" compare --baseline main --all)
