# shellcheck shell=bash
# A pull request's measurement beside the past that ci/nightly.sh keeps on its branch: the comment
# has the trend of what changed, and its picture. U-07, U-10, U-11.
# shellcheck disable=SC2016  # what is quoted is for other shells
# shellcheck source=tests/ci/lib.sh
. "$CLI/../ci/lib.sh"
need_tools jq
git init -q --bare remote.git
toy_repository
git remote add origin ../remote.git
cat >bench.sh <<'BENCH'
nr=$(date +%N) # no two of the same content
printf '{"context": {}, "benchmarks": [
  {"name": "sort", "run_type": "iteration", "iterations": 9, "real_time": %d.%s, "time_unit": "ns"},
  {"name": "copy", "run_type": "iteration", "iterations": 9, "real_time": %d.%s, "time_unit": "ns"}]}\n' \
  "$(cat cost)" "$nr" 50000 "$nr" >"$OUT"
BENCH
echo 100000 >cost
git add bench.sh cost
toy_commit seed=3 "Start"
fork=$(git rev-parse HEAD)
git checkout -q -b change
echo 110000 >cost
git add cost
toy_commit "slow=1.1,only=4" "Slower"
git checkout -q main

# keep DB: on the branch, where a night leaves its history.
keep() {
  rm -rf ../kept
  mkdir ../kept
  gzip -nc "$1" >../kept/history.db.gz
  "$CI/branch.sh" put history box ../kept
}
# pr OUT ARG...: the change measured beside what is kept; the verdict, and what is said of the history.
pr() {
  local out=$1
  shift
  s pr.sh --base "$fork" --head change --output "../$out" --history history/box --comment-id cpu \
    --image-base https://example.org/raw "$@" 2>&1 |
    sed -nE -e '/^(2> (pr|branch)\.sh|gate:)/p' -e 's/^\$ .* (\[[0-9]+\])$/\1/p'
}

say "Twelve nights of harness's own kernels"
for night in $(seq 12); do
  fake "seed=$night,sd=0.004" --launches 1 --batch 3,4 --db ../own.db
done
keep ../own.db
pr own --build-command 'sh build.sh' --device "$FAKE" --seed 1 --batch 3,4 null/copy/right
check "the trend has the nights and the head" grep -q '^!.*over 13 runs;' ../own/comment.md
check "nothing differs but what was meant to" not grep -q '^Mind that' ../own/comment.md

say "Twelve nights of a project's own program"
for night in $(seq -w 12); do
  result=../1$night.json
  OUT=$result sh bench.sh
  quiet import "$result" --label nightly --machine this --date "2026-01-$night" --db ../nights.db
done
keep ../nights.db
bench=(--bench 'sh "$SOURCE/bench.sh"' --build-command true --blocks 3)
pr program "${bench[@]}" --blocks 3
check "the trend has the nights and the head" grep -q '^!.*over 13 runs;' ../program/comment.md

say "No such folder, no such branch, a history that is damaged: the same verdict without that past"
pr folder "${bench[@]}" --history history/other
pr branch "${bench[@]}" --history nowhere/box
head -c 5000 /dev/urandom >../random
keep ../random
pr database "${bench[@]}"
cp ../random ../kept/history.db.gz
"$CI/branch.sh" put history box ../kept
pr damaged "${bench[@]}"
for out in folder branch database damaged; do
  check "$out: a comment, and no past in its chart" \
    sh -c "grep -q '1 slower of 2' ../$out/comment.md && ! grep -q 'oldest first' ../$out/comment.md"
done

say "Measured anew where a run was killed: its history goes with all that lies beside it"
"$HARNESS" run null/copy/right --device "$FAKE" --launches 1000 --batch 3,4 --db ../own/history.db >/dev/null 2>&1 &
pid=$!
check "its log holds the run" wait_for sh -c '"$HARNESS" history list --db ../own/history.db | grep -q unfinished'
disown $pid
kill -KILL $pid
mkdir ../lone
cp ../own/history.db-wal ../lone/h.db-wal
rm ../own/history.db # as if pr.sh was killed between the one and the other
keep ../own.db
pr own --build-command 'sh build.sh' --device "$FAKE" --seed 1 --batch 3,4 null/copy/right
check "it is sound" quiet history verify --db ../own/history.db
check "and nothing was put aside" test -z "$(find ../own -name 'history.db.left-*')"

say "A log without its file where somebody names one: it may be all that is left, and is not removed"
cp ../random ../kept/history.db.gz
"$CI/branch.sh" put history box ../kept
pr log "${bench[@]}" --db ../lone/h.db
check "it is kept aside" test -n "$(find ../lone -name 'h.db.left-*-wal')"

say "The trend as a picture"
if ! command -v gnuplot >/dev/null; then
  # shellcheck disable=SC2154  # of lib.sh
  [ "$checks" = "$checks_held" ] || exit 1
  skip "there is no gnuplot here, so no pictures; all before them held"
fi
for out in own program; do
  (cd ../$out && find pictures -name 'trend-*.png')
  grep -o '^!\[Latency of .*' ../$out/comment.md
  check "it is a PNG" test "$(head -c 4 ../$out/pictures/trend-*.png | tail -c 3)" = PNG
done
