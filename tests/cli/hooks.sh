# shellcheck shell=bash
# Checking out a commit to build it runs nothing of that commit: hooks that it brings along, hooks
# of the user's checkout, filters, submodules, file watchers. U-05.
# shellcheck disable=SC2016  # what is quoted is for other shells and for git

toy_repository
export TRAP=$WORK/sprung
mkdir githooks
for hook in post-checkout post-merge post-commit pre-commit post-index-change post-rewrite \
  reference-transaction pre-auto-gc fsmonitor-watchman update; do
  printf '#!/bin/sh\necho "%s in $PWD" >>"$TRAP"\n' "$hook" >githooks/$hook
done
printf '#!/bin/sh\necho "filter %%s" >>"$TRAP"\ncat\n' >filter.sh
printf '#!/bin/sh\necho "fsmonitor" >>"$TRAP"\nprintf "%%s\\0" /\n' >fsmonitor.sh
chmod +x githooks/* filter.sh fsmonitor.sh
# A configuration that comes with the commit is none, whatever its name.
printf '[core]\n\thooksPath = githooks\n\tfsmonitor = ./fsmonitor.sh\n[filter "mine"]\n\tsmudge = ./filter.sh\n' \
  >.gitconfig
printf '* filter=mine diff=mine merge=mine\n' >.gitattributes
git init -q --bare "$WORK/inner.git"
printf '[submodule "inner"]\n\tpath = inner\n\turl = %s\n\tupdate = !touch "$TRAP"\n' "$WORK/inner.git" \
  >.gitmodules
git add -A
git -c protocol.file.allow=always update-index --add --cacheinfo \
  160000,1111111111111111111111111111111111111111,inner
toy_commit seed=3 "First"
toy_commit slow=1.1,only=4 "Second"

build() {
  rm -rf .harness/builds "$TRAP"
  git worktree prune
  "$HARNESS" compare --build --build-command 'sh build.sh' --device "$FAKE" --seed 1 null/copy/right \
    --batch 4 --blocks 3 --baseline HEAD~1 --head HEAD 2>/dev/null | grep -o '[0-9][0-9]* regressed'
  echo "builds: $(find .harness/builds -name built | wc -l)"
  if [ -e "$TRAP" ]; then sort "$TRAP" | uniq -c; else echo "nothing was run"; fi
}

say "What the commit brings along"
build

say "Hooks of the checkout itself"
cp githooks/* .git/hooks/
build
rm .git/hooks/*

say "A relative path of hooks in the configuration, which leads into the commit's own tree"
git config core.hooksPath githooks
build
check "git itself would have run them" \
  sh -c 'git checkout -q HEAD~1 && git checkout -q main && test -s "$TRAP"'

say "The same of a file watcher"
git config --unset core.hooksPath
git config core.fsmonitor ./fsmonitor.sh
build
rm -f "$TRAP"
git status >/dev/null 2>&1
check "git itself would have run it" test -s "$TRAP"
git config --unset core.fsmonitor

say "Submodules that are updated with every checkout"
git config submodule.recurse true
git config submodule.inner.active true
build
git config --unset submodule.recurse
knock_checks "hooks in a commit that is built" "none is run"
