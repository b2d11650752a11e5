# shellcheck shell=bash
# Files on a branch without history: what comes back is what was put there, and two writers do not
# lose each other's.
# shellcheck source=tests/ci/lib.sh
. "$CLI/../ci/lib.sh"
git init -q --bare remote.git
git init -q here
cd here || exit 1
git remote add origin ../remote.git
git commit -q --allow-empty -m 'Start'
mkdir one two
printf 'a\0b\r\n' >one/binary
echo first >one/text
echo second >two/text
on_branch() { git -C ../remote.git ls-tree -r --name-only kept; }

s branch.sh get kept cpu back
s branch.sh list kept
s branch.sh put kept cpu one
s branch.sh put kept gpu/h200 two
on_branch
s branch.sh list kept
s branch.sh get kept cpu back
check "all of it comes back" diff -r one back
s branch.sh put kept cpu two
on_branch
s branch.sh put kept cpu/new one cpu
on_branch
check "one commit" test "$(git -C ../remote.git rev-list --count kept)" = 1
check "the checkout is as it was" test -z "$(git status --porcelain --untracked-files=no)"

say "Another clone was faster"
git clone -q ../remote.git ../other 2>/dev/null
mkdir ../hooks
cat >../hooks/pre-push <<'HOOK'
#!/bin/sh
exec touch "$HOOK_RAN"
HOOK
chmod +x ../hooks/pre-push
git config core.hooksPath ../hooks
export HOOK_RAN=$WORK/hook.ran
# In between our fetch and our push somebody else pushes: by a git of that name.
mkdir ../bin
cat >../bin/git <<'GIT'
#!/usr/bin/env bash
real=$(PATH=${PATH#*:} command -v git)
if [[ " $* " == *" push "* ]] && [ ! -e "$WORK/raced" ]; then
  touch "$WORK/raced"
  (cd "$WORK/other" && PATH=${PATH#*:} "$CI/branch.sh" put kept raced "$WORK/here/two") >&2
fi
exec "$real" "$@"
GIT
chmod +x ../bin/git
export CI
PATH=$WORK/bin:$PATH s branch.sh put kept late one | grep -v '^2> [^b]' 
on_branch
check "no hook has run" test ! -e "$HOOK_RAN"

say "Only in place of what was seen"
printf 'a\0b\r\n' >one/binary
seen=$(git hash-object --no-filters one/binary)
s branch.sh swap kept seen one binary "$seen"
s branch.sh swap kept seen one binary ''
s branch.sh swap kept seen two binary ''
s branch.sh swap kept seen two binary "$seen"
s branch.sh swap kept seen one binary "$seen"
on_branch | grep seen
s branch.sh drop kept seen

say "What it refuses"
s branch.sh put 'a..b' cpu one
s branch.sh put kept ../up one
s branch.sh put kept -x one
s branch.sh put kept cpu nowhere
s branch.sh drop kept cpu '/'
REMOTE=nowhere s branch.sh get kept cpu back | grep -v '^2> [^b]'
s branch.sh drop kept late raced absent
on_branch
