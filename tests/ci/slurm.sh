# shellcheck shell=bash
# A sweep as a Slurm array, for real: controller and daemon of the distribution's Slurm on loopback,
# four tasks, one of them killed in the middle and requeued; the merged history has what the
# unsharded run has, each benchmark once. U-04, U-11, S2-09.
# shellcheck source=tests/ci/lib.sh
. "$CLI/../ci/lib.sh"
# shellcheck source=tests/ci/cluster.sh
. "$CLI/../ci/cluster.sh"
need_tools jq
trap 'cluster_stop; count_facts' EXIT
cluster_start

# The second task measures for long the first time.
sweep=(null/copy/right --device "$FAKE" --batch 1:4:+1 --seq '8,16,32' --launches 2 --iterations 5
  --seed 1)
cat >slow-harness <<WRAPPER
#!/bin/sh
case " \$* " in *" --shard 2/4 "*)
  [ -e "$WORK/second-time" ] || { touch "$WORK/measures"; set -- "\$@" --launches 1000; } ;;
esac
exec "$HARNESS" "\$@"
WRAPPER
chmod +x slow-harness

say "Submitted, killed, requeued, merged"
HARNESS=$WORK/slow-harness "$CI/slurm/submit.sh" --shards 4 --shared --output shared \
  --sbatch --time=5 "${sweep[@]}" >submitted 2>&1
sed -E 's/job [0-9]+/job N/; s/slurm-[0-9TZ]+/slurm-TIME/' submitted
job=$(sed -n 's/.*: job \([0-9]*\): .*/\1/p' submitted)
merge=$(cat shared/log/merge.job)
check "the second task is in the middle of it" wait_for test -e measures
sleep 1
touch second-time
check "it is killed and requeued" scontrol requeue "${job}_1"
# ended JOB: no task of it is left.
ended() { ! squeue --noheader --jobs="$1" 2>/dev/null | grep -q .; }
for _ in $(seq 120); do # a requeued task is let in again after some seconds
  ended "$merge" && break
  sleep 0.5
done
check "all have ended" ended "$merge"
check "the second task was started twice" grep -q 'Restarts=1 ' <(scontrol show job "${job}_1")
tail -n 1 shared/log/merge.log
find shared -type f ! -path '*/log/*' | sort

# keys REF DB: a line for each measurement.
keys() { "$HARNESS" history show "$1" --db "$2" | jq -r '.runs[].measurements[].key' | sort; }
label=$(sed -n 's/.*labelled \(slurm-[^;]*\); .*/\1/p' submitted)
say "The whole is what one run has"
quiet run "${sweep[@]}" --db whole.db
"$HARNESS" history list --db shared/history.db | grep -c "$label"
keys "$label" shared/history.db >sharded
check "the same benchmarks, each as often" cmp sharded <(keys latest whole.db)
wc -l <sharded
"$HARNESS" history verify --db shared/history.db >/dev/null && echo "the history is sound"

say "Once more into the same folder: nothing is measured or merged twice"
"$CI/slurm/submit.sh" --shards 4 --shared --output shared --wait "${sweep[@]}" >again 2>&1
echo "[$?]"
check "the parts say so" test "$(grep -l 'measured already' shared/log/shard-*.log | wc -l)" = 4
check "as many as before" cmp sharded <(keys "$label" shared/history.db)

say "A part that is missing is measured as one of the same sweep"
rm shared/shards/3-of-4.*
"$CI/slurm/submit.sh" --shards 4 --shared --output shared --wait --db "$WORK/missing.db" "${sweep[@]}" >again 2>&1
echo "[$?]"
check "latest is all of it" cmp sharded <(keys latest missing.db)
check "and so is its label" cmp sharded <(keys "$label" missing.db)

say "Everything is shut down"
pids=$(cat "$WORK"/cluster/*.pid)
cluster_stop
trap count_facts EXIT
# shellcheck disable=SC2086  # a list of numbers
check "no daemon is left" not kill -0 $pids
