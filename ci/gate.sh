#!/usr/bin/env bash
# ci/pr.sh as the action and the component call it, which can only give texts:
#
#   BENCH          a --bench a line          OPTIONS  words of a shell, without expansions
#   BUILD_COMMAND  --build-command           OUTPUT   --output
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=ci/lib.sh
. "$here/lib.sh"
help_if_asked "$@"

options=()
while IFS= read -r line; do
  [[ $line =~ ^[[:space:]]*$ ]] || options+=(--bench "$line")
done <<<"${BENCH:-}"
[ ${#options[@]} -gt 0 ] || fail "BENCH has no command"
[ -z "${BUILD_COMMAND:-}" ] || options+=(--build-command "$BUILD_COMMAND")
words_of "${OPTIONS:-}" || fail "the options have a quote without its other half: $OPTIONS"
options+=("${words[@]}")
unset HARNESS_BENCH HARNESS_BENCH_BUILD
exec bash "$here/pr.sh" --output "${OUTPUT:-harness-pr}" "${options[@]}"
