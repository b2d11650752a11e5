#!/usr/bin/env bash
# CTest perf.record: measures the suite ci into FOLDER/history.db, then gates it against the
# baseline "main" of this machine class: one of that history, or baselines/<class>/main.json.
# Exit status 0 no regression, 1 regression or wrong results, 77 no baseline or cannot tell.
#
#   tests/perf/record.sh HARNESS FOLDER
set -euo pipefail
harness=$1
db=$2/history.db
mkdir -p "$2"

# A launch takes two seconds or three: ten of them, and no more than fit into 45 s. One core stays
# free, so that what else runs on the machine does not stall the threads at their barriers.
cores=$(nproc)
"$harness" run --suite ci --device cpu:$((cores > 1 ? cores - 1 : 1)) --budget 45s --label ctest \
  --db "$db" 2>&1

class=$("$harness" list machines | sed -n '2s/^  \([^ ]*\) .*/\1/p')
if ! "$harness" baseline show main --db "$db" >/dev/null 2>&1 &&
  [ ! -e "baselines/$class/main.json" ]; then
  echo
  echo "Recorded, but there is no baseline \"main\" for $class to gate it against. To make this"
  echo "run the baseline:"
  echo "  $harness baseline save main --db $db"
  echo "(with --file auto it becomes a file under baselines/, to be reviewed with the code)"
  exit 77
fi
echo
"$harness" compare --baseline baseline:main --db "$db"
