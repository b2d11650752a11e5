# shellcheck shell=bash
# The same as cli.hooks of the gate's other way to build: ci/pr.sh with a program of one's own, which
# `harness gate` builds and measures, beside a history that is kept on a branch. U-05, U-10.
# shellcheck disable=SC2016  # what is quoted is for other shells
# shellcheck source=tests/ci/lib.sh
. "$CLI/../ci/lib.sh"
# shellcheck source=tests/cli/traps.sh
. "$CLI/traps.sh"
need_tools jq
git init -q --bare remote.git
trapped_repository
git remote add origin ../remote.git
fake seed=1 --launches 1 --batch 4 --db ../night.db
mkdir ../kept
gzip -nc ../night.db >../kept/history.db.gz

bench='printf "{\"benchmarks\": [{\"name\": \"sort\", \"run_type\": \"iteration\",
  \"iterations\": 9, \"real_time\": 100, \"time_unit\": \"ns\"}]}" >"$OUT"'
gate() {
  rm -rf ../out # what is built already is not checked out again
  "$CI/branch.sh" put history box ../kept
  "$CI/pr.sh" --base HEAD~1 --head HEAD --output ../out --history history/box --blocks 3 \
    --bench "$bench" --build-command 'ls -d githooks/* >../ls' 2>/dev/null | tail -n 1
  echo "hooks built with: $(cat ../out/builds/*/ls | wc -l), worktrees left: $(git worktree list | wc -l)," \
    "runs in the history: $("$HARNESS" history list --db ../out/history.db | grep -c OK)"
}
each_trap gate
knock_checks "hooks in a commit that the gate builds" "nothing is run but a filter of the user's"
