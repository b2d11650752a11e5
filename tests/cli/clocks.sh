# shellcheck shell=bash
# Hosts whose clocks differ: one in 1970, one a day ahead, one in 2100. What each measured is kept,
# brought together, listed, compared and drawn as ever. U-05, U-07, U-11.

command -v cc >/dev/null || skip "no C compiler"
cc -O1 -shared -fPIC -o clock.so "$CLI/../fixtures/clock/clock_shim.c" -ldl
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0
now=$(date +%s)
declare -A shift=([old]=$((100000 - now)) [ahead]=86400 [far]=$((4102444800 - now)) [right]=0)
at() { CLOCK_SHIFT=${shift[$1]} LD_PRELOAD=$PWD/clock.so "$HARNESS" "${@:2}"; }
ended() { # WITH-STATUS... -- COMMAND
  local allowed=$1 status=0
  shift
  "$@" >out 2>err || status=$?
  [[ " $allowed " == *" $status "* ]] && return
  echo "$*: status $status" && cat err && return 1
}
check "a clock in 2100" test "$(CLOCK_SHIFT=${shift[far]} LD_PRELOAD=$PWD/clock.so date +%Y)" = 2100

say "Each host alone"
for host in old ahead far right; do
  for slow in 1 1 1; do
    ended 0 at $host run null/copy/right --device "$FAKE,slow=$slow" --launches 3 --iterations 5 \
      --label $host --db $host.db || exit 1
  done
  check "$host: sound" at $host history verify --db $host.db
  check "$host: three runs" test "$(at $host history list --db $host.db --json | grep -c '"uuid"')" -eq 3
  check "$host: the newest is the last" test "$("$HARNESS" history show latest --db $host.db | head -1)" = \
    "$("$HARNESS" history show 3 --db $host.db | head -1)"
  check "$host: nothing changed" ended 0 at $host compare --baseline 1 --head 3 --db $host.db
done

say "Brought together, whatever the order and whoever does it"
orders=("right old ahead far" "far ahead old right" "old far right ahead")
for host in old far right; do
  for order in "${orders[@]}"; do
    rm -f all.db*
    # shellcheck disable=SC2046,SC2086  # names
    check "$host merges $order" ended 0 at $host history merge $(printf '%s.db ' $order) --db all.db
    check "all twelve runs" test "$("$HARNESS" history list --db all.db --json | grep -c '"uuid"')" -eq 12
    check "sound" ended 0 at $host history verify --db all.db
    for command in "history list" "history show latest" "trend" "compare --baseline old --head far" \
      "compare --baseline far --head old" "report --output all.html" "export latest --format openmetrics"; do
      # shellcheck disable=SC2086  # words
      check "$host: $command" ended "0 77" at $host $command --db all.db
    done
  done
done
check "years are written as they are" test "$("$HARNESS" history list --db all.db | grep -cE ' (1970|2100)-')" -eq 6
check "merged again nothing is new" ended 0 at far history merge old.db right.db --db all.db
check "and twelve there are" test "$("$HARNESS" history list --db all.db --json | grep -c '"uuid"')" -eq 12
check "the newest runs stay by number, whatever the clocks say" \
  ended 0 at old history prune --keep-runs 12 --db all.db
check "so twelve stay" test "$("$HARNESS" history list --db all.db --json | grep -c '"uuid"')" -eq 12
knock_checks "hosts in 1970, 2100 and a day ahead" "kept, merged in any order, listed, compared, drawn"
