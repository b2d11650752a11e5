# shellcheck shell=bash
# The gate as an adopter's job runs it: a package that is unpacked, the script that the action and the
# component call, on a project of its own; and a comment that has nothing to say. U-07, U-10.
# shellcheck disable=SC2016  # what is quoted is for other shells
# shellcheck source=tests/ci/lib.sh
. "$CLI/../ci/lib.sh"
need_tools jq git
export GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z'

git -c init.defaultBranch=main init -q project
cd project || exit 1
cat >bench.sh <<'END'
printf '[{"name": "sort", "unit": "ns", "value": 1}]' >/dev/null
printf '{"benchmarks": [{"name": "BM_sort", "run_type": "iteration", "iterations": 9, "real_time": %s,
  "time_unit": "us"}]}' "$(cat cost)" >"$OUT"
END
echo 100 >cost
git add .
git commit -q -m 'Start'
git checkout -q -b change
echo 130 >cost
git commit -q -a -m 'Slower'

say "A package that is unpacked"
mkdir -p ../stage/harness/bin
ln -s "$HARNESS" ../stage/harness/bin/harness
tar -czf ../harness.tar.gz -C ../stage harness
GITHUB_PATH=$WORK/path s package.sh ../harness.tar.gz ../tools | head -n 1
check "later steps find it" test "$(cat ../path)" = "$WORK/tools/bin"
s package.sh ../nowhere.deb ../tools
s package.sh http://example.org/harness.deb ../tools
s package.sh cost ../tools

say "The action's command"
export BENCH='sort: sh "$SOURCE/bench.sh"' OPTIONS='--delta 10% --seed 1 --base main' OUTPUT=../out
s gate.sh 2>/dev/null | sed -nE '1p; /^(▲|gate)/p'
(cd ../out && find . -maxdepth 1 -type f ! -name 'history*' | LC_ALL=C sort | paste -sd ' ')
BENCH=$'\n  \n' s gate.sh
OPTIONS='$(touch run) `touch run` --base main' s gate.sh 2>&1 | tail -n 1
OPTIONS='' BENCH=$'a: sh bench.sh\nb: sh bench.sh' s gate.sh 2>/dev/null | grep -c '^▲'
check "nothing of it was run" test ! -e run

say "Nothing to say: no comment is posted, but one that is there is updated"
forge_start
head=$(git rev-parse HEAD)
export HEAD_SHA=$head
forge_set --arg head "$head" '.pulls["7"] = {open: true, head: $head}'
OPTIONS='--base main --delta 50% --quiet --number 7' s gate.sh | grep '^gate:'
s comment.sh ../out
OPTIONS='--base main --quiet --number 7' s gate.sh | grep '^gate:'
s comment.sh ../out
OPTIONS='--base main --delta 50% --quiet --number 7' s gate.sh | grep '^gate:'
s comment.sh ../out
forge '.notes | length'
forge '.notes[0].body' | sed -n 2p
