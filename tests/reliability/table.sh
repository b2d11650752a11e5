#!/usr/bin/env bash
# Makes one table of what the tests of hard knocks said: FOLDER/TEST.tsv, a line each of what was
# done, how often it held, how often it was done, and what holding means. Exit status 1 where
# something did not hold, or a test said nothing because it failed or did not run; of those that
# LEFT_OUT matches, a regular expression, it says that they were. Below the table: what
# FOLDER/TEST.rates say of rates.
#
#   [LEFT_OUT=REGEX] tests/reliability/table.sh FOLDER TEST...
set -euo pipefail
folder=$1
shift

rows() {
  local test
  for test in "$@"; do
    if [[ $test =~ ^(${LEFT_OUT:-})$ ]]; then
      printf '%s\t0\t0\tskipped: left out of this run\n' "$test"
    elif [ ! -s "$folder/$test.tsv" ]; then
      printf '%s\t0\t1\tfailed, or did not run: ctest -R %s -V\n' "$test" "$test"
    elif grep -q $'^skipped\t' "$folder/$test.tsv"; then
      printf '%s\t0\t0\t%s\n' "$test" "$(tr '\t' ' ' <"$folder/$test.tsv")"
    else
      cat "$folder/$test.tsv"
    fi
  done
}

rows "$@" >"$folder/rows"
awk -F'\t' '
  NR == FNR { if (length($1) > width) width = length($1); next }
  FNR == 1 { printf "\n%-*s  %12s  %7s\n", width, "hard knock", "held", "" }
  $3 == 0 { printf "%-*s  %12s  %7s  %s\n", width, $1, "-", "", $4; skipped++; next }
  {
    printf "%-*s  %12s  %5.1f %%  %s\n", width, $1, $2 " of " $3, 100 * $2 / $3, $4
    held += $2; times += $3; knocks++
    if ($2 < $3) bad++
  }
  END {
    printf "\n%d kinds of knocks", knocks
    if (skipped) printf ", %d tests skipped", skipped
    printf ": %d of %d held (%.1f %%)\n\n", held, times, times ? 100 * held / times : 0
    exit bad > 0
  }' "$folder/rows" "$folder/rows" >"$folder/table.txt" || status=$?
for file in "$folder"/*.rates; do
  if [ -s "$file" ]; then
    echo "rates, beside other tests: $(basename "$file" .rates); docs/scale.md has those of long histories"
    sed 's/^/  /' "$file"
    echo
  fi
done >>"$folder/table.txt"
cat "$folder/table.txt"
exit "${status:-0}"
