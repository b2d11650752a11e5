# shellcheck shell=bash
# A pull request's gate for projects of any kind: results of each form, what is decided leaves, what a
# change cannot reach is left out, what is left behind for a forge; the search for the commit; and each
# command that a comment prints, carried out. U-05, U-07, U-10.
# shellcheck disable=SC2016  # what is quoted is for other shells
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=ada@example.org
export GIT_COMMITTER_NAME=Ada GIT_COMMITTER_EMAIL=ada@example.org
export GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z'
unset GITHUB_EVENT_PATH CI_MERGE_REQUEST_IID HARNESS_DB

# A program that tells times of Google Benchmark: no machine's state is in them. Each call leaves a
# line in calls, with what it was asked for.
git -c init.defaultBranch=main init -q project
cd project || exit 1
cat >bench.sh <<'END'
echo "$BENCHMARK_FILTER" >>"$CALLS"
nr=$(wc -l <"$CALLS") # noise by the number of the call, so that it is known
row() {
  case $asked in *"$1"*) ;; *) return ;; esac
  printf '%s{"name":"%s","run_name":"%s","run_type":"iteration","iterations":9,"real_time":%s,"cpu_time":1,"time_unit":"us"}' \
    "$comma" "$1" "$1" "$2"
  comma=,
}
result() {
  read -r sort <sort
  asked=$(printf '%s\n' BM_sort/8 BM_copy BM_noisy | grep -E "${BENCHMARK_FILTER:-.}")
  echo '{"context":{"num_cpus":4},"benchmarks":['
  row BM_sort/8 $((sort + nr * 7 % 4))
  row BM_copy $((5000 + nr * 5 % 4))
  row BM_noisy $((5000 + nr * 3 % 7 * 300))
  echo ']}'
}
END
printf '. "$SOURCE/bench.sh"\nresult >"$BENCHMARK_OUT"\n' >file.sh
printf '. "$SOURCE/bench.sh"\nresult\n' >said.sh
printf 'BENCHMARK(BM_copy);\nBENCHMARK(BM_sort)->Arg(8);\n' >bench.cc
echo 1000 >"sort"
git add .
git commit -q -m 'Start'
git tag fork
echo x >main.txt
git add .
git commit -q -m 'Main goes on'
git checkout -q -b change fork
git commit -q --allow-empty -m 'Nothing yet'
echo 1300 >"sort"
git commit -q -a -m 'Slower'
git tag slower
git commit -q --allow-empty -m 'Nothing more'
export CALLS=$WORK.log/calls

# gate ARG...: in the same order each time.
gate() {
  : >"$CALLS"
  t gate "$@" --seed 1 | sed -E 's/ in [0-9.]+ [mµn]?s:/ in SPAN:/'
}
calls() { grep -c "$1" "$CALLS"; }

say "Three benchmarks, one slower: the two that are decided leave"
gate --bench 'sh file.sh' --blocks 4 2>&1
check "after three blocks only the noisy one is asked for" test "$(calls '^^(BM_noisy)$$')" = 4
check "the checkout is as it was, but for harness's own folder" \
  test -z "$(git status --porcelain | grep -v '^?? .harness/')"
check "it was measured against where it branched off" \
  test -n "$(find .harness/builds -maxdepth 1 -name "$(git rev-parse fork)*")"
check "and not against where main is now" \
  test -z "$(find .harness/builds -maxdepth 1 -name "$(git rev-parse main)*")"

say "The same on standard output; a filter; and a program that says nothing: it is timed"
gate --bench 'sh said.sh' 'BM_[sc]*' --format gbench 2>/dev/null
gate --bench 'quick: true' --blocks 1 2>&1 | grep -v '|\|%\|verdict  '
t gate --bench 'sh file.sh' nothing --blocks 1 2>&1 | tail -n 1
chosen() {
  t gate --bench 'one: true' --bench 'two: true' "$@" --blocks 1 --seed 1 --db ../filters.db 2>&1 |
    grep -E '^\$|^2> note: nothing|→'
}
chosen two
chosen '!two' '!three'

