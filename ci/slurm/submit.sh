#!/usr/bin/env bash
# Measures a sweep on many nodes by Slurm: an array of tasks, a part of the sweep each, and a job
# that merges their histories when all have ended.
#
#   submit.sh [--shards N] [--output FOLDER] [--db FILE] [--gres SPEC] [--shared] [--wait]
#             [--sbatch OPTION]... [--sbatch-merge OPTION]... [RUN-OPTION...]
#
#   --shards N        parts (default 4)
#   --output FOLDER   on a file system that the nodes share (default harness-slurm); a new one for
#                     each sweep: parts that are complete there are not measured again, and the
#                     others become parts of that sweep, with its label (FOLDER/sweep)
#   --db FILE         the history that is added to (default FOLDER/history.db)
#   --gres SPEC       what each task needs, such as gpu:1; then also say --device cuda
#   --shared          other jobs may run on the same node: they disturb what is measured
#   --sbatch OPTION   handed to sbatch for the array: --sbatch --partition=gpu --sbatch --time=30
#   --sbatch-merge OPTION   handed to sbatch for the job that merges. What a cluster demands of every
#                     job goes to both: also by sbatch's own SBATCH_ACCOUNT, SBATCH_PARTITION, SBATCH_QOS
#   --wait            until all is merged; the exit status is that of ci/merge.sh
# All else are options of `harness run`: --suite full, --device cuda ... Without --label the runs
# get one of their own, by which `harness compare` finds them all.
#
# All tasks should run on nodes of one kind: a result from another kind of machine is no baseline
# for this one, and the history keeps them apart.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
scripts=$(dirname "$here")
# shellcheck source=ci/lib.sh
. "$scripts/lib.sh"
help_if_asked "$@"
need sbatch

nr=4 out=harness-slurm db='' gres='' shared=no wait='' batch=() batch_merge=() run=() own='' label="slurm-$(date -u +%Y%m%dT%H%M%SZ)"
while [ $# -gt 0 ]; do
  case $1 in
    -h|--help) usage_of "$0"; exit 0 ;;
    --shards|--output|--db|--gres|--sbatch|--sbatch-merge|--label) [ $# -ge 2 ] || fail "$1 needs a value" ;;
  esac
  case $1 in
    --shards) nr=$2; shift ;;
    --output) out=$2; shift ;;
    --db) db=$(realpath -m "$2"); shift ;;
    --gres) gres=$2; shift ;;
    --sbatch) batch+=("$2"); shift ;;
    --sbatch-merge) batch_merge+=("$2"); shift ;;
    --shared) shared=yes ;;
    --wait) wait=--wait ;;
    --label) own=$2; shift ;;
    --label=*) own=${1#*=} ;;
    *) run+=("$1") ;;
  esac
  shift
done
[[ $nr =~ ^[1-9][0-9]{0,3}$ ]] || fail "--shards: \"$nr\" is no number up to 9999"
HARNESS=$(find_harness)
export HARNESS
mkdir -p "$out/log"
out=$(realpath "$out")
[ -z "$gres" ] || batch+=("--gres=$gres")
[ $shared = yes ] || batch+=(--exclusive)
if [ -e "$out/sweep" ]; then # submitted before: what was named then
  { read -r label && read -r sweep; } <"$out/sweep" || fail "$out/sweep has no two lines; a new folder has none"
  export HARNESS_SWEEP=$sweep
fi
label=${own:-$label}
run+=(--label "$label")

array=$(sbatch --parsable --array="0-$((nr - 1))" --output="$out/log/shard-%a.log" "${batch[@]}" \
  "$here/run.sbatch" "$scripts" "$nr" "$out" "${run[@]}")
array=${array%%;*}
# Where nobody names a sweep, `harness run` does by the job.
[ -e "$out/sweep" ] || printf '%s\n' "$label" "${HARNESS_SWEEP:-slurm-$array}" >"$out/sweep"
echo "submit.sh: job $array: $nr parts${label:+, labelled $label}; they say what they do in $out/log"
sbatch --parsable --dependency="afterany:$array" --output="$out/log/merge.log" $wait \
  "${batch_merge[@]}" "$here/merge.sbatch" "$scripts" "$nr" "$out" ${db:+--db "$db"} \
  >"$out/log/merge.job" || {
  status=$?
  [ -s "$out/log/merge.job" ] ||
    fail "Slurm takes no job that merges, see above: what it needs is said by --sbatch-merge." \
      "Job $array measures; when it has ended: $scripts/merge.sh $nr $out${db:+ --db $db}"
  cat "$out/log/merge.log" >&2 || true
  exit $status
}
echo "submit.sh: job $(cat "$out/log/merge.job") merges them into ${db:-$out/history.db}"
