#!/usr/bin/env bash
# From a clone to measured kernels, forward passes, a comparison and pictures. Safe to repeat:
# the first time it also makes the baseline "main", later it compares with it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=ci/lib.sh
. "$here/lib.sh"
help_if_asked "$@"
cd "$here/.."

step() { printf '\n== %s\n' "$*"; }

step "What is needed"
ci/setup.sh

step "Build"
# Without the tests, which need more packages: ci/test.sh is for them.
cmake --preset release -DBUILD_TESTING=OFF --log-level=WARNING >/dev/null
cmake --build --preset release
harness=build/release/harness

# One core stays free for everything else that runs: threads that share a core with others wait
# for each other in every barrier, and short kernels then measure that.
device=cpu:free

if ! $harness baseline show main >/dev/null 2>&1; then
  step "Measure, for the baseline main"
  $harness run --suite quick --device "$device" --output .harness/baseline.txt
  $harness baseline save main --note "made by ci/quickstart.sh"
fi

step "Measure"
mkdir -p .harness
$harness run --suite quick --device "$device" --output .harness/latest.txt
cat .harness/latest.txt

step "Compare with the baseline main"
status=0
# A quick look from five launches a side: changes under 10 % are left to longer runs.
$harness compare --baseline main --delta 10% || status=$?

step "Draw"
$harness plot --baseline main --delta 10%

step "Done"
cat <<EOF
table     .harness/latest.txt
plots     .harness/plots/index.html (summary.txt says what each one shows)
history   .harness/history.db ($harness history list)
verdict   $(case $status in 0) echo "no regression";; 1) echo "REGRESSION, see above";; 77) echo "cannot tell, see above";; *) echo "the comparison failed";; esac)
EOF
[ "$status" -ne 2 ]
