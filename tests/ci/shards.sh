# shellcheck shell=bash
# Parts of a sweep and their merging, without a cluster: killed at any moment, stopped, started
# again, missing. U-04, S2-09.
# shellcheck source=tests/ci/lib.sh
. "$CLI/../ci/lib.sh"
need_tools jq
"$HARNESS" help history | grep -q merge || skip "this harness merges no histories yet"
sweep=(null/copy/right --device "$FAKE" --batch 1:4:+1 --seq '8,16' --launches 2 --iterations 5 --seed 1)
shard() {
  local part=$1
  shift
  "$CI/shard.sh" "$part" 4 shared "${sweep[@]}" "$@" >out 2>err
}
files() { (cd shared && find . -type f | sort | paste -sd ' '); }
keys() { "$HARNESS" history show "$1" --db "$2" | jq -r '.runs[].measurements[].key' | sort; }
mkdir scratch
export TMPDIR=$PWD/scratch

say "What is no part"
s shard.sh 0 4 shared
s shard.sh 5 4 shared
s shard.sh x 4 shared
s shard.sh 1 4
s merge.sh 4 nowhere

say "Killed: nothing of it is there"
setsid "$CI/shard.sh" 1 4 shared "${sweep[@]}" --launches 1000 >out 2>err &
pid=$!
begun() { "$HARNESS" history list --db scratch/harness-shard.*/history.db | grep -q ' [1-9][0-9]* OK'; }
check "it measures" wait_for begun
disown $pid
kill -KILL -$pid
rm -rf scratch/*
files

say "Started again, it is complete"
mkdir told
for command in cp mv sync; do
  printf '#!/bin/sh\necho "%s $*" >>"%s/calls"\nexec %s "$@"\n' \
    $command "$PWD" "$(command -v $command)" >told/$command
done
chmod +x told/*
PATH=$PWD/told:$PATH shard 1
echo "[$?]"
files
told_calls() { sed -E "s%$PWD/%%g; s%[^ ]*/copy.db%COPY%; s%\.[A-Za-z0-9]{6}\.part%.PART%g; s%\.history\.[A-Za-z0-9]{6}%.PART%g" calls && rm calls; }
say "It is on the disk before it has its name, and the name then"
told_calls
say "And not measured again"
shard 1
echo "[$?]"
cat out
say "A part of another sweep is none of this one"
# another ARG...: what is said; a pod is not told that all is well, either.
another() {
  SHARD_COMPLETE_IS_0=yes shard 1 "$@"
  echo "[$?]"
  sed "s#$("$HARNESS" version | sed -n '1s/^harness //p')#HARNESS#g; s# --device [^\"]* --seed 1# ... --seed 1#g" err
}
another --label another
cp shared/shards/1-of-4.status status
sed -i '2s#^[^ ]*#another build#' shared/shards/1-of-4.status
another
sed -i 2d shared/shards/1-of-4.status # as parts were that did not say it
another
mv status shared/shards/1-of-4.status

say "Stopped by SIGTERM: what is finished is kept apart"
"$CI/shard.sh" 2 4 shared "${sweep[@]}" --launches 1000 >out 2>err &
pid=$!
check "it measures" wait_for begun
kill -TERM $pid
wait $pid
echo "[$?]"
files
part=$("$HARNESS" history list --db shared/shards/2-of-4.partial.db | grep -c ' OK')
check "it has a run" test "$part" = 1
shard 3 --label x
PATH=$PWD/told:$PATH s merge.sh 4 shared
told_calls
say "Merged again, while somebody reads what was merged before"
"$HARNESS" serve --db shared/history.db --port 0 >serving 2>&1 &
server=$!
check "it serves" wait_for grep -q http serving
held=0
for _ in $(seq 6); do
  "$CI/merge.sh" 4 shared >out 2>err
  "$HARNESS" history verify --db shared/history.db >/dev/null && held=$((held + 1))
done
kill -TERM $server
wait $server || true
knock "ci/merge.sh beside \`serve\`" $held 6 "the history is sound"
check "each time it is sound" test $held = 6

