#!/usr/bin/env bash
# Builds this tree in Release and installs it, for a CI machine: bin/harness, its libraries and
# these scripts.
#
#   install.sh PREFIX [CMAKE-OPTION...]
#
# Nothing is done where PREFIX already holds this commit, unless the tree has changes that are not
# committed. As root, or where sudo asks nothing, the packages that the build needs are installed, too.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=ci/lib.sh
. "$here/lib.sh"
help_if_asked "$@"
[ $# -ge 1 ] || { usage_of "$0" >&2; exit 2; }
[[ $1 != -* ]] || fail "PREFIX comes first, and \"$1\" is none; ./$1 names such a folder"
cd "$here/.."
prefix=$(realpath -m -- "$1")
shift

# tree_commit: the commit that this tree is, to the last line; else "unknown". A repository that an
# unpacked source archive lies in says nothing of it.
tree_commit() {
  local inside changes
  if inside=$(git rev-parse --show-prefix 2>/dev/null) && [ -z "$inside" ] &&
    changes=$(git status --porcelain --untracked-files=no 2>/dev/null) && [ -z "$changes" ]; then
    git rev-parse HEAD 2>/dev/null && return
  fi
  echo unknown
}

commit=$(tree_commit)
if [ "$commit" != unknown ] &&
  [ "$(cat "$prefix/share/harness/commit" 2>/dev/null)" = "$commit $*" ] &&
  "$prefix/bin/harness" version >/dev/null 2>&1; then
  echo "install.sh: $prefix has it"
  exit 0
fi
setup=(ci/setup.sh)
if [ "$(id -u)" -ne 0 ] && command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  setup=(sudo -n ci/setup.sh)
fi
"${setup[@]}"
build=${BUILD_FOLDER:-build/install}
cmake -G Ninja -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF "$@" \
  --log-level=WARNING >/dev/null
cmake --build "$build"
cmake --install "$build" --prefix "$prefix" >/dev/null
echo "$commit $*" >"$prefix/share/harness/commit"
"$prefix/bin/harness" version
