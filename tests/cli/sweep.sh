# shellcheck shell=bash
# What a run selects and prints, on the device whose times are known. S0-03, S0-14, U-04.

t run null/copy/right --device "$FAKE,sd=0.01" --seed 1 --launches 3
t run 'null/*/right/*/batch=1,*' --device "$FAKE" --seed 1 --launches 1
t run null/copy/right --device "$FAKE,slow=1.5,only=2" --batch 1:4:*2 --seq 16,32:64:+16 --seed 1 \
  --launches 2 --iterations 7
t run null --variant right --dtype fp32 --device "$FAKE" --dim batch=2 --dim seq=3 --dim seq=5 \
  --cache warm,cold --seed 1 --launches 1 --iterations 5
t run null/copy/right null/copy/right/fp32 --device "$FAKE" --batch 1 --test-shapes --seed 1 \
  --launches 1 --iterations 5

say "A budget that is soon spent"
t run null/copy/right --device "$FAKE" --batch 1 --seed 1 --launches 3 --iterations 5 --budget 1us

say "To a file; nothing but the place on standard output"
t run null/copy/right --device "$FAKE" --batch 1 --seed 1 --launches 1 --iterations 5 -o sub/t.txt
cat sub/t.txt

say "In Markdown"
t run null/copy/right --device "$FAKE" --batch 1,2 --seed 1 --launches 1 --iterations 5 \
  --format markdown | sed 's/^Machine: .*/Machine: .../'

say "A suite of one's own"
cat >mine.json <<'J'
{ "name": "mine", "summary": "two sizes", "launches": 2, "sampling": { "min_time": "1ms", "max_time": "2ms" },
  "select": [ { "filters": ["null/copy"], "variants": ["right"], "dims": { "batch": [1, 8] } },
              { "filters": ["null/copy/right"], "dims": { "batch": [8] } } ] }
J
t run --suite ./mine.json --device "$FAKE" --seed 1
t run --suite ./mine.json --device "$FAKE" --seed 1 --launches 1 --label again
t history list

say "Noise that is another in each launch, and the same when all is done again"
# times DRAW: what each launch took.
times() {
  "$HARNESS" run null/copy/right --batch 1 --iterations 5 --launches 3 --db noise.db \
    --device "fake:base=1e6,launch=0.05,draw=$1" --json >run.json 2>/dev/null
  for launch in 0 1 2; do json run.json runs 0 measurements $launch samples_ns 0; done
}
first=$(times 5)
check "three times" test "$(sort -u <<<"$first" | wc -l)" -eq 3
check "the same again" test "$(times 5)" = "$first"
check "another draw has others" test "$(times 6)" != "$first"