say "Two benches of one content, and with names of their own"
t gate --bench 'sh file.sh' --bench 'env sh said.sh' --blocks 1 --seed 1 2>&1 | tail -n 1
t gate --bench 'a: sh file.sh' --bench 'b: sh file.sh' BM_copy --blocks 1 2>&1 | tail -n 1
gate --bench 'a: sh file.sh' --bench 'b: sh said.sh' '*/BM_copy' 2>/dev/null

say "What fails"
for bench in false 'kill -9 $$' 'echo "{" >$OUT' 'echo "[]" >$OUT' 'test -d .git && exit 0; exit 3' \
  'if test $(cat sort) = 1000; then sh file.sh; else true; fi'; do
  t gate --bench "$bench" --seed 1 2>&1 | grep -v '^2> \(building\|block\|note\)' |
    sed "s#$PWD#PROJECT#g; s/-[0-9a-f]\{8\}/-RECIPE/; s#/out-[A-Za-z0-9]*/#/out-XXXXXX/#"
done
t gate --bench 'sleep 99' --timeout 100ms --seed 1 2>&1 | tail -n 1
t gate --bench 'sh file.sh' --build-command 'echo no compiler; exit 1' 2>&1 | sed "s#$PWD#PROJECT#g; s/-[0-9a-f]\{8\}/-RECIPE/"

say "What is refused, before anything is built"
t gate --bench ''
t gate --bench 'sh file.sh' --suite ci
t gate --bench 'sh file.sh' --build-program x
t gate --bench 'sh file.sh' --bench 'sh said.sh' --bench 'sh x'
t gate --format gbench
t gate --bench 'sh file.sh' --format toml 2>&1 | cut -c 1-60
t gate --bench 'sh file.sh' --fail-on noise
t gate --bench 'sh file.sh' --quiet
t gate --bench 'sh file.sh' --base nowhere 2>&1 | sed "s#$PWD#PROJECT#"

say "A change that adds nothing, and one that is closed"
t gate --bench 'sh file.sh' --head fork
printf '{"action": "closed", "pull_request": {"number": 7}}' >../event.json
GITHUB_EVENT_PATH=$WORK/event.json t gate --bench 'sh file.sh'

say "Cannot tell"
gate --bench 'sh file.sh' --blocks 3 BM_noisy --fail-on undecided 2>/dev/null | head -n 1
gate --bench 'sh file.sh' --blocks 3 BM_noisy 2>/dev/null | tail -n 1

say "What is left behind"
gate --bench 'sh file.sh' BM_sort BM_copy --output ../left --number 7 --quiet --comment-id cpu \
  --images ../left/pictures --image-base 'https://example.org/{number}/{head}' >/dev/null 2>&1
(cd ../left && find . -maxdepth 1 -type f | LC_ALL=C sort | paste -sd ' ')
cat ../left/number ../left/status
check "head" test "$(cat ../left/head)" = "$(git rev-parse HEAD)"
check "Code Quality names the line" test "$(json ../left/codequality.json 0 location path):$(json ../left/codequality.json 0 location lines begin)" = bench.cc:2
check "so does SARIF" test "$(json ../left/harness.sarif runs 0 results 0 locations 0 physicalLocation region startLine)" = 2
head -n 2 ../left/comment.md
gate --bench 'sh file.sh' --head 'HEAD~2' BM_sort BM_copy --output ../left --quiet >/dev/null 2>&1
(cd ../left && find . -maxdepth 1 -type f | LC_ALL=C sort | paste -sd ' ')
json ../left/codequality.json
echo

say "The line of many sizes is looked for once, for all files"
cat >"$WORK.log/sizes.sh" <<'END'
. "$SOURCE/bench.sh"
read -r sort <"$SOURCE/sort"
asked=$(printf '%s\n' BM_sort/8 BM_sort/16 BM_sort/32 | grep -E "${BENCHMARK_FILTER:-.}")
echo '{"context":{"num_cpus":4},"benchmarks":['
for size in 8 16 32; do row BM_sort/$size $((size * sort + nr * 7 % 4)); done
echo ']}'
END
mkdir -p "$WORK.log/greps"
printf '#!/bin/sh\nfor word; do test "$word" != grep || echo grep >>"%s/greps/said"; done\nexec "%s" "$@"\n' \
  "$WORK.log" "$(command -v git)" >"$WORK.log/greps/git"
