#!/usr/bin/env bash
# Measures two commits of a project with benchmarks of its own, in turn (A B, B A, ...), each
# measurement a process of its own, and imports the results into a history, as runs "LABEL base" and
# "LABEL head" whose launches are pairs: `harness compare` compares them pair by pair.
#
#   ab.sh --base COMMIT --head COMMIT --bench COMMAND [--build COMMAND] [--launches N]
#         --work FOLDER --db FILE --label LABEL
#
# Sources are git worktrees below FOLDER, made without hooks, and taken away at the end; results
# and logs stay there.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=ci/lib.sh
. "$here/lib.sh"

declare -A given=([launches]=6 [build]='')
while [ $# -gt 0 ]; do
  case $1 in
    --base|--head|--bench|--build|--launches|--work|--db|--label)
      [ $# -ge 2 ] || fail "$1 needs a value"
      given[${1#--}]=$2
      shift
      ;;
    *) usage_of "$0" >&2; exit 2 ;;
  esac
  shift
done
for name in base head bench work db label; do
  [ -n "${given[$name]:-}" ] || fail "give --$name"
done
build=${given[build]:-$build_by_cmake}
harness=$(find_harness)
"$harness" help import >/dev/null 2>&1 || fail "$harness has no command import; update it"

rm -rf "${given[work]}"
mkdir -p "${given[work]}"
work=$(realpath "${given[work]}")
forget() {
  local side
  for side in base head; do
    git_quietly worktree remove --force --force "$work/$side/src" 2>/dev/null || true
  done
}
trap forget EXIT

# in_side SIDE LOG COMMAND [OUT]: the end of the log where it fails.
in_side() {
  local folder=$work/$1
  (cd "$folder/src" && SOURCE=$folder/src BUILD=$folder/build OUT=${4:-} sh -c "$3") \
    >>"$2" 2>&1 </dev/null && return
  echo "ab.sh: $1 (${given[$1]:0:7}): the command failed: $3" >&2
  tail -n 20 "$2" >&2
  say_what_lacks "$folder/src" "${given[$1]:0:7}" >&2
  return 2
}

# say_what_lacks FOLDER COMMIT: what git leaves out of a worktree, and how to get it.
say_what_lacks() {
  [ ! -e "$1/.gitmodules" ] ||
    echo "ab.sh: $2 has submodules, which are not fetched, from wherever the commit says;" \
      "a build command that needs them begins with: git submodule update --init --recursive"
  ! grep -qs 'filter=lfs' "$1/.gitattributes" || git config filter.lfs.smudge >/dev/null ||
    echo "ab.sh: $2 keeps files with git-lfs, which is not set up here: \`git lfs install\` does it"
  [ "$(git config --bool core.sparseCheckout || true)" != true ] ||
    echo "ab.sh: the checkout is a sparse one, and so are the sources of both sides;" \
      "where a build needs other folders: git sparse-checkout add FOLDER"
}

for side in base head; do
  echo "ab.sh: building $side (${given[$side]:0:7})" >&2
  mkdir -p "$work/$side/build"
  git_quietly worktree add --quiet --force --detach "$work/$side/src" "${given[$side]}"
  in_side $side "$work/$side/build.log" "$build"
done

for launch in $(seq "${given[launches]}"); do
  order=(base head)
  [ $((launch % 2)) -eq 1 ] || order=(head base)
  for side in "${order[@]}"; do
    echo "ab.sh: launch $launch of ${given[launches]}: $side" >&2
    result=$(printf '%s/%s/%03d.json' "$work" "$side" "$launch")
    in_side "$side" "$work/$side/bench.log" "${given[bench]}" "$result"
    [ -s "$result" ] || fail "the command wrote no \$OUT ($result): ${given[bench]}"
  done
done

session=$(cat /proc/sys/kernel/random/uuid)
for side in base head; do
  "$harness" import "$work/$side"/[0-9]*.json --label "${given[label]} $side" --machine this \
    --commit "${given[$side]}" --in-turn "$session" --db "${given[db]}"
done
