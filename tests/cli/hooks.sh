# shellcheck shell=bash
# Checking out a commit to build it runs nothing of that commit by what its own files say: hooks that
# it brings along, filters that its .gitattributes name, submodules, a configuration; nor hooks and
# file watchers of the user's checkout, wherever these lead. A filter that the user configured does
# run, and if its path is a relative one, a file of the commit. U-05.
# shellcheck source=tests/cli/traps.sh
. "$CLI/traps.sh"
trapped_repository

build() {
  rm -rf .harness/builds
  git worktree prune
  "$HARNESS" compare --build --build-command 'sh build.sh' --device "$FAKE" --seed 1 null/copy/right \
    --batch 4 --blocks 3 --baseline HEAD~1 --head HEAD 2>/dev/null | grep -o '[0-9][0-9]* regressed'
  echo "builds: $(find .harness/builds -name built | wc -l)"
}
each_trap build
knock_checks "hooks in a commit that is built" "nothing is run but a filter of the user's"
