# shellcheck shell=bash
# Ten runs at once into one new file lose nothing.

for i in 1 2 3 4 5 6 7 8 9 10; do
  "$HARNESS" run null/copy/right --device "$FAKE" --launches 2 --iterations 3 --label "run-$i" \
    >"out.$i" 2>&1 || echo "run $i failed: $(cat "out.$i")" &
done
wait
t history verify
check "each has its twelve measurements" \
  test "$("$HARNESS" history list | grep -cE '  2  12 OK +run-[0-9]+$')" -eq 10
check "each is there once" \
  test "$("$HARNESS" history list | grep -oE 'run-[0-9]+$' | sort -u | wc -l)" -eq 10
knock "ten runs of the program at once" \
  "$("$HARNESS" history list | grep -cE '  2  12 OK +run-[0-9]+$')" 10 \
  "each has all of its 12 measurements, once"
