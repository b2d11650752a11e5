# shellcheck shell=bash
# Settings of parameters race: the planted best wins for each size, wrong ones are out with their
# reason, the winner is kept and taken by --tuned, for this plugin, sizes and machine alone. What a
# race gets wrong, and what it saves, is in tests/statistics/statistics_race.c.
build=$(dirname "$HARNESS")
[ -e "$build/CMakeCache.txt" ] || skip "not a build tree: $build"
compiler=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:[A-Z]*=//p' "$build/CMakeCache.txt")
# make OUT FLAG...
make() {
  local out=$1
  shift
  "$compiler" -std=c99 -Wall -Wextra -Werror -shared -fPIC -O2 -I "$build/include" "$@" -o "$out" \
    "$source/tests/fixtures/plugins/tunable.c"
}
make k.so
here=(--device cpu:1)
# Differences are planted as large as other programs on the machine can be.
race() { "$HARNESS" tune ./k.so "${here[@]}" --tolerance 10% --seed 1 "$@" 2>"$WORK.log/err"; }
# The lines of a race and of its settings, without what is not the same twice.
told() {
  sed -nE 's/^\t\t\t"(key|setting|decided|kept|code)":[[:space:]]*(.*[^,]),?$/\1 \2/p
    s/^\t\t\t\t\t"(setting|outcome|message)":[[:space:]]*(.*[^,]),?$/  \1 \2/p' "$1" |
    sed -E 's/y\[0,[0-9]+\] = .*"$/y[0,I] = .../'
}

say "Winners by size"
race --param BM=3,7,16,64,256 --param stages=2 --json -o tuned.json || echo "status $?"
told tuned.json | grep -v '^  '
told tuned.json | grep '^  ' | paste - - - | grep -E 'WRONG|UNSUPPORTED' | sort | uniq -c
"$HARNESS" tune --kept --db .harness/history.db | sed -E 's/k.so [0-9a-f]{8}/k.so DIGEST/; s/[0-9]{4}-..-../DAY/'
check "what is kept has a form for programs" grep -q '"setting":[[:space:]]*"BM=16,stages=2"' <("$HARNESS" tune --kept --json)
check "a race is a trial of the history" grep -q 'trial\|tune' <("$HARNESS" history list --all 2>/dev/null || "$HARNESS" history list)
check "the history is sound" "$HARNESS" history verify

say "Taken by --tuned"
keys() { sed -nE 's/^.*"?(mine\/[^"]*\/warm)"?,.*(OK|WRONG|FAILED).*/\2 \1/p' | sort; }
"$HARNESS" run --plugin ./k.so --tuned "${here[@]}" --launches 1 --iterations 3 --format csv 2>"$WORK.log/err" | keys
grep '^tuned' "$WORK.log/err" | sed -E 's/[0-9]{4}-..-../DAY/'
t verify --plugin ./k.so --tuned "${here[@]}" --seed 1 | sed -E 's/error .*/error E/; s/[0-9]{4}-..-../DAY/'
t run --plugin ./k.so --tuned "${here[@]}" --dim n=128
t run --plugin ./k.so --tuned "${here[@]}" --param BM=64
t run --tuned -- true
t run --plugin ./k.so --tuned --db nowhere.db
t compare --plugin ./k.so --tuned --baseline-plugin ./k.so
"$HARNESS" run --plugin ./k.so "${here[@]}" --label before --launches 3 --iterations 3 >"$WORK.log/out" 2>&1 || echo "status $?"
"$HARNESS" compare --baseline before --run --plugin ./k.so --tuned "${here[@]}" --json >"$WORK.log/out" 2>"$WORK.log/err" || true
check "compare --run, too" grep -q '^tuned: mine/twice/tile/fp32/n=64' "$WORK.log/err"

say "Another build is another plugin"
make k.so -DREBUILT
"$HARNESS" run --plugin ./k.so --tuned "${here[@]}" 2>&1 | sed 's/^harness: //'

say "Table"
race --param BM=3,16,256 --param stages=2 --dim n=64 | sed -E 's/[0-9.]+ [nmuµ]s/T/; s/\+[0-9.]+ to \+[0-9.]+ %/I/; s/\+[0-9.]+ %/S/; s/ +/ /g; s/[0-9]+ rounds/R rounds/; s/^(BM=256,stages=2 T) .*, out in round [0-9]+$/\1 S I R out/; s/T [0-9]+ fastest/T R fastest/; s/^[0-9]+ measurements in [0-9.]+ s; .*/N measurements .../; s/cpu-1t/cpu/'

say "Refused"
t tune
t tune ./k.so --param BN=1,2
t tune ./k.so --param BM=64
t tune ./k.so 'mine/twice/plain*'
t tune ./k.so --param BM=1:1000 --param stages=1:1000
t tune --kept ./k.so
for option in --device=cpu:1 --param=depth=3 --rounds=5 --tolerance=2% --budget=1s --seed=1 --label=x --timeout=1s --memory-limit=1G; do
  t tune --kept "$option"
done
"$HARNESS" tune ./k.so --param BM=3,7 --param stages=2 "${here[@]}" --dim n=64 2>&1 >"$WORK.log/out" | grep -v launch || true
status=0
race --param BM=3,7 --param stages=2 --dim n=64 >"$WORK.log/out" || status=$?
echo "status $status"
grep 'no setting' "$WORK.log/out"

