# shellcheck shell=bash
# Did it get slower? Verdicts on differences that are known, and the exit status. U-06, U-12, S0-15.

fake seed=3 --launches 5
t baseline save main

say "The same"
fake seed=3 --launches 5
t compare --baseline main
t compare --baseline main --all | brief

say "One of six is slower by a tenth"
fake seed=3,slow=1.10,only=4 --launches 5 --label slow
t compare --baseline main | brief
t compare --baseline main --head slow --format markdown
t compare --baseline main --head slow --delta 20% | brief
t compare --baseline main --head slow --metric gflops | brief
t compare --baseline main --head slow --json -o slow.json
json slow.json counts regressed
json slow.json exit_status
json slow.json rows 3 key
json slow.json rows 3 verdict
json slow.json rows 3 worse
t compare --baseline slow --head 1 | brief

say "A head in a file is no base of its own"
"$HARNESS" history show slow >slow-run.json
"$HARNESS" compare --baseline latest --head ./slow-run.json --no-record --json -o own.json >/dev/null 2>&1
echo "$(json own.json base): $(json own.json counts regressed) regressed"

say "Several metrics, floors of their own, and what is shown of it"
t compare --baseline main --head slow --metric p50,p95 --metric gflops
t compare --baseline main --head slow --metric p50,gflops --delta 2% --delta gflops=20% --json -o several.json
json several.json counts regressed
json several.json counts same
json several.json rows 7 metric
json several.json rows 7 delta
json several.json rows 7 verdict
json several.json chance
json several.json rows 7 design
t compare --baseline main --head slow --delta 'null/copy/right/fp32/batch=4*=15%' | brief
t compare --baseline main --head slow 'null/*/batch=1,*' 'null/*/batch=2,*' | brief
t compare --baseline main --head slow 'null/*/batch=4,*'
t compare --baseline main --head slow nosuch | brief
t compare --baseline main --head slow nosuch 'null/*/batch=1,*' | brief
t compare --baseline main --head slow --delta =5%
t compare --baseline main --head slow --delta gflops=x
t compare --baseline main --head slow --metric p50,error

say "A baseline of several runs"
fake seed=5 --launches 3 --label night
fake seed=6 --launches 3 --label night
fake seed=7,slow=1.10,only=4 --launches 3 --label today
t compare --baseline night --head today --all | brief
t compare --baseline night --head today --json -o nights.json
json nights.json rows 3 design
json nights.json rows 3 verdict

say "Too few launches to tell"
fake seed=3 --launches 1
t compare --baseline main

say "Broken, fixed, failing, missing and new"
fake seed=3 --launches 3 --batch 1,2,3 --label all-ok
"$HARNESS" run null/copy/right --device "$FAKE,crash=2" --seed 1 --launches 3 --iterations 20 \
  --batch 2,3,4 --label two-dies >/dev/null 2>&1
t compare --baseline all-ok --head two-dies | brief
t compare --baseline two-dies --head all-ok | brief
t compare --baseline two-dies --head two-dies

say "Of another machine class"
class=$("$HARNESS" list machines | sed -n '2s/^  \([^ ]*\) .*/\1/p')
"$HARNESS" history show 1 | sed "s/\"$class\"/\"elsewhere\"/" >elsewhere.json
t compare --baseline ./elsewhere.json --head 2
t compare --baseline ./elsewhere.json --head 2 --any-machine | brief
sed -i -E 's/("branch":[[:space:]]*")[^"]*/\1moved/' elsewhere.json
"$HARNESS" history show 2 | sed -E 's/("branch":[[:space:]]*")[^"]*/\1main/' >here.json
"$HARNESS" import elsewhere.json here.json --db moved.db >/dev/null
t compare --db moved.db --baseline moved --head main
t compare --db moved.db --baseline moved --head main --any-machine | brief

say "Models of what is in the history"
"$HARNESS" history show all-ok |
  sed 's#null/copy/right/fp32/batch=1,#gpt/nano/prefill/simd/fp32/batch=1,#' >models.json
t compare --baseline ./models.json --head ./models.json --model nano --all --no-record
t compare --baseline ./models.json --head ./models.json --model mini --no-record
t compare --baseline ./models.json --head ./models.json --model nann --no-record

say "Nothing in common"
fake seed=3 --launches 3 --batch 77 --label other
t compare --baseline all-ok --head other
t compare --baseline latest

say "Measured now"
# As `harness run` and then compare: the new run is the new side, and stays.
runs() { "$HARNESS" history --json | grep -c '"uuid"'; }
before=$(runs)
t compare --baseline main --run --suite ci --head slow
t compare --run null/copy/right --device fake
t compare --baseline main --run --blocks 3
check "the old side is looked for first" grep -q 'no baseline, run, label' \
  <("$HARNESS" compare --baseline nobody --run null/copy/right --device fake 2>&1)
check "nothing was measured for these" test "$(runs)" -eq "$before"
check "what got slower is found" grep -q '^▲  regressed  batch=4 ' \
  <("$HARNESS" compare --baseline main --run null/copy/right --seed 1 --label now \
    --device fake:base=2000,seed=3,slow=1.10,only=4 2>/dev/null)
check "one run more" test "$(runs)" -eq $((before + 1))
t compare --baseline main --head now | brief
