#!/usr/bin/env bash
# Runs one test file of the page:
#
#   HARNESS_BUILD=build/dev HARNESS_PROGRAM=build/dev/harness tests/web/run.sh tests/web/NAME.test.mjs
#
# A file that imports lib.mjs opens pages in Chromium; its packages are fetched by npm into
# $HARNESS_BUILD/web/tests. Exit status 77, and a line that says why, where something is missing.
set -euo pipefail
# Roofs of tests are looked at by none but their own.
export HARNESS_ROOFS=quick
test_file=$1
folder=$(cd "$(dirname "$0")" && pwd)
modules=$HARNESS_BUILD/web/tests

skip() {
  echo "skipped: $1 (ci/setup.sh --tests installs it where the distribution has it)"
  exit 77
}

find_browser() {
  local name
  # The shell first: the whole browser draws windows, bars and buttons of its own around each page.
  for name in "${HARNESS_BROWSER:-}" chromium-headless-shell chromium chromium-browser google-chrome; do
    [ -n "$name" ] && command -v "$name" && return
  done
  return 1
}

install_modules() {
  mkdir -p "$modules"
  exec 9>"$modules/lock"
  flock 9
  if ! cmp -s "$folder/package-lock.json" "$modules/package-lock.json" ||
    [ ! -e "$modules/installed" ]; then
    rm -f "$modules/installed"
    cp "$folder/package.json" "$folder/package-lock.json" "$folder/.npmrc" "$modules/"
    (cd "$modules" && npm ci --prefer-offline >npm.log 2>&1) || {
      cat "$modules/npm.log"
      echo "skipped: npm ci failed, see above"
      exit 77
    }
    touch "$modules/installed"
  fi
  exec 9>&-
}

command -v node >/dev/null || skip "node is missing"
if grep -q "from './lib.mjs'" "$test_file"; then
  [ "$(node -p 'process.versions.node.split(".")[0]')" -ge 20 ] || {
    echo "skipped: node $(node --version) is too old for playwright-core, which needs 20"
    exit 77
  }
  command -v npm >/dev/null || skip "npm is missing"
  HARNESS_BROWSER=$(find_browser) || skip "Chromium is missing"
  export HARNESS_BROWSER
  [ -e "$HARNESS_BUILD/web/page.html" ] || {
    echo "skipped: this build has no page; the configure output says why"
    exit 77
  }
  install_modules
fi

# A browser that stood still has judged nothing: lib.mjs says where one did, and another is asked.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
node --test "$test_file" | tee "$log" && exit
grep -q '^# the browser makes no frames any more' "$log" || exit 1
echo "run once more: the browser made no frames any more"
node --test "$test_file"
