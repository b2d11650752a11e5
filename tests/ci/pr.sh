# shellcheck shell=bash
# A pull request's measurement from fake events: opened, synchronised, from a fork, closed, with
# hostile titles and branches; and its way into a comment. U-07, U-10, S0-15.
# shellcheck disable=SC2016  # what is quoted is for jq, or meant as it is
# shellcheck source=tests/ci/lib.sh
. "$CLI/../ci/lib.sh"
forge_start
toy_repository
toy_commit seed=3 "Start"
fork=$(git rev-parse HEAD)
toy_commit seed=3,base=2001 "Main goes on"
main=$(git rev-parse HEAD)
branch='$(touch${IFS}run)`touch${IFS}run`'
git checkout -q -b "$branch" "$fork"
toy_commit "slow=1.1,only=4" "Slower"
slower=$(git rev-parse HEAD)
toy_commit "seed=3" "Mended"
mended=$(git rev-parse HEAD)
git checkout -q main

# event ACTION HEAD: as GitHub tells it, with all that a stranger may choose.
event() {
  jq -n --arg action "$1" --arg head "$2" --arg base "$main" --arg ref "$branch" '
    {action: $action, pull_request: {number: 7, title: "$(touch run) `touch run`\n\"; touch run #",
      body: "::set-output name=x::y", base: {sha: $base, ref: "main"},
      head: {sha: $head, ref: $ref, repo: {fork: true, full_name: "mallory/toy"}}}}' >../event.json
}
export GITHUB_EVENT_PATH=$WORK/event.json GITHUB_STEP_SUMMARY=$WORK/summary.md
# pr ARG...: measured with the fake device. Blocks and times are not the same twice.
pr() {
  s pr.sh --output ../out --build-command 'sh build.sh' --device "$FAKE" --seed 1 --batch 3,4 \
    --comment-id cpu "$@" null/copy/right 2>&1 | grep -v '^2> ' |
    sed -e "s/$slower/SLOWER/g; s/$mended/MENDED/g; s/$fork/FORK/g; s/$main/MAIN/g"
}
left() {
  (cd ../out && find . -type f | grep -v -e '/builds/' -e history.db | sort | paste -sd ' ')
  echo "number $(cat ../out/number), status $(cat ../out/status)"
}

say "Opened"
event opened "$slower"
pr
left
check "it names the measured commit" test "$(cat ../out/head)" = "$slower"
check "the base is where it branched off, not where main is now" \
  grep -q "${fork:0:7}" ../out/comment.md
sed -n 1,2p ../out/comment.md
check "main's newest commit was not built" test -z "$(find ../out/builds -maxdepth 1 -name "$main*")"
check "the summary has it, too" cmp -s ../summary.md ../out/comment.md
check "JUnit has the failure" grep -q '<failure' ../out/junit.xml
check "JSON has the same verdict" test "$(json ../out/compare.json exit_status)" = 1

say "From a fork into a comment"
HEAD_SHA=$slower
export HEAD_SHA
forge_set --arg head "$slower" '.pulls["7"] = {open: true, head: $head}'
s comment.sh ../out
say "Synchronised: it is mended, and the comment is the same one"
event synchronize "$mended"
pr
left
HEAD_SHA=$mended
forge_set --arg head "$mended" '.pulls["7"].head = $head'
s comment.sh ../out
forge '.notes | length'
forge '.notes[0].body' | sed -n 1,2p

say "Closed"
event closed "$mended"
pr
say "Nothing new"
event opened "$fork"
pr
say "Too noisy to tell is no failure, or one if that is wanted"
event opened "$slower"
pr --blocks 1 --delta 10% | grep -v '[|=]' | tail -n 2
HARNESS_UNDECIDED=fail pr --blocks 1 --delta 10% | sed -nE 's/^\$ .* (\[[0-9]+\])$/\1/p'

say "Events that are none, and commits that are not there"
echo '{"action": "opened"}' >../event.json
s pr.sh
event opened '--upload-pack=touch run'
s pr.sh
event opened 4444444444444444444444444444444444444444
s pr.sh
unset GITHUB_EVENT_PATH
s pr.sh
s pr.sh --base=x
s pr.sh --base main --number 'x y'
s pr.sh --base main --delta 5
s pr.sh --base main --bench true --fdr 5
s pr.sh --base nowhere
s pr.sh --base main --bench true --suite ci
PICTURES_BRANCH=pictures GITHUB_REPOSITORY='' s pr.sh --base main --number 7 --output ../out

say "A checkout of somebody else, as in a container of a job"
foreign() {
  GIT_TEST_ASSUME_DIFFERENT_OWNER=1 s "$@" 2>&1 |
    grep -o -e '^\$.*' -e 'dubious ownership' -e 'git knows no commit "[a-z]*"'
}
foreign pr.sh --base nowhere
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=Ada
GITHUB_ACTIONS=true foreign pr.sh --base nowhere
GITLAB_CI=true foreign pr.sh --base nowhere
unset GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0

say "GitLab's merge request"
rm -rf ../out
CI_MERGE_REQUEST_IID=7 CI_MERGE_REQUEST_DIFF_BASE_SHA=$fork CI_COMMIT_SHA=$slower pr | tail -n 1
left

say "Nobody's text was run, and the checkout is as it was"
check "nothing was run" test ! -e run -a ! -e ../run -a ! -e ../out/run
git status --short --branch