chmod +x "$WORK.log/greps/git"
PATH=$WORK.log/greps:$PATH gate --bench "sh $WORK.log/sizes.sh" --db "$WORK.log/sizes.db" --output ../left >/dev/null 2>&1
check "three are marked" test "$(json_length ../left/codequality.json):$(json_length ../left/harness.sarif runs 0 results)" = 3:3
check "the last, too" test "$(json ../left/codequality.json 2 location lines begin)" = 2
check "one search" test "$(wc -l <"$WORK.log/greps/said")" = 1

say "Which commit it was"
t bisect --good fork --bench 'sh file.sh' BM_sort BM_copy --json -o ../found.json 2>/dev/null
json ../found.json culprit title
t bisect --good fork --bench 'sh file.sh' --suite ci
t bisect --good fork --format gbench BM_sort

# ---- the commands of comments ----

# printed FILE: carries out each command that a comment prints, as it is printed.
printed() {
  local line
  awk '/^```sh$/ { in_it = 1; next } /^```$/ { in_it = 0 } in_it && !/^#/' "$1" >"$WORK.log/printed"
  while IFS= read -r line; do
    status=0
    PATH=$WORK.log/bin:$PATH sh -c "$line" >"$WORK.log/said" 2>&1 </dev/null || status=$?
    case $status in 0 | 1 | 77) status=works ;; esac
    echo "[$status] $(sed -E "s#$WORK#WORK#g; s/[0-9a-f]{12}/COMMIT/g" <<<"$line")"
    [ "$status" = works ] || tail -n 3 "$WORK.log/said"
  done <"$WORK.log/printed"
}
mkdir -p "$WORK.log/bin"
ln -sf "$HARNESS" "$WORK.log/bin/harness"

say "The commands of a gate's comment"
quiet_gate() { "$HARNESS" gate "$@" >/dev/null 2>&1 || true; }
quiet_gate --bench 'sh file.sh' BM_sort BM_copy --output ../left
printed ../left/comment.md
quiet_gate --bench "one: sh 'file.sh'" --format gbench --build-command 'echo "it is" built' --db ../own.db \
  --delta 5% --output ../left 'one/*'
printed ../left/comment.md
quiet_gate --bench 'MY_TOKEN=geheim sh file.sh' BM_sort BM_copy --output ../left
printed ../left/comment.md

say "By a number that the program prints"
echo 'echo "rate: $(($(cat "$SOURCE/sort") * 3 + nr * 7 % 4)) ms"' >>said.sh
printf '. "$SOURCE/bench.sh"\necho "{\\"points\\": $((9000 - $(cat "$SOURCE/sort") + nr * 7 %% 4))}" >"$OUT"\n' >points.sh
rate=(--bench 'sh said.sh' --metric 'rate=/^rate: (\S+)/' --unit ms --better lower --metric 'nr=/"num_cpus":(\d+)/' --better nr=none)
git add . && git commit -q -m 'Says a rate' && git tag said && echo 1600 >"sort" && git commit -q -a -m 'Slower again'
gate "${rate[@]}" --base said --output ../left 2>/dev/null
printed ../left/comment.md
check "the record has what was asked for" test "$(json ../left/compare.json rows 0 metric)" = rate
gate --bench 'sh points.sh' --base said --metric 'points=$.points' --better higher 2>/dev/null | head -n 2
t gate --bench 'sh said.sh' --base said --metric 'rate=/rat: (\S+)/' --better lower --seed 1 2>&1 | tail -n 1
t gate --metric 'rate=/a/' --better lower
t gate --bench 'sh said.sh' --format gbench --metric 'rate=/a/' --better lower
t bisect --good said --metric 'rate=/a/' --better lower

