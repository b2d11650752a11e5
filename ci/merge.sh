#!/usr/bin/env bash
# Joins what ci/shard.sh has left of N parts into one history.
#
#   merge.sh N FOLDER [--db FILE] [--wait SECONDS]
#
# Without --db it is FOLDER/history.db, made anew from the parts. With it they are added to FILE;
# what is there already is not added again. --wait: until all are there, so long at most.
# Exit status: 0 all parts are there and right, or cannot be measured where they were; 1 merged, but a
# part is missing, was stopped, or had a wrong result, or they were not divided alike; 2 failure.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=ci/lib.sh
. "$here/lib.sh"

help_if_asked "$@"
[ $# -ge 2 ] || { usage_of "$0" >&2; exit 2; }
nr=$1 folder=$2 db='' patience=0
shift 2
while [ $# -gt 0 ]; do
  case $1:${2:+value} in
    --db:value) db=$2 ;;
    --wait:value) patience=$2 ;;
    *) usage_of "$0" >&2; exit 2 ;;
  esac
  shift 2
done
[[ $nr =~ ^[1-9][0-9]{0,5}$ && $patience =~ ^[0-9]{1,7}$ ]] || fail "N and SECONDS are numbers"
[ -d "$folder" ] || fail "$folder is no folder"
folder=$(realpath "$folder")
harness=$(find_harness)

complete() {
  local i
  for i in $(seq "$nr"); do [ -e "$folder/shards/$i-of-$nr.db" ] || return 1; done
}
until [ $SECONDS -ge "$patience" ] || complete; do sleep 1; done

files=() status=0
for i in $(seq "$nr"); do
  part=$folder/shards/$i-of-$nr
  if [ -e "$part.db" ]; then
    files+=("$part.db")
    case $(status_of_part "$part.status") in
      0) ;;
      77) echo "merge.sh: nothing of part $i of $nr can be measured there" >&2 ;;
      *)
        echo "merge.sh: part $i of $nr has a wrong or failed result" >&2
        status=1
        ;;
    esac
  elif [ -e "$part.partial.db" ]; then
    files+=("$part.partial.db")
    echo "merge.sh: part $i of $nr was stopped; what was finished is merged" >&2
    status=1
  else
    echo "merge.sh: part $i of $nr is missing" >&2
    status=1
  fi
done
[ ${#files[@]} -gt 0 ] || fail "no part is there: look into $folder/log"

# Its status 1 are conflicts, which it tells: the rest is merged.
merge() {
  "$harness" history merge "${files[@]}" --db "$1" || {
    [ $? -eq 1 ] || fail "the parts cannot be merged, see above"
    status=1
  }
}

if [ -n "$db" ]; then
  merge "$db"
else
  scratch=$(mktemp -d "${SLURM_TMPDIR:-${TMPDIR:-/tmp}}/harness-merge.XXXXXX")
  trap 'rm -rf "$scratch"' EXIT
  merge "$scratch/history.db" >/dev/null
  "$harness" history backup "$scratch/copy.db" --db "$scratch/history.db" >/dev/null
  db=$folder/history.db
  if [ -e "$db" ]; then
    # Somebody may be reading the one of the last time.
    "$harness" history restore "$scratch/copy.db" --db "$db" >/dev/null ||
      fail "$db is there already and cannot be made anew, see above"
  else
    # By a file's own means: SQLite may have no locks in this folder.
    part=$(mktemp "$folder/.history.XXXXXX")
    cp "$scratch/copy.db" "$part"
    chmod "$(printf '%o' $((0666 & ~$(umask))))" "$part"
    give_name "$part" "$db" -n
    [ ! -e "$part" ] || { rm -f "$part"; fail "somebody else has made $db meanwhile"; }
  fi
fi

# division FILE: the plan by which its newest run was cut, and the machine's class; others of which have
# other benchmarks, and so other plans.
division() {
  "$harness" history list --json --limit 1 --db "$1" 2>/dev/null |
    sed -n 's/^[[:space:]]*"\(plan\|class_name\)":[[:space:]]*"\([^"]*\)".*/\2/p' | paste -sd ' '
}
unlike=$(for file in "${files[@]}"; do division "$file" || true; done |
  awk 'NF == 2' | sort -u | cut -d ' ' -f 2 | sort | uniq -d)
if [ -n "$unlike" ]; then
  echo "merge.sh: the parts were not divided alike: a benchmark may be missing, or there twice" >&2
  status=1
fi
echo "merge.sh: ${#files[@]} of $nr parts are in $db"
exit $status
