# shellcheck shell=bash
# The history: list, show, verify, backup. U-05, S0-22.

fake seed=3 --launches 2 --label first
fake seed=4,sd=0.01 --launches 1 --batch 3
t history
t history list --limit 1
"$HARNESS" history list --json >list.json
echo "in JSON: $(json_length list.json), newest $(json list.json 0 id), label $(json list.json 1 label)"
check "the start of a uuid is a REF, and uuids differ from their first digits on" \
  test "$("$HARNESS" history list | sed -nE 's/^ +[0-9]+  ([0-9a-f]{8}) .*/\1/p' | sort -u |
    grep -vc 00000000)" -eq 2
uuid=$("$HARNESS" history list | sed -nE 's/^ +1  ([0-9a-f]{8}) .*/\1/p')

say "Show"
"$HARNESS" history show "$uuid" >one.json
"$HARNESS" history show 1 >two.json
"$HARNESS" history show first >three.json
check "run, uuid and label show the same" cmp one.json two.json
check "run, uuid and label show the same" cmp one.json three.json
echo "launch of the last: $(json one.json runs 0 measurements 11 launch)," \
  "samples $(json_length one.json runs 0 measurements 11 samples_ns)," \
  "the first $(json one.json runs 0 measurements 11 samples_ns 0) ns"

say "What a run was measured on"
"$HARNESS" history system 1 >system.txt
for fact in cpu commit compiler kernel_release libc; do
  check "the table has the $fact" grep -qi "^$fact " system.txt
done
"$HARNESS" history system first --json >system.json
check "and as JSON the same" test "$(json system.json 0 build compiler)" = "$(sed -n 's/^compiler *//p' system.txt)"
check "with its number" test "$(json system.json 0 id)" = 1
t history verify --json

say "Options of another action"
for option in limit=1 keep-days=1 keep-runs=1 samples-older-than=1d dry-run trust-clock vacuum; do
  t history verify "--$option"
done
t history list --keep-days 1
t history salvage damaged.db saved.db --db h.db

say "Care"
t history verify
t history backup copies/b.db
t history backup copies/b.db
check "a backup is one file" test "$(ls copies)" = b.db
t history list --db copies/b.db
t history verify --db copies/b.db
