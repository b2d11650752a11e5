# shellcheck shell=bash
# Whatever git might run of a commit or for it, as traps. Sourced by tests, after lib.sh.
# shellcheck disable=SC2016  # what is quoted is for other shells

# A git repository in ./toy with two commits that bring along whatever git might run: all that is run
# writes its name into the file $TRAP. githooks/ is for a configuration that leads there.
trapped_repository() {
  local hook
  toy_repository
  export TRAP=$WORK/sprung
  mkdir githooks
  for hook in post-checkout post-merge post-commit pre-commit post-index-change post-rewrite \
    reference-transaction pre-auto-gc fsmonitor-watchman update pre-push; do
    printf '#!/bin/sh\necho "%s in $PWD" >>"$TRAP"\n' "$hook" >githooks/$hook
  done
  printf '#!/bin/sh\necho "filter" >>"$TRAP"\ncat\n' >filter.sh
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
}

# sprung: says what was run, and forgets it.
sprung() {
  if [ -e "$TRAP" ]; then sort "$TRAP" | uniq -c; fi
  check "nothing was run" test ! -e "$TRAP"
  rm -f "$TRAP"
}

# each_trap COMMAND...: runs it, and says what else was run, for each way to make git run something.
each_trap() {
  say "What the commit brings along"
  "$@"
  sprung

  say "Hooks of the checkout itself"
  cp githooks/* .git/hooks/
  "$@"
  rm .git/hooks/*
  sprung

  say "A relative path of hooks in the configuration, which leads into the commit's own tree"
  git config core.hooksPath githooks
  "$@"
  sprung
  check "git itself would have run them" \
    sh -c 'git checkout -q HEAD~1 && git checkout -q main && test -s "$TRAP"'
  git config --unset core.hooksPath

  say "The same of a file watcher"
  git config core.fsmonitor ./fsmonitor.sh
  rm -f "$TRAP"
  "$@"
  sprung
  git status >/dev/null 2>&1
  check "git itself would have run it" test -s "$TRAP"
  git config --unset core.fsmonitor

  say "Submodules that are updated with every checkout"
  git config submodule.recurse true
  git config submodule.inner.active true
  rm -f "$TRAP"
  "$@"
  sprung
  git config --unset submodule.recurse

  say "A filter that the user configured runs, as it does with git itself: git-lfs is one"
  git config filter.mine.smudge ./filter.sh
  "$@"
  check "it alone was run" test "$(sort -u "$TRAP")" = filter
  git config --unset filter.mine.smudge
}
