#!/usr/bin/env bash
# ggml, llama.cpp's library, as npm has it prebuilt: fetches what ci/ggml/package-lock.json pins into a
# folder, unless it is there, and prints the path for HARNESS_GGML.
#
#   ggml.sh FOLDER
#
# Exit status: 0; 77, and a line that says why, where it cannot be had; 2 for bad usage.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=ci/lib.sh
source "$here/lib.sh"
help_if_asked "$@"

if [ $# -ne 1 ] || [[ $1 == -* ]]; then
  usage_of "$0" >&2
  exit 2
fi
mkdir -p "$1"
folder=$(cd "$1" && pwd)
libraries=$folder/node_modules/@node-llama-cpp/linux-x64/bins/linux-x64

command -v npm >/dev/null || { echo "skipped: npm is missing (ci/setup.sh installs it)"; exit 77; }
exec 9>"$folder/lock"
flock 9
if ! cmp -s "$here/ggml/package-lock.json" "$folder/package-lock.json" || [ ! -e "$folder/installed" ]; then
  rm -f "$folder/installed"
  cp "$here"/ggml/package.json "$here"/ggml/package-lock.json "$here"/ggml/.npmrc "$folder/"
  (cd "$folder" && npm ci --prefer-offline --fetch-retries=1 >npm.log 2>&1) || {
    echo "skipped: npm cannot fetch ggml: $(grep -m 1 . "$folder/npm.log" || true) (see $folder/npm.log)"
    exit 77
  }
  touch "$folder/installed"
fi
echo "$libraries"
