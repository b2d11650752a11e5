# shellcheck shell=bash
# Histories of several machines and of the shards of a sweep become one. U-11, issue 9.

mask() { sed -E 's/\([0-9a-f]{8}\)/(UUID)/'; }
fake seed=3 --launches 2 --label first --db a.db
fake seed=4,sd=0.01 --launches 1 --batch 3 --db b.db
fake seed=5 --launches 1 --batch 3 --db b.db
quiet baseline save main --db b.db
cp a.db before.db

say "Into the project's history, which is not there yet"
t history merge a.db b.db --dry-run
t history merge none.db
check "none is made for nothing" test ! -e .harness/history.db
t history merge a.db b.db
t history merge a.db b.db
t history list
t baseline list | sed -E 's/ +/ /g'
t history merge a.db --json
check "the files are as they were" cmp a.db before.db

say "Conflicts"
cp b.db other.db
change other.db "UPDATE measurement SET footprint = 7 WHERE id = 1"
t history merge other.db 2>&1 | mask
quiet baseline save main --ref 1 --replace
t history merge b.db 2>&1 | mask
t history verify

say "Refused before anything is merged"
head -c 3000 /dev/zero >zeros.db
cp b.db more.db
quiet run null/copy/right --device "$FAKE" --batch 1 --launches 1 --iterations 3 --db more.db
t history merge more.db zeros.db
t history merge .harness/history.db
t history merge none.db
t history merge
t history list --limit 1

say "The shards of a sweep"
sweep() {
  quiet run null/copy/right --device "$FAKE" --batch 1:7:+1 --seq 1:64:*2 --launches 1 \
    --iterations 1 --seed 1 "$@"
}
sweep --db whole.db
for i in 1 2 3; do sweep --db "shard$i.db" --shard $i/3 --sweep monday; done
SLURM_ARRAY_JOB_ID=77 sweep --db shard1.db --shard 1/2
t history merge --db shards.db shard3.db shard2.db shard1.db
keys() { "$HARNESS" history show "$1" --db "$2" | sed -n 's/.*"key":[[:space:]]*"\(null[^"]*\)".*/\1/p' | sort; }
keys latest whole.db >whole
keys monday shards.db >parts
check "the sweep has each benchmark of the whole once" cmp whole parts
check "there are 49" test "$(wc -l <parts)" -eq 49
keys sweep:slurm-77 shards.db >half
check "an array job names its sweep" test "$(wc -l <half)" -eq 25
t run null/copy/right --device "$FAKE" --sweep monday
