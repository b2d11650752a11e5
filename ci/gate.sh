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

words=()
while IFS= read -r line; do
  [[ $line =~ ^[[:space:]]*$ ]] || words+=(--bench "$line")
done <<<"${BENCH:-}"
[ ${#words[@]} -gt 0 ] || fail "BENCH has no command"
[ -z "${BUILD_COMMAND:-}" ] || words+=(--build-command "$BUILD_COMMAND")
# xargs knows quotes, and nothing that runs a program.
options=$(mktemp)
trap 'rm -f "$options"' EXIT
if [[ ${OPTIONS:-} =~ [^[:space:]] ]]; then
  xargs printf '%s\0' <<<"$OPTIONS" >"$options" || fail "the options have a quote without its other half: $OPTIONS"
fi
while IFS= read -r -d '' word; do words+=("$word"); done <"$options"
rm -f "$options"
unset HARNESS_BENCH HARNESS_BENCH_BUILD
exec bash "$here/pr.sh" --output "${OUTPUT:-harness-pr}" "${words[@]}"