say "A race that ends before it is decided"
status=0
race --param BM=16,64 --param stages=2 --dim n=64 --budget 1ms --json >tuned.json || status=$?
echo "status $status"
told tuned.json | grep -E '^(decided|kept)'
check "what was decided before stays" grep -q '"stands":[[:space:]]*"BM=16,stages=2"' tuned.json
race --param BM=64,256 --param stages=2 --dim n=64 --budget 1ms >table.txt || echo "status $?"
sed -nE '1s/[0-9]{4}-..-../DAY/p' table.txt
"$HARNESS" tune --kept | grep -c 'n=64/.* BM=16,stages=2 '

say "Interrupted: what is printed says the status that it ends with"
make scripted.so -DDEVICE=HARNESS_FAKE
"$HARNESS" tune ./scripted.so --device "$FAKE,hang=64" --dim n=64 --param BM=16,64 --param stages=2 \
  --json >cut.json 2>cut.err &
pid=$!
check "it races" wait_for grep -q '^launch 1/' cut.err
kill -INT $pid
status=0
wait $pid || status=$?
echo "status $status, told $(json cut.json exit_status)"

say "Our own kernels"
small=(gemm/nn --batch 1 --seq 16 --dim n=32 --dim k=64)
"$HARNESS" tune "${small[@]}" "${here[@]}" --param depth=0,16 --tolerance 50% --json >tuned.json 2>"$WORK.log/err" || echo "status $?"
told tuned.json | grep -E '^(key|decided|kept|code)'
"$HARNESS" run gemm/nn/simd/fp32/batch=1,seq=16,n=32,k=64/cpu-1t/warm --tuned "${here[@]}" --launches 1 --iterations 3 --format csv 2>"$WORK.log/err" |
  sed -nE 's/^.*"?(gemm[^"]*\/warm)"?,.*(OK|WRONG|FAILED).*/\2 \1/p' | sed -E 's/depth=[0-9]+/depth=D/'
t run "${small[@]}" --tuned "${here[@]}" --dim k=72
HARNESS_ISA=portable t run "${small[@]}" --tuned "${here[@]}" | sed -E 's/depth=[0-9]+/depth=D/'
t tune "${small[@]}" --param depth=0,x

say "What is kept is verified"
t verify gemm/nn/simd "${small[@]:1}" --tuned "${here[@]}" --seed 1 |
  sed -E 's/depth=[0-9]+/depth=D/; s/error .*/error E/; s/[0-9]{4}-..-../DAY/'
t verify gemm/nn --batch 1 --seq 16 --dim n=32 --dim k=72 --tuned "${here[@]}"
t verify gemm/nn --tuned --param depth=64
t verify gemm/nn --tuned --all-settings
t verify gemm --all-settings --param depth=64
"$HARNESS" verify 'gemm/nn/simd/*n=33*' --test-shapes --all-settings --device cpu:1 --seed 1 >settings.txt
tail -n 2 settings.txt
check "all combinations are covered" [ "$(grep -c '^covered' settings.txt)" = 35 ]
# At sizes of several blocks, with a rest.
settings_of() { "$HARNESS" verify "$@" --batch 1 --all-settings --device cpu:1 --seed 1 | tail -n 2; }
settings_of gemm/nt/simd_int8 --seq 70 --dim n=40 --dim k=600
settings_of pointwise/gelu/simd --seq 33 --dim width=100
settings_of layernorm/residual/simd --seq 33 --dim width=300
"$HARNESS" verify 'gemm/nn/simd_bf16/*n=33*' 'gemm/linear/simd_bf16/*n=33*' --test-shapes --all-settings \
  --device cpu:1 --seed 1 >settings.txt
tail -n 1 settings.txt
check "and those of bfloat16" [ "$(grep -c '^covered.*right on [1-9]' settings.txt)" = 60 ]

say "A setting is bisected, and its parameter must be known"
history=$PWD/.harness/history.db
toy_repository
# What a commit is: its launches get a job that was edited, or, of "forget", know no parameter.
cat >build.sh <<'END'
case $(cat fake) in
  forget*) edit='s/"settings":\[[^]]*\],//' ;;
  slow*) edit='s/"kernel":"gemm/"plant":1,&/g' ;;
  *) edit= ;;
esac
printf '%s\n' '#!/bin/sh' "[ \"\$1\" = internal-launch ] || exec $HARNESS \"\$@\"" \
  "sed '$edit' | $HARNESS \"\$@\"" >"$BUILD/harness"
chmod +x "$BUILD/harness"
END
git add build.sh
toy_commit forget "It has no parameter yet"
git tag before
toy_commit fast "A parameter"
git tag good
toy_commit slow "Slower"
bisect=(bisect --build-command 'sh build.sh' "gemm/nn/simd:*" "${small[@]:1}" "${here[@]}" --seed 1 --blocks 6)
"$HARNESS" "${bisect[@]}" --good good --param depth=16 --json >found.json 2>err || cat err
json found.json result
json found.json culprit title
json found.json tracked 0 key
"$HARNESS" "${bisect[@]}" --good before --param depth=16 2>&1 >out | grep '^harness:' | sed -E 's/commit [0-9a-f]+/commit C/'
"$HARNESS" "${bisect[@]}" --good before --tuned --db "$history" 2>&1 >out | grep -E '^(tuned|harness:)' |
  sed -E 's/commit [0-9a-f]+/commit C/; s/depth=[0-9]+/depth=D/; s/[0-9]{4}-..-../DAY/'
t bisect --good good --bench true --param depth=16
t bisect --good good --bench true --tuned