say "Started again, it takes the place of the part, and of what a killed reader has left beside it"
: >shared/shards/2-of-4.partial.db-wal
: >shared/shards/2-of-4.partial.db-shm
shard 2
files
shard 4 null/copy/inexact
echo "[$?]"
rm shared/shards/4-of-4.*
s merge.sh 4 shared --wait 1
shard 4
s merge.sh 4 shared
quiet run "${sweep[@]}" --db whole.db
for run in 1 2 3 4; do keys "$run" shared/history.db; done | sort >sharded
check "the whole is what one run has" cmp sharded <(keys latest whole.db)

say "Into a history of one's own, twice"
cp whole.db mine.db
s merge.sh 4 shared --db "$PWD/mine.db" 2>&1 | grep -v '^2>'
s merge.sh 4 shared --db "$PWD/mine.db" 2>&1 | grep -v '^2>'
"$HARNESS" history list --db mine.db | grep -c ' OK'

say "Two parts that say other things of the same run: told, and the rest is merged"
mkdir -p twins/shards
cp shared/shards/1-of-4.db twins/shards/1-of-2.db
cp shared/shards/1-of-4.db twins/shards/2-of-2.db
change twins/shards/2-of-2.db "UPDATE run SET suite = 'another'"
s merge.sh 2 twins 2>&1 | sed 's/([0-9a-f]\{8\})/(UUID)/'
"$HARNESS" history list --db twins/history.db | grep -c ' OK'

say "Parts that were not divided alike: told, and merged"
for part in 1 2; do
  "$CI/shard.sh" $part 2 unlike null/copy/right --device "$FAKE" --batch 1:4:+1 --seq $((4 << part)) \
    --launches 1 --iterations 2 >out 2>err
done
s merge.sh 2 unlike

say "What Slurm is asked for: a label of one's own stays the only one"
mkdir bin
echo "#!/bin/sh
echo \"\$*\" >>'$PWD/calls'
echo 7" >bin/sbatch
chmod +x bin/sbatch
for label in '' '--label mine' --label=mine; do
  # shellcheck disable=SC2086  # words
  PATH=$PWD/bin:$PATH "$CI/slurm/submit.sh" --shards 2 --output sub $label >/dev/null
done
grep -o -- '--label.*' calls | sed 's/slurm-[0-9TZ]*/slurm-TIME/'

say "A GPU, a partition and a node of its own are what each task is given, not the job that merges"
# calls ARG...: what sbatch is called with.
calls() {
  rm -f calls
  PATH=$PWD/bin:$PATH "$CI/slurm/submit.sh" --shards 2 --output sub --label x "$@" >/dev/null
  sed -e "s#$CI#CI#g" -e "s#$WORK#WORK#g" calls
}
calls --gres gpu:1 --sbatch --partition=gpu --sbatch --time=30 --device cuda --suite gpu
calls --gres gpu:2 --shared
s slurm/submit.sh --gres
say "What a cluster demands of every job, for the job that merges, too"
calls --sbatch --account=team --sbatch --partition=gpu --sbatch-merge --account=team --shared
s slurm/submit.sh --sbatch-merge
say "A cluster that takes the tasks alone: how they are merged is said"
echo "#!/bin/sh
case \$* in *--dependency*) echo 'sbatch: error: no account' >&2; exit 1 ;; esac
echo 7" >bin/sbatch
PATH=$PWD/bin:$PATH s slurm/submit.sh --shards 2 --shared --output sub |
  sed "s#$CI#CI#; s/slurm-[0-9TZ]*/slurm-TIME/"

say "A wrong result is told by all of them"
HARNESS=$HARNESS "$CI/shard.sh" 1 1 wrong null/copy/inexact --device "$FAKE" --batch 1 --launches 1 >out 2>err
echo "[$?]"
"$CI/shard.sh" 1 1 wrong null/copy/inexact --device "$FAKE" --batch 1 --launches 1
echo "[$?]"
s merge.sh 1 wrong
SHARD_COMPLETE_IS_0=yes "$CI/shard.sh" 1 1 wrong null/copy/inexact --device "$FAKE" --batch 1 --launches 1
echo "[$?]"

say "A part of which nothing can be measured is complete"
too_many=(scope/on --device cpu:1 --dim calls=5000000 --launches 1)
"$CI/shard.sh" 1 1 none "${too_many[@]}" >out 2>err
echo "[$?]"
SHARD_COMPLETE_IS_0=yes "$CI/shard.sh" 1 1 none "${too_many[@]}"
echo "[$?]"
s merge.sh 1 none
check "nothing is left in the scratch folder" test -z "$(ls scratch)"
