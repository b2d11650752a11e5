# shellcheck shell=bash
# Two programs measured in turn: verdicts on differences that are known, what ends it, and what is
# kept. U-05, U-06, U-12.

# another NAME SETTINGS: a program that is this one with a fake device of other settings.
another() {
  printf '#!/bin/sh\nHARNESS_FAKE=%s exec "%s" "$@"\n' "$2" "$HARNESS" >"$1"
  chmod +x "$1"
}

# ab ARG...: with little noise, the same order and inputs each time, and no times in what it says.
ab() {
  t compare --device "$FAKE" --seed 1 "$@" |
    sed -E 's/(a side) in [0-9.]+ .?s:/\1 in SPAN:/'
}

another same seed=3
another slower slow=1.05,only=4
another faster slow=0.9
another crashing crash=2

say "The same program twice"
ab --baseline-bin ./same null/copy/right --all
t history list
"$HARNESS" history show 1 >base.json
"$HARNESS" history show 2 >head.json
check "both runs are of one session" \
  test "$(json base.json runs 0 ab id)" = "$(json head.json runs 0 ab id)"
check "the base names the head as its partner" \
  test "$(json base.json runs 0 settings ab partner)" = "$(json head.json runs 0 uuid)"
check "they took turns, two launches a side in a block" \
  test "$(json base.json runs 0 measurements 11 launch)" = 1
check "the same comparison can be made again from the history" \
  "$HARNESS" compare --baseline "ab base" --head "ab head"

say "One of six is slower by a twentieth"
ab --baseline-bin ./same --head-bin ./slower null/copy/right | brief
ab --baseline-bin ./slower --head-bin ./faster null/copy/right --label tuning | brief
ab --baseline-bin ./same --head-bin ./slower null/copy/right --delta 10% | brief
ab --baseline-bin ./same --head-bin ./slower null/copy/right --json -o ab.json | brief
json ab.json counts regressed

say "A benchmark by its whole key, which no default size has"
ab --baseline-bin ./same --head-bin ./slower null/copy/right/fp32/batch=4,seq=99/fake/warm | brief

say "One that crashes"
ab --baseline-bin ./same --head-bin ./crashing null/copy/right
ab --baseline-bin ./crashing null/copy/right | brief

say "What ends it"
ab --baseline-bin ./same --head-bin ./slower null/copy/right --batch 1,2 --budget 1ms | brief
ab --baseline-bin ./same --head-bin ./slower null/copy/right --batch 1,2 --blocks 2 | brief

say "A floor for nothing that is compared"
ab --baseline-bin ./same null/copy/right --batch 1 --blocks 3 --delta p59=10% | brief
ab --baseline-bin ./same null/copy/right --batch 1 --blocks 3 --delta p95=10% --delta 'gemm/*=5%' \
  --delta right=9% | grep floor

say "An older program, which tells who it is in words"
# shellcheck disable=SC2016  # for the script that is written
printf '#!/bin/sh\n[ "$*" = "version --json" ] && exit 2\nexec "%s" "$@"\n' "$HARNESS" >older
chmod +x older
quiet compare --baseline-bin ./older --device "$FAKE" null/copy/right --batch 1 --label older
"$HARNESS" history show label:"older base" >older.json
"$HARNESS" version --json >version.json
for fact in version commit dirty compiler flags build_type; do
  check "$fact" test "$(json older.json runs 0 build $fact 2>&1)" = "$(json version.json $fact 2>&1)"
done

say "Programs that are none"
printf '#!/bin/sh\necho "I am no harness" >&2\nexit 3\n' >stranger
chmod +x stranger
# shellcheck disable=SC2016  # for the script that is written
printf '#!/bin/sh\n[ "$1" = version ] && exec "%s" "$@"\necho "no such command: $1" >&2\nexit 3\n' \
  "$HARNESS" >half
chmod +x half
: >empty
t compare --baseline-bin ./nowhere null/copy/right --device "$FAKE"
t compare --baseline-bin ./empty null/copy/right --device "$FAKE"
t compare --baseline-bin ./stranger null/copy/right --device "$FAKE"
ab --baseline-bin ./same --head-bin ./half null/copy/right | brief

say "Options that do not go together"
t compare --baseline main --suite ci
t compare --head-bin ./same
t compare --baseline-bin ./same --baseline main
t compare --baseline-bin ./same --build --baseline main
t compare --build
t compare --baseline-bin ./same null/copy/right --suite ci
long=$(printf '%091d' 0)
t compare --baseline-bin ./same null/copy/right --label "$long"
t run null/copy/right --label "$long-----"
quiet compare --baseline-bin ./same null/copy/right --batch 1 --blocks 3 --device "$FAKE" \
  --label "${long%0}"
check "the longest label is kept whole" "$HARNESS" compare --baseline "${long%0} base" \
  --head "${long%0} head"

say "Settings are checked before anything is measured"
t compare --baseline-bin ./same null/copy/right --device "$FAKE" --fdr 60%
t compare --baseline-bin ./same null/copy/right --device "$FAKE" --metric cpu_mhz
t compare --baseline-bin ./same null/copy/right --device "$FAKE" --metric nosuch

say "An interrupt keeps what there is"
another stuck hang=3
export HARNESS_DB=$PWD/interrupted.db
"$HARNESS" compare --baseline-bin ./same --head-bin ./stuck --device "$FAKE" --seed 3 \
  null/copy/right --batch 1,2,3 >out 2>err &
pid=$!
# The base went first and is done; the head has two, then it is stuck.
check "the head gets to where it is stuck" wait_for finished 2 2
kill -INT $pid
status=0
wait $pid || status=$?
cat out
sed -E -e 's/(a side) in [0-9.]+ .?s:/\1 in SPAN:/' -e 's/^/2> /' err
echo "[$status]"
t history list
t history verify
