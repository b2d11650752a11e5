# shellcheck shell=bash
# What a decision costs, and what moves by luck: on the device with a scripted clock. U-06, U-12.
command -v python3 >/dev/null || skip "there is no python3"

# without_times: what this machine took.
without_times() { sed -E 's/[0-9.]+ (ns|µs|ms|s)\b/T/g' | tr -s ' '; }

say "Without noise three blocks decide, whatever the size"
t selftest null/copy/right --batch 1 --cost --plant 1%,5% --iterations 5 --seed 7 \
  --device "$FAKE" | without_times
check "what was measured is in no history" \
  test "$("$HARNESS" history list | grep -c 'selftest cost')" -eq 0
check "it is beside it" test "$("$HARNESS" history list --db .harness/selftest.db | wc -l)" -eq 6

say "With noise more of them, and the smaller the change the more"
"$HARNESS" selftest null/copy/right --batch 1 --cost --iterations 5 --seed 7 \
  --device fake:base=2000,launch=0.01 --json >cost.json 2>/dev/null || true
check "fewer for more" python3 -c '
import json
rows = json.load(open("cost.json"))["costs"][0]["sizes"]
blocks = [row["blocks"] or 999 for row in rows]
print(blocks)
raise SystemExit(not (len(rows) == 4 and blocks == sorted(blocks, reverse=True) and
                      10 < blocks[0] < 200 and blocks[3] <= 4))'
check "alarms are counted" python3 -c '
import json
rows = json.load(open("cost.json"))["costs"][0]["sizes"]
raise SystemExit(not all(row["alarms"]["of"] == 200 and row["alarms"]["hits"] < 30 for row in rows))'

say "What moves with the placement alone"
"$HARNESS" selftest null/copy/right --batch 1,2 --placement --iterations 5 --seed 7 \
  --device fake:base=2000,launch=0.001,placement=0.05 >text 2>/dev/null
grep -c 'null/copy/right.*below' text
for seed in 3 4; do
  fake "seed=$seed,slow=1.0$((2 * seed - 6))" --launches 4 --batch 1,2
  [ $seed = 4 ] || quiet baseline save main
done
t compare --baseline main --delta 1% --all | sed -E 's/[0-9.]+( to [0-9.]+)? % are not/N % are not/' |
  grep -o 'Placement.*\|^\[.*\|^.  same'
"$HARNESS" selftest null/copy/right --batch 1,2 --placement --iterations 5 --seed 7 \
  --device fake:base=2000 >text 2>/dev/null # and here nothing does
grep -c 'nothing shown' text
t compare --baseline main --delta 1% | grep -o 'Placement.*\|^\[.*\|^.  regressed'

say "Bad input"
t selftest --cost --aa 2
t selftest --cost --placement
t selftest --placement --plant 2%
t selftest null/copy/right --cost --device "$FAKE" --budget 1ms
