# shellcheck shell=bash
# A real file system that gets full, at whatever comes to be written then: an error, what was
# finished is kept, and with room again it goes on. U-05, S0-22.

# To mount one needs root, or a name space in which one is.
if [ -z "${SMALL_DISK:-}" ]; then
  mkdir disk
  for how in "unshare --mount" "unshare --map-root-user --mount"; do
    # shellcheck disable=SC2016,SC2086  # for the other shell; words
    if $how mount -t tmpfs -o size=64k tmpfs disk 2>/dev/null; then
      # shellcheck disable=SC2016,SC2086
      SMALL_DISK=1 $how bash -c 'set -u; . "$CLI/lib.sh"; . "$1"' bash "${BASH_SOURCE[0]}"
      exit
    fi
  done
  skip "nobody may mount a file system here"
fi

small() { mount -t tmpfs -o "size=$1" tmpfs disk; }
# As many measurements as there are; nothing where the file is not sound.
stored() {
  "$HARNESS" history verify --db disk/h.db 2>/dev/null |
    sed -nE 's/.* is sound: .* ([0-9]+) measurements,.*/\1/p'
}
fill_up() { cat /dev/zero >disk/filler 2>/dev/null; }
run_on() { # of 60 launches: more than there is room for
  "$HARNESS" run null/copy/right --device "$FAKE,sd=0.1" --seed 1 --iterations 2000 --db disk/h.db \
    "$@" >out 2>err
}

say "It gets full while a run is measured"
small 1m
fake seed=3 --launches 3 --db disk/h.db
status=0
run_on --launches 60 || status=$?
echo "status $status"
grep -v '^launch' err
finished=$(stored)
check "what was finished is kept" test "${finished:-0}" -gt 18
mount -o remount,size=16m disk
check "with room again it goes on" run_on --launches 1
check "and all is there" test "$(stored)" -eq $((finished + 6))
umount disk

say "At any moment, from the making of the file on"
sizes=24 held=0
for ((i = 1; i <= sizes; i++)); do
  small $((16 * i))k
  status=0
  run_on --launches 60 || status=$?
  finished=0
  [ ! -s disk/h.db ] || finished=$(stored)
  mount -o remount,size=16m disk
  if [ $status -eq 2 ] && grep -qE 'disk is full|No space left|writing failed' err &&
    [ -n "$finished" ] && run_on --launches 1 && [ "$(stored)" -eq $((finished + 6)) ]; then
    held=$((held + 1))
  else
    echo "NO: $((16 * i)) KiB: status $status, ${finished:-?} measurements: $(tail -1 err)"
  fi
  umount disk
done
check "each of $sizes sizes" test $held -eq $sizes
knock "a disk (tmpfs) that gets full while measuring" $held $sizes \
  "a clear error, what was finished is kept, with room it goes on"

knock_checks "a disk that has room again" "what was stored is there, and it goes on"

say "No room for the write-ahead log"
small 1m
fake seed=3 --launches 3 --db disk/h.db
cp disk/h.db before.db
fill_up
t history list --db disk/h.db
t run null/copy/right --device "$FAKE" --batch 1 --launches 1 --db disk/h.db
t baseline save main --db disk/h.db
rm disk/filler
check "nothing is lost" test "$(stored)" -eq 18
check "with room again it goes on" run_on --launches 1 --batch 1
knock_checks "no room for the write-ahead log" "a clear error, nothing lost, with room it goes on"

say "No room for a copy, or a result"
echo old >disk/kept.json
ln -s disk/kept.json link.json
fill_up
not "$HARNESS" export latest --format json --db disk/h.db -o link.json 2>err || echo "NO: it fits"
grep -o 'link.json: cannot write: No space left on device' err
check "what a link leads to is what it was" test "$(cat disk/kept.json)" = old
t history backup disk/copy.db --db disk/h.db | sed -E 's/[0-9]+\.partial/N.partial/'
t run null/copy/right --device "$FAKE" --batch 1 --launches 1 --iterations 5 --db other.db \
  -o disk/out.txt
check "no half of a file is left" test -z "$(find disk -name "copy*" -o -name "out*" -o -name "*.tmp")"
umount disk
