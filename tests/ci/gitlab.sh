# shellcheck shell=bash
# The jobs of ci/gitlab, each as its runner calls it, with what GitLab sets: a night into its branch,
# a merge request measured with the trends of that, its comment with pictures, and those taken away.
# Only harness itself is not built anew, and no git goes to a network. U-07, U-10, U-11.
# shellcheck disable=SC2016  # what is quoted is for jq, or another shell
# shellcheck source=tests/ci/lib.sh
. "$CLI/../ci/lib.sh"
need_tools python3 jq curl gzip gnuplot
python3 -c 'import yaml' 2>/dev/null || skip "python3 has no module yaml here"
forge_start
unset GITHUB_REPOSITORY GITHUB_TOKEN GITHUB_API_URL

# Harness as HARNESS_URL has it, whose build is this program.
mkdir -p harness/ci
cp -r "$CI"/*.sh harness/ci/
cat >harness/ci/install.sh <<'END'
#!/bin/sh
mkdir -p "$1/bin" "$1/share/harness"
cp -r "$(dirname "$0")" "$1/share/harness/"
ln -s "$HARNESS_BUILT" "$1/bin/harness"
END
git -c init.defaultBranch=main init -q harness
git -C harness add .
git -C harness commit -q -m 'Harness'

# A project with a benchmark of its own: three numbers, a little noise.
git init -q --bare remote.git
git -c init.defaultBranch=main init -q toy
cd toy || exit 1
cat >bench.sh <<'END'
echo x >>"$COUNT"
awk -v n="$(wc -l <"$COUNT")" -v slow="$(cat slow)" 'BEGIN {
  printf "{\"context\":{\"num_cpus\":2},\"benchmarks\":["
  for (i = 1; i <= 3; i++)
    printf "%s{\"name\":\"BM_%d\",\"run_type\":\"iteration\",\"iterations\":1000,\"real_time\":%.6f," \
      "\"cpu_time\":1,\"time_unit\":\"us\"}", (i > 1 ? "," : ""), i,
      20 * i * (1 + 0.0001 * ((n * 37 + i * 11) % 101)) * (i == 2 ? slow : 1)
  print "]}" }' >"$OUT"
END
echo 1 >slow
git add .
git commit -q -m 'Start'
base=$(git rev-parse HEAD)
git checkout -q -b change
echo 1.4 >slow
git commit -q -a -m 'Slower'
head=$(git rev-parse HEAD)
git checkout -q main
git remote add origin ../remote.git
git remote set-url --push origin ../read-only.git # a job's own token

export HARNESS_BUILT=$HARNESS COUNT=$WORK/count HARNESS_URL=file://$WORK/harness
unset HARNESS # it is to be found in the installation
export HARNESS_BENCH='sh "$SOURCE/bench.sh"' HARNESS_BENCH_BUILD=true
export GITLAB_CI=true CI_PROJECT_ID=5 CI_PROJECT_PATH=ada/toy CI_SERVER_HOST=gitlab.example
export CI_PROJECT_URL=https://gitlab.example/ada/toy CI_PROJECT_DIR=$WORK/toy
export HARNESS_GITLAB_TOKEN=token-of-the-test
# Where the token may write.
export GIT_CONFIG_GLOBAL=$WORK/gitconfig
git config --global "url.$WORK/remote.git.insteadOf" \
  "https://oauth2:$HARNESS_GITLAB_TOKEN@gitlab.example/ada/toy.git"

# job NAME: as its runner runs it.
job() {
  local status=0
  python3 "$HERE/gitlab_job.py" "$1" >"$WORK/job.sh"
  bash "$WORK/job.sh" >"$WORK/said" 2>&1 || status=$?
  echo "job $1: $status"
}
on_branch() { git -C ../remote.git ls-tree -r --name-only "$1" | sed "s/${head:0:12}/HEAD/; s/-[0-9a-f]*\.png/-HASH.png/"; }

say "Nights"
for _ in 1 2 3; do
  export CI_COMMIT_SHA=$base CI_COMMIT_BRANCH=main
  job harness:nightly
done
on_branch harness-history
unset CI_COMMIT_BRANCH
find harness-nightly -mindepth 1 -maxdepth 1 -printf '%f\n' | LC_ALL=C sort | paste -sd ' '

say "A merge request"
export CI_MERGE_REQUEST_IID=7 CI_MERGE_REQUEST_DIFF_BASE_SHA=$base CI_COMMIT_SHA=$head
export CI_MERGE_REQUEST_SOURCE_BRANCH_SHA=
git checkout -q --detach "$head"
job harness:compare
grep '^gate: ' "$WORK/said"
check "JUnit is where the report is taken from" grep -q '<failure' harness-pr/junit.xml

say "Its comment"
forge_set --arg head "$head" '.pulls["7"] = {open: true, head: $head}'
job harness:comment
cat "$WORK/said"
on_branch harness-pictures
forge '.notes[0].body' | grep -o '(https://gitlab.example/[^)]*)' |
  sed -E 's#/commit/[0-9a-f]{40}#/commit/HASH#' | sed "s/${head:0:12}/HEAD/; s/-[0-9a-f]*\.png/-HASH.png/"

say "Pictures of a merge request that is open stay, and those of one that is closed go"
job harness:prune
cat "$WORK/said"
forge_set '.pulls["7"].open = false'
job harness:prune
cat "$WORK/said"
on_branch harness-pictures

say "The token stays nowhere"
check "git's configuration has none" test -z "$(grep -l token-of-the-test .git/config)"
check "what the jobs leave behind has none" \
  test -z "$(grep -rl token-of-the-test harness-pr harness-nightly ../toy.harness)"