say "By a number that its results bring"
printf '. "$SOURCE/bench.sh"\necho "{\\"bench\\": {\\"file-size\\": {\\"value\\": $(($(cat "$SOURCE/sort") + nr * 7 %% 4))}}}"\n' >size.sh
git add . && git commit -q -m 'Has a size' && git tag size && echo 1900 >"sort" && git commit -q -a -m 'Larger'
gate --bench 'sh size.sh' --base size --metric file_size --output ../left 2>/dev/null
printed ../left/comment.md
printf '. "$SOURCE/bench.sh"\necho "[{\\"name\\": \\"a\\", \\"unit\\": \\"points\\", \\"value\\": $((9000 - $(cat "$SOURCE/sort") + nr * 7 %% 4))}]"\n' >custom.sh
git add . && git commit -q -m 'Has points' && git tag points && echo 2300 >"sort" && git commit -q -a -m 'Fewer'
gate --bench 'sh custom.sh' --base points --metric value --better higher --output ../left 2>/dev/null | head -n 2
printed ../left/comment.md
t gate --bench 'sh custom.sh' --base points --metric value --better up

say "Each of several benches by a number of its own, and one by its results"
benches=(--bench 'a: sh said.sh' --bench 'b: sh points.sh')
numbers=(--metric 'a:rate=/^rate: (\S+)/' --unit rate=ms --better rate=lower
  --metric 'b:points=$.points' --better points=higher)
gate "${benches[@]}" --bench 'c: sh file.sh' "${numbers[@]}" --base points 'command/*' 'c/BM_[sc]*' --output ../left 2>/dev/null
printed ../left/comment.md
gate "${benches[@]}" --metric 'rate=/^rate: (\S+)/' --better lower --metric 'b:rate=$.points' --unit ms --base points 2>/dev/null | head -n 2
t gate "${benches[@]}" --metric 'd:rate=/a/' --better lower
t gate "${benches[@]}" --metric ':rate=/a/' --better lower
t gate "${benches[@]}" --format gbench --metric rate=/a/ --metric 'a:rate=/b/' --better lower
t bisect --good points "${benches[@]}" --metric 'c:rate=/a/' --better lower
t compare --metric 'a:rate=/a/' --better lower -- true --versus true
t run --metric 'a:rate=/a/' --better lower -- true

say "Several metrics, and which commit it was by those that got worse"
copy='copy=/"run_name":"BM_copy","run_type":"iteration","iterations":9,"real_time":(\d+)/'
both=(--bench 'sh said.sh' --metric "$copy" --metric 'rate=/^rate: (\S+)/' --better lower --unit ms)
gate "${both[@]}" --base points --all 2>/dev/null | head -n 6
: >"$CALLS"
t bisect --good said --bad size "${both[@]}" --seed 1 --json -o ../found.json | grep -v '^2> block'
json ../found.json culprit title
check "one of two is looked for" test "$(json_length ../found.json tracked):$(json ../found.json tracked 0 metric)" = 1:rate
check "and only that is measured in the steps" test "$(json_length ../found.json steps 1 benchmarks)" = 1
: >"$CALLS"
t bisect --good said --bad size "${benches[@]}" "${numbers[@]}" --seed 1 --json -o ../found.json | grep -v '^2> block'
json ../found.json culprit title
check "each by its own" test "$(json ../found.json tracked 0 metric):$(json ../found.json tracked 1 metric)" = rate:points

say "Each of several benches by a metric of its own, by name"
sed 's/file-size/build-time/' size.sh >built.sh
git add . && git commit -q -m 'Is built' && git tag built && echo 2600 >"sort" && git commit -q -a -m 'Built longer'
named=(--bench 'a: sh size.sh' --bench 'b: sh built.sh' --bench 'c: sh file.sh' --base built)
gate "${named[@]}" --metric a:file_size --all --output ../left a b c/BM_sort 2>/dev/null | grep -v '^Noise\|chance alone'
printed ../left/comment.md
gate "${named[@]}" --metric a:file_size --metric 'b*:build_time' --metric c:p50 --delta c:p50=50% --all a b c/BM_sort 2>/dev/null | head -n 6
gate "${named[@]}" --metric p50 --metric a:file_size a c/BM_sort 2>/dev/null | head -n 2
gate "${named[@]}" --metric a:build_time a 2>/dev/null | grep -v '^Noise\|chance alone'
: >"$CALLS"
t bisect --good built "${named[@]:0:4}" --metric a:file_size --metric b:build_time --seed 1 --json -o ../found.json | grep -v '^2> block'
check "each by its own" test "$(json ../found.json tracked 0 metric):$(json ../found.json tracked 1 metric)" = file_size:build_time
for asked in d:file_size a:nosuch a:p50,b:p95 :p50 a: a:error; do
  t gate "${named[@]}" --metric "$asked" 2>&1 | sed -E 's/(there are) .*/\1 .../' | grep -v '^2> note'
