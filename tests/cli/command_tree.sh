# shellcheck shell=bash
# What is measured of a user's own stands in the history with the state of the user's own work tree:
# commit, branch, uncommitted changes. Nothing of that tree is run to find out. U-11.
# shellcheck disable=SC2016  # what is quoted is for other shells and for git

unset GITHUB_SHA GITHUB_REF_NAME GITHUB_REF_TYPE CI_COMMIT_SHA CI_COMMIT_BRANCH CI_MERGE_REQUEST_REF_PATH
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_CEILING_DIRECTORIES=$WORK # whatever that lies in
export GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=ada@example.org
export GIT_COMMITTER_NAME=Ada GIT_COMMITTER_EMAIL=ada@example.org
quiet version --json
own=$(json "$WORK.log/out" commit 2>/dev/null || true)

# state: what a run in this folder, with these variables, says of itself.
state() {
  env "$@" "$HARNESS" run --db "$WORK/history.db" --iterations 3 --launches 1 --json -- true \
    >"$WORK.log/run.json" 2>"$WORK.log/err" || cat "$WORK.log/err"
  local hash branch dirty
  hash=$(json "$WORK.log/run.json" runs 0 build commit 2>/dev/null || true)
  branch=$(json "$WORK.log/run.json" runs 0 build branch 2>/dev/null || true)
  dirty=$(json "$WORK.log/run.json" runs 0 build dirty)
  if [ -n "$hash" ] && [ "$hash" = "$(git rev-parse HEAD)" ]; then hash=HEAD; fi
  echo "commit ${hash:-unknown}, branch ${branch:-unknown}, dirty $dirty"
}

say "No repository"
state
check "the commit of harness is there, too" \
  test "$(json "$WORK.log/run.json" runs 0 settings harness commit 2>/dev/null || true)" = "$own"

say "A repository"
git -c init.defaultBranch=topic init -q tree
cd tree || exit 1
echo "before the first commit: $(state)"
echo one >file
printf '* filter=mine\n' >.gitattributes
git add .
git commit -q -m First
state
check "the commit is a REF" "$HARNESS" history show "$(git rev-parse --short=9 HEAD)" --db "$WORK/history.db"
check "the branch is a REF" "$HARNESS" history show topic --db "$WORK/history.db"
mkdir folder
echo "in a folder of it: $(cd folder && state)"
echo "inside .git: $(cd .git && state)"
touch other
echo "a file that git does not know: $(state)"
echo two >>file
echo "a change: $(state)"
git checkout -q file
echo "variables that lead elsewhere: $(state GIT_DIR=/nowhere GIT_WORK_TREE=/nowhere)"

say "A commit without a branch"
git checkout -q --detach
commit=$(git rev-parse HEAD)
state
echo "GitHub: $(state GITHUB_SHA="$commit" GITHUB_REF_TYPE=branch GITHUB_REF_NAME=12/merge)"
echo "GitHub, another commit: $(state GITHUB_SHA=0123 GITHUB_REF_TYPE=branch GITHUB_REF_NAME=main)"
echo "GitHub, a tag: $(state GITHUB_SHA="$commit" GITHUB_REF_TYPE=tag GITHUB_REF_NAME=v1)"
echo "GitLab: $(state CI_COMMIT_SHA="$commit" CI_COMMIT_BRANCH=main)"
echo "GitLab, a merge request: $(state CI_COMMIT_SHA="$commit" CI_MERGE_REQUEST_REF_PATH=refs/merge-requests/3/head)"
git checkout -q topic

say "A git that does not say it"
mkdir "$WORK/refuses"
printf '#!/bin/sh\necho "fatal: detected dubious ownership in repository" >&2\nexit 128\n' >"$WORK/refuses/git"
chmod +x "$WORK/refuses/git"
state PATH="$WORK/refuses:$PATH"
grep 'which commit' "$WORK.log/err" || true
cd "$WORK" || exit 1
state PATH="$WORK/refuses:$PATH"
check "outside of a repository nothing is told" not grep 'which commit' "$WORK.log/err"
cd tree || exit 1

say "A hostile configuration"
# shellcheck disable=SC2034  # of lib.sh: what is counted from here on
checks=0 checks_held=0
export TRAP=$WORK/sprung
printf '#!/bin/sh\necho "$0" >>"$TRAP"\ncat\n' >.git/trap
chmod +x .git/trap
mkdir .git/traps
for hook in post-index-change fsmonitor-watchman reference-transaction post-checkout; do
  cp .git/trap .git/traps/$hook
done
git config core.hooksPath .git/traps
git config core.fsmonitor .git/trap
touch -d '2001-01-01' file # its content is to be looked at
state
check "no hook and no watcher is run" test ! -e "$TRAP"
git config filter.mine.clean .git/trap
echo "a filter of its own: $(state)"
check "nor the filter" test ! -e "$TRAP"
git status >/dev/null 2>&1
check "git itself would have run them" test -s "$TRAP"
rm "$TRAP"

# A clone that lacks what its configuration says where to get: by a program.
git config --unset core.fsmonitor
git config --unset core.hooksPath
git config --unset filter.mine.clean
printf '#!/bin/sh\necho "$0" >>"$TRAP"\n' >.git/source
chmod +x .git/source
git config core.repositoryFormatVersion 1
git config extensions.partialClone origin
git config remote.origin.url "ext::$PWD/.git/source"
git config remote.origin.promisor true
git config protocol.ext.allow always
object=.git/objects/$(git rev-parse 'HEAD^{tree}' | sed 's|^..|&/|')
mv "$object" "$WORK/object"
echo "a partial clone: $(state)"
check "nothing is fetched" test ! -e "$TRAP"
git status >/dev/null 2>&1
check "git itself would have fetched" test -s "$TRAP"
mv "$WORK/object" "$object"
knock_checks "hostile configuration of the tree that is measured" "none of it is run"
