# shellcheck shell=bash
# Programs built from commits: what they are made of, what is used again, what is mended, and that
# the user's own checkout stays as it is. U-05, U-06.

toy_repository
toy_commit seed=3 "First"
git tag v1
toy_commit slow=1.1,only=4 "Slower copy of four"
git tag v2
toy_commit "" "Does not build"
git tag v3

# build ARG...: with little noise, and no times in what it says.
build() {
  t compare --build --build-command 'sh build.sh' --device "$FAKE" --seed 1 null/copy/right \
    --batch 3,4 "$@" | sed -E 's/(a side) in [0-9.]+ .?s:/\1 in SPAN:/'
}
count() { wc -l <.harness/builds/builds.count; }

say "Nothing is built where nothing could be decided"
build --baseline v1 --head v2 --fdr 60%
build --baseline v1 --head v2 --metric cpu_mhz
check "nothing is there" not test -e .harness/builds

say "Both sides are built, and measured in turn"
build --baseline v1 --head v2
"$HARNESS" history show 2 >head.json
check "the head's run names its commit" \
  test "$(json head.json runs 0 build commit)" = "$(git rev-parse v2)"
check "two builds" test "$(count)" = 2

say "They are there the next time"
build --baseline v1 --head v2 --blocks 3 >/dev/null
check "still two builds" test "$(count)" = 2

say "Another recipe is another build"
# shellcheck disable=SC2016  # for the shell that builds
t compare --build --build-command 'sh build.sh && mv "$BUILD/harness" "$BUILD/other"' \
  --build-program other --device "$FAKE" --seed 1 null/copy/right --batch 4 \
  --baseline v1 --head v2 >/dev/null
check "four builds" test "$(count)" = 4

say "What an interrupted build has left is mended"
program=$(echo .harness/builds/"$(git rev-parse v1)"-*/build/harness)
first=${program%/build/harness}
rm "$first/built" "$first/src/.git" # half a worktree: git would go up to the user's
build --baseline v1 --head v2 --blocks 3 >/dev/null
check "built again" test "$(count)" = 5
rm -r "$first"
build --baseline v1 --head v2 --blocks 3 >/dev/null
check "built again where the folder vanished" test "$(count)" = 6

say "A build that ended is left alone by who asks for another of its programs"
before=$(count)
t compare --build --build-command 'sh build.sh' --build-program other --device "$FAKE" null/copy/right \
  --baseline v1 --head v2 2>&1 | sed -E 's/-[0-9a-f]{8}/-RECIPE/g'
check "it is still there" test -x "$first/build/harness" -a -e "$first/built" -a "$(count)" = "$before"

say "One that does not build"
build --baseline v1 --head v3 2>&1 | sed -E 's/-[0-9a-f]{8}/-RECIPE/g'
t compare --build --build-command true --device "$FAKE" null/copy/right --baseline v1 2>&1 |
  sed -E 's/-[0-9a-f]{8}/-RECIPE/g'

say "One that builds, and does not run"
# shellcheck disable=SC2016  # for the shell that builds
silent='printf "#!/bin/sh\nexit 3\n" >"$BUILD/harness"; chmod +x "$BUILD/harness"'
t compare --build --build-command "$silent" --device "$FAKE" null/copy/right --baseline v1 2>&1 |
  sed -E 's/-[0-9a-f]{8}/-RECIPE/g'
check "it does not count as built" test "$(find .harness/builds -name built | wc -l)" = 4
cp "$first/build/harness" kept
printf '#!/bin/sh\nexit 4\n' >"$first/build/harness"
build --baseline v1 --head v2 2>&1 | sed -E 's/-[0-9a-f]{8}/-RECIPE/g'
mv kept "$first/build/harness"

say "Another compiler is another build"
before=$(count)
CFLAGS=-O1 build --baseline v1 --head v2 --blocks 3 >/dev/null
check "two more" test "$(count)" = $((before + 2))
printf '#!/bin/sh\necho "a compiler of another version"\n' >other-cc
chmod +x other-cc
CC=$PWD/other-cc build --baseline v1 --head v2 --blocks 3 >/dev/null
check "two more by another one" test "$(count)" = $((before + 4))
echo 'echo "and another"' >>other-cc
CC=$PWD/other-cc build --baseline v1 --head v2 --blocks 3 >/dev/null
check "two more as its version changes" test "$(count)" = $((before + 6))
CC=$PWD/other-cc build --baseline v1 --head v2 --blocks 3 >/dev/null
check "none as it is the same" test "$(count)" = $((before + 6))
rm other-cc

say "Unknown commits, and no repository"
build --baseline v9 --head v2
build --baseline=--help
(
  cd "$WORK" || exit 1
  build --baseline v1
)

say "Inside a hook"
export GIT_DIR=$PWD/.git GIT_INDEX_FILE=$PWD/.git/index-of-a-hook
build --baseline v1 --head v2 --blocks 3 >/dev/null 2>"$WORK.log/hook"
rm -rf "$first"
build --baseline v1 --head v2 --blocks 3 >/dev/null
unset GIT_DIR GIT_INDEX_FILE
check "built" test "$(count)" = $((before + 7))

say "Two at once"
rm -rf .harness/builds
for i in 1 2; do
  HARNESS_DB=$PWD/.harness/$i.db "$HARNESS" compare --build --build-command 'sleep 0.2; sh build.sh' \
    --device "$FAKE" null/copy/right --batch 4 --baseline v1 --head v2 >"two.$i" 2>&1 &
done
wait
check "one waits, and finds them built" test "$(count)" = 2
grep -hc ' regressed ' two.1 two.2
rm two.1 two.2 head.json

say "The checkout is as it was"
git status --short --branch
git branch
git worktree list | wc -l
check "the repository is sound" git fsck

say "A clone without the files of its commits"
(
  git config uploadpack.allowFilter true
  cd "$WORK" && git clone -q --filter=blob:none --no-checkout "file://$OLDPWD" parts && cd parts || exit 1
  build --baseline v1 --head v2 --blocks 3 >/dev/null
  check "what a build needs is fetched" test "$(count)" = 2
)

say "A repository of SHA-256"
(
  cd "$WORK" && mkdir long && cd long || exit 1
  export GIT_DEFAULT_HASH=sha256
  toy_repository
  toy_commit seed=3 "First"
  toy_commit slow=1.1,only=4 "Slower copy of four"
  quiet compare --build --build-command 'sh build.sh' --device "$FAKE" --seed 1 null/copy/right \
    --batch 1 --blocks 3 --baseline HEAD~1 --no-record
  "$HARNESS" history show 2 >head.json
  check "the whole hash is kept" \
    test "$(json head.json runs 0 build commit)" = "$(git rev-parse HEAD)"
  git rev-parse HEAD | tr -d '\n' | wc -c
)
