# shellcheck shell=bash
# Builds of commits where the checkout is a sparse one, or the commit has submodules: they work, or
# say what lacks and what to do. U-05, U-06.
# shellcheck disable=SC2016  # what is quoted is for the shell that builds

git_version=$(git version | grep -oE '[0-9]+\.[0-9]+' | head -n 1)
[ "$(printf '%s\n' 2.36 "$git_version" | sort -V | head -n 1)" = 2.36 ] ||
  skip "git $git_version makes no sparse worktrees, 2.36 does"

# build COMMAND BASE HEAD: what it says of verdicts and of what lacks, without times and places.
build() {
  local status=0
  "$HARNESS" compare --build --build-command "$1" --device "$FAKE" --seed 1 --blocks 3 null/copy/right \
    --batch 4 --baseline "$2" --head "$3" >"$WORK.log/out" 2>"$WORK.log/err" || status=$?
  grep -hoE '^(The commit has|Your checkout is|It keeps) .*|.*No such file.*|^(no )?verdict.*' \
    "$WORK.log/out" "$WORK.log/err" | sort -u
  echo "[$status]"
}
measured() { "$HARNESS" history list 2>/dev/null | grep -c ' OK' || true; }
builds() { find .harness/builds -name built | wc -l; }
trees() { git worktree list | wc -l; }
state() { git status --porcelain && git rev-parse HEAD && git branch -a && git ls-files -t | sort; }

say "A checkout that is sparse: a build has what it has"
toy_repository
mkdir parts other
echo 'sh parts/more.sh' >>build.sh
echo ':' >parts/more.sh
echo 'heavy' >other/data
git add .
toy_commit seed=3 "First"
git tag v1
toy_commit slow=1.1,only=4 "Slower copy of four"
git tag v2
git sparse-checkout set --cone parts
state >"$WORK.log/before"
build 'sh build.sh' v1 v2
check "both were measured" test "$(measured)" = 2
check "neither has more" test "$(find .harness/builds -name data | wc -l)" = 0
say "Bisecting it"
toy_commit slow=1.1,only=4,base=2001 "Another"
t bisect --build-command 'sh build.sh' --device "$FAKE" --seed 1 null/copy/right --batch 4 \
  --good v1 --bad main --json -o found.json 2>/dev/null | head -n 1
json found.json culprit title
rm found.json
git reset -q --hard v2
state >"$WORK.log/after"
check "the checkout is as it was" cmp "$WORK.log/before" "$WORK.log/after"

say "One that lacks what the build needs"
build 'cat other/data && sh build.sh' v1 v2
"$HARNESS" gate --base v1 --head v2 --bench true --build-command 'cat other/data' --db gate.db 2>&1 |
  grep -o 'checkout is a sparse one' | sort -u
git sparse-checkout add other
build 'cat other/data && sh build.sh' v1 v2
check "with it both are built" test "$(find .harness/builds -name data | wc -l)" = 2

say "One without it, whose build fails for another reason"
git sparse-checkout disable
build 'sh nothing.sh' v1 v2

say "Files behind a filter that the user has configured, as git-lfs is: both sides get what it makes"
git config --file "$WORK.log/gitconfig" filter.lfs.clean 'sed s/content/pointer/'
git config --file "$WORK.log/gitconfig" filter.lfs.smudge 'sed s/pointer/content/'
git config --file "$WORK.log/gitconfig" filter.lfs.required true
cd ..
rm -rf toy
toy_repository
export GIT_CONFIG_GLOBAL=$WORK.log/gitconfig
echo 'weights filter=lfs' >.gitattributes
echo 'grep -q ^content weights || exit 1' >>build.sh
for n in 1 2; do
  echo "content $n" >weights
  git add .
  toy_commit seed=$n "Weights $n"
  git tag v$n
  git show v$n:weights
done
build 'sh build.sh' v1 v2
check "both were measured" test "$(measured)" = 2
find .harness/builds -name weights -exec cat {} + | sort
rm -r .harness
export GIT_CONFIG_GLOBAL=/dev/null
git checkout -q -f v2
build 'sh build.sh' v1 v2
check "without it none is" test "$(measured)" = 0

say "Submodules"
cd ..
for name in inner outer; do
  git -c init.defaultBranch=main init -q $name
  echo "$name" >$name/file
  git -C $name add file
  git -C $name commit -q -m "$name"
done
allow='git -c protocol.file.allow=always'
$allow -C outer submodule --quiet add "$WORK/inner" inner
git -C outer commit -q -m 'With another in it'
rm -rf toy
toy_repository
$allow submodule --quiet add "$WORK/outer" lib
echo '[ "$(cat lib/inner/file)" = inner ] || exit 1' >>build.sh
git add .
toy_commit seed=3 "First"
git tag v1
toy_commit slow=1.1,only=4 "Slower copy of four"
git tag v2
build 'sh build.sh' v1 v2
fetch="$allow submodule --quiet update --init --recursive && sh build.sh"
build "$fetch" v1 v2
check "both were measured" test "$(measured)" = 2
check "both are built" test "$(builds)" = 2

say "Again, where a build was interrupted"
rm .harness/builds/*/built
build "$fetch" v1 v2
check "both are built" test "$(builds)" = 2
check "git knows of them, of the one that failed, and of the checkout" test "$(trees)" = 4
check "the submodule of the checkout is its own" test -e lib/.git -a ! -e lib/inner/file

say "The checkout is a submodule of another project"
cd ..
git -c init.defaultBranch=main init -q above
$allow -C above submodule --quiet add "$WORK/toy" toy
cd above/toy || exit 1
build "$fetch" v1 v2
check "both were measured" test "$(measured)" = 2