done
t compare --metric a:p50 -- true --versus true

say "Of results that were imported: nobody can measure these again by a command"
for side in fork change; do
  git -c advice.detachedHead=false checkout -q "$side"
  for i in 1 2 3; do SOURCE=. BENCHMARK_OUT=../$side-$i.json sh file.sh; done
  quiet import ../$side-*.json --label $side --commit HEAD --machine this
done
"$HARNESS" compare --baseline label:fork --head label:change --format github -o ../comment.md >/dev/null 2>&1
printed ../comment.md

say "Of a program that was timed"
printf 'sleep 0.0%s\n' 1 >program.sh
for label in before after; do
  quiet run --name program --label $label --launches 3 --db ../timed.db -- sh program.sh
  echo 'sleep 0.03' >program.sh
done
rm program.sh
HARNESS_DB=../timed.db "$HARNESS" compare --baseline label:before --head label:after --format github \
  -o ../comment.md >/dev/null 2>&1
HARNESS_DB=../timed.db printed ../comment.md

say "Two gates of one project at a time: each has its own results"
git checkout -q slower
points() { echo "echo '[{\"name\": \"t\", \"unit\": \"s\", \"value\": $1}]' >\"\$OUT\""; }
results() { find .harness/builds -maxdepth 2 -name 'out-*'; }
beside() { "$HARNESS" gate --base fork --format custom --blocks 1 --db "../$1.db" --bench "x: $2" --output "../$1" >"../$1.said" 2>&1; }
beside first "$(points 7); : >$WORK.log/wrote; until test -e $WORK.log/done; do sleep 0.05; done" &
first=$!
check "one waits for the other in its first call" wait_for test -e "$WORK.log/wrote"
check "which is through" beside second "$(points 8)"
: >"$WORK.log/done"
check "the first one, too" wait $first
for name in first second; do
  for run in 1 2; do
    "$HARNESS" history show $run --db "../$name.db" >../shown.json
    echo "$name: $(grep -oE '"samples_ns":[[:space:]]*\[[0-9]*' ../shown.json | grep -oE '[0-9]+$' | paste -sd ' ')"
  done
done
check "nothing is left of that" test -z "$(results)"

say "Results of a killed gate are gone with the next one; a folder is new for each call"
("$HARNESS" gate --base fork --bench 'x: echo "[" >"$OUT"; kill -9 $(cut -d" " -f4 /proc/$PPID/stat); sleep 9' || true) >/dev/null 2>&1
check "they are left" test "$(results | wc -l)" = 1
"$HARNESS" gate --base fork --bench 'x: mkdir "$OUT" && echo 5 >"$OUT/more" && echo loss: 5' --metric 'loss=/loss: (\S+)/' \
  --better lower --blocks 1 >../said 2>&1 || true
check "all calls make it" grep -q 'no more blocks are allowed' ../said
check "and gone" test -z "$(results)"

say "A run of harness itself: its records count, not what the library in it makes of BENCHMARK_OUT"
nested='exec "$HARNESS" run null/copy/right --batch 1 --seq 8 --device "$FAKE" --iterations 20 --launches 1 --seed 1 --json --db "$WORK.log/nested.db"'
FAKE=$FAKE "$HARNESS" gate --base fork --bench "$nested" --blocks 1 --db ../nested.db >../said 2>&1 || true
"$HARNESS" history show 1 --db ../nested.db >../shown.json
check "its name" test "$(json ../shown.json runs 0 measurements 0 key)" = null/copy/right/fp32/batch=1,seq=8/fake/warm
check "its samples" test "$(json_length ../shown.json runs 0 measurements 0 samples_ns)" = 20

say "Of harness's own kernels"
cd ..
toy_repository
toy_commit seed=3 "First"
toy_commit slow=1.1,only=4 "Slower copy of four"
"$HARNESS" compare --build --build-command 'sh build.sh' --device "$FAKE" --seed 1 null/copy/right \
  --batch 3,4 --baseline HEAD~1 --format github -o ../comment.md >/dev/null 2>&1
printed ../comment.md
