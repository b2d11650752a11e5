#!/usr/bin/env bash
# Measures one of N parts of a sweep into a history of its own, for a task of a Slurm array or a pod
# of an indexed Job: ci/slurm and ci/kubernetes.
#
#   shard.sh I N FOLDER [RUN-OPTION...]      I from 1 to N; options of `harness run`
#
# The history is written on this machine (SLURM_TMPDIR, TMPDIR or /tmp: SQLite trusts no network file
# system) and put into FOLDER/shards, which the machines share, when it is complete: I-of-N.db, with
# the exit status of the run and what was run in I-of-N.status. So a task that was killed leaves
# nothing there, and one that is started again begins its part anew: no measurement is there twice.
# One that is complete is not measured again. Where it is of another sweep (other options, another
# build of harness), that is a failure: each sweep has a folder of its own. After SIGTERM (time is up,
# or another job wants the node) what was finished is kept as I-of-N.partial.db, and gives way to the
# complete one.
#
# SHARD_COMPLETE_IS_0=yes: for schedulers that try again what fails. A part that is complete ends with
# 0, whatever its results; ci/merge.sh tells of them.
#
# Exit status: that of `harness run`: 0, 1 if a result was wrong, 77 if nothing of it can be measured
# here, 2; 128 and more if it was stopped.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=ci/lib.sh
. "$here/lib.sh"

help_if_asked "$@"
[ $# -ge 3 ] || { usage_of "$0" >&2; exit 2; }
index=$1 nr=$2 folder=$3
shift 3
[[ $index =~ ^[1-9][0-9]{0,5}$ && $nr =~ ^[1-9][0-9]{0,5}$ && $index -le $nr ]] ||
  fail "\"$index\" of \"$nr\" is no part of a sweep"
harness=$(find_harness)
mkdir -p "$folder/shards"
result=$(realpath "$folder")/shards/$index-of-$nr

# What a part is of, in a line. Other places of the same build are the same.
sweep=$("$harness" version | sed -n '1s/^harness //p')$(printf ' %q' "$@")

# check_sweep: of the part that is there. None is told by parts of before they said it.
check_sweep() {
  local there
  there=$(sed -n '2p' "$result.status" 2>/dev/null || true)
  [ -z "$there" ] || [ "$there" = "$sweep" ] ||
    fail "$index of $nr in $folder is of another sweep, \"$there\", and this is \"$sweep\": take another folder"
}

# leave STATUS: of a part that is complete.
leave() {
  [ "${SHARD_COMPLETE_IS_0:-}" != yes ] || exit 0
  exit "$1"
}

if [ -e "$result.db" ]; then
  check_sweep
  echo "shard.sh: $index of $nr is measured already"
  leave "$(status_of_part "$result.status")"
fi
scratch=$(mktemp -d "${SLURM_TMPDIR:-${TMPDIR:-/tmp}}/harness-shard.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

# publish NAME: the whole history under that name, or nothing.
publish() {
  local there
  [ -f "$scratch/history.db" ] || return 0
  "$harness" history backup "$scratch/copy.db" --db "$scratch/history.db" >/dev/null
  there=$(mktemp "$result.XXXXXX.part")
  cp "$scratch/copy.db" "$there"
  chmod "=rw" "$there" # for whom the umask says
  give_name "$there" "$1" -f
  rm -f "$scratch/copy.db"
}

# A shell acts on a signal between commands: the run has to be one that it waits for.
"$harness" run --shard "$index/$nr" --db "$scratch/history.db" "$@" &
run=$!
trap 'kill -TERM $run 2>/dev/null || true' TERM INT
status=0
wait $run || status=$?
while kill -0 $run 2>/dev/null; do
  status=0
  wait $run || status=$?
done
trap '' TERM INT # what is left takes a moment

if [ $status -ge 128 ]; then
  publish "$result.partial.db"
  echo "shard.sh: $index of $nr was stopped (status $status); what was finished is in $result.partial.db" >&2
elif [ $status -le 1 ] || [ $status -eq 77 ]; then
  printf '%s\n' $status "$sweep" >"$result.status"
  sync "$result.status"
  publish "$result.db"
  remove_history "$result.partial.db"
  leave $status
fi
exit $status
