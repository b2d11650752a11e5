#!/usr/bin/env bash
# Files on a branch without history: one commit, replaced each time, so that neither nightly
# histories nor pictures make the repository grow. Nothing is checked out.
#
#   branch.sh put BRANCH FOLDER FROM [OLD]
#                                       FOLDER on the branch is what the local folder FROM holds;
#                                       the folder OLD goes
#   branch.sh swap BRANCH FOLDER FROM FILE WAS
#                                       put, while git's name of FOLDER/FILE there is WAS ('': there
#                                       is none); else nothing is changed, and the exit status is 1
#   branch.sh get BRANCH FOLDER TO      and back, into the local folder TO; exit status 77 if there
#                                       is none
#   branch.sh list BRANCH               the folders on it
#   branch.sh drop BRANCH FOLDER...     takes these away
#
# Two that write at once do not lose each other's files. REMOTE: where to (default origin).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=ci/lib.sh
. "$here/lib.sh"
remote=${REMOTE:-origin}
tries=5
trust_checkout

help_if_asked "$@"
[ $# -ge 2 ] || { usage_of "$0" >&2; exit 2; }
action=$1 branch=$2
shift 2
git check-ref-format "refs/heads/$branch" || fail "\"$branch\" is no name of a branch"
names=("${@:1:1}")
case $action in
  drop) names=("$@") ;;
  put) names+=(${3:+"$3"}) ;;
esac
for folder in "${names[@]}"; do
  [[ $folder =~ ^[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*$ ]] ||
    fail "\"$folder\" is no plain name of a folder"
done
kept=refs/harness/$branch

# What the branch is now: prints its commit, or nothing where there is no branch.
fetch() {
  git_quietly update-ref -d "$kept"
  local there
  # It also tells of branches whose names end like that.
  there=$(git_quietly ls-remote -- "$remote" "refs/heads/$branch") || fail "cannot reach $remote"
  [[ $'\n'$there$'\n' == *$'\t'"refs/heads/$branch"$'\n'* ]] || return 0
  # Not --depth: that would make this clone a shallow one, and the branch is one commit anyway.
  git_quietly fetch --quiet --no-tags --no-recurse-submodules -- "$remote" \
    "+refs/heads/$branch:$kept" >&2
  git rev-parse "$kept"
}

# write OLD CHANGE...: the tree of OLD, changed by CHANGE, as the only commit of the branch.
write() {
  local old=$1 tree commit
  shift
  export GIT_INDEX_FILE=$index
  rm -f "$index"
  if [ -n "$old" ]; then git_quietly read-tree "$old"; fi
  "$@"
  tree=$(git_quietly write-tree)
  unset GIT_INDEX_FILE
  # The time makes it unlike any before: one that was fetched as the end of a shallow history is not
  # taken back from here.
  commit=$(git -c user.name="${GIT_AUTHOR_NAME:-harness}" \
    -c user.email="${GIT_AUTHOR_EMAIL:-harness@localhost}" \
    commit-tree -m "$branch" -m "$(date -u '+%Y-%m-%d %H:%M:%S.%N')" "$tree")
  pushed=yes
  git_quietly push --quiet --no-recurse-submodules --force-with-lease="refs/heads/$branch:$old" \
    -- "$remote" "$commit:refs/heads/$branch" || pushed=no
}

remove() {
  local folder
  for folder in "$@"; do
    git_quietly rm -r -q --cached --ignore-unmatch -- "$folder"
  done
}

replace() {
  local file
  remove "$1" ${3:+"$3"}
  for file in "$2"/*; do
    if [ ! -f "$file" ] || [ -L "$file" ]; then continue; fi
    git_quietly update-index --add --cacheinfo \
      "100644,$(git hash-object -w --no-filters -- "$file"),$1/$(basename "$file")"
  done
}

# swap FOLDER FROM FILE WAS: replace, where what is there is what the caller has seen.
swap() {
  local there=''
  [ -z "$old" ] || there=$(git rev-parse -q --verify "$old:$1/$3") || there=''
  if [ "$there" != "$4" ]; then
    echo "branch.sh: $1 on the branch $branch has changed meanwhile" >&2
    exit 1
  fi
  replace "$1" "$2"
}

# update CHANGE...: again if somebody else was faster.
update() {
  local try old
  for try in $(seq $tries); do
    old=$(fetch)
    write "$old" "$@" # not a condition: there every failure inside would be passed over
    [ $pushed = no ] || return 0
    echo "branch.sh: $branch has changed meanwhile, or refuses; try $try of $tries" >&2
    sleep "$((try - 1))"
  done
  fail "cannot write the branch $branch"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
index=$work/index

get() {
  local name there
  there=$(fetch) # alone: not to reach it is something else than its having nothing
  if [ -z "$there" ] || ! git cat-file -e "$kept:$1" 2>/dev/null; then
    echo "branch.sh: no $1 on the branch $branch of $remote" >&2
    exit 77
  fi
  mkdir -p "$2"
  git ls-tree -z --name-only "$kept:$1" | while IFS= read -r -d '' name; do
    # A tree that no git has made may have names that lead elsewhere.
    [[ $name != */* && $name != . && $name != .. ]] || fail "$1 on $branch has a name that is none"
    git cat-file blob "$kept:$1/$name" >"$2/$name"
  done
}

case $action:$# in
  put:[23])
    [ -d "$2" ] || fail "$2 is no folder"
    update replace "$1" "$(realpath "$2")" "${3:-}"
    ;;
  swap:4)
    [ -d "$2" ] || fail "$2 is no folder"
    update swap "$1" "$(realpath "$2")" "$3" "$4"
    ;;
  get:2) get "$1" "$2" ;;
  list:0)
    there=$(fetch)
    [ -z "$there" ] || git ls-tree -r --name-only "$kept" | sed 's#/[^/]*$##' | sort -u
    ;;
  drop:[1-9]*) update remove "$@" ;;
  *) usage_of "$0" >&2; exit 2 ;;
esac
