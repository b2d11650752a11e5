# shellcheck shell=bash
# Kernels from a shared object: the example built outside the tree by CMake and by one line of cc,
# listed, verified, measured, compared; crashes and wrong results as rows; odd plugins refused with
# words that help; the same file in every process of a run; its digest in the history. U-11.
build=$(dirname "$HARNESS")
[ -e "$build/CMakeCache.txt" ] || skip "not a build tree: $build"
compiler=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:[A-Z]*=//p' "$build/CMakeCache.txt")
warnings=(-std=c99 -Wall -Wextra -Wpedantic -Wmissing-prototypes -Wmissing-declarations -Werror)

say "Installed alone, the header is all that is needed"
"$CMAKE" --install "$build" --component plugin --prefix installed >"$WORK.log/install"
(cd installed && find . -type f | sed 's#^\./lib64/#./lib/#' | LC_ALL=C sort)
mv installed "else where"
include="$PWD/else where/include"
cp -r "$source/examples/plugin" example
"$CMAKE" -S example -B made -DCMAKE_PREFIX_PATH="$PWD/else where" -DCMAKE_C_COMPILER="$compiler" \
  -DCMAKE_C_FLAGS="${warnings[*]}" >"$WORK.log/configure" || cat "$WORK.log/configure"
"$CMAKE" --build made >"$WORK.log/build" || cat "$WORK.log/build"
check "CMake makes it by harness::plugin" test -f made/axpy.so
# It prints a path with a blank as a shell reads it. Where there is none, nothing is to be seen.
flags=()
if command -v pkg-config >/dev/null; then
  eval "flags=($(PKG_CONFIG_PATH=$(dirname "$(find "else where" -name harness-plugin.pc)") \
    pkg-config --cflags harness-plugin))"
else
  flags=(-I "$include")
  echo "skipped: no pkg-config"
fi
check "pkg-config says what it is compiled with" "$compiler" "${warnings[@]}" -shared -fPIC "${flags[@]}" \
  -o found.so "else where/share/harness/examples/plugin/axpy.c"
# make OUT FILE FLAG...
make_plugin() {
  local out=$1 file=$2
  shift 2
  "$compiler" "${warnings[@]}" -shared -fPIC -O2 -I "$include" "$@" -o "$out" "$file"
}
check "one line of cc does" make_plugin axpy.so "else where/share/harness/examples/plugin/axpy.c"
check "and the template" make_plugin template.so "else where/share/harness/examples/plugin/template.c"
check "which has 30 lines" test "$(grep -c . "else where/share/harness/examples/plugin/template.c")" -le 30
printf '#include <harness/plugin.h>\n' >c++.cc
check "C++ takes the header" "$compiler" -x c++ -Wall -Wextra -Wpedantic -Werror -I "$include" \
  -fsyntax-only c++.cc

say "What is in it"
t list kernels variants --plugin ./axpy.so
quiet list kernels --plugin axpy.so --json
check "JSON has its dims" grep -q '"n"' "$WORK.log/out"

say "Checked, timed"
verify() { "$HARNESS" verify "$@" | sed -E 's/cpu-[0-9]+t/cpu/; s/ +error [0-9.e+-]+ of / error E of /'; }
verify --plugin made/axpy.so --test-shapes --seed 1
verify --plugin ./template.so --seed 1
run() { "$HARNESS" run "$@" --iterations 5 --seed 1 --format csv 2>"$WORK.log/err"; }
rows() {
  sed -nE 's/^.*"?((mine|odd)\/[^"]*\/(warm|cold))"?,.*(OK|WRONG|FAILED|UNSUPPORTED).*/\4 \1/p' |
    sed -E 's/cpu-[0-9]+t/cpu/' | sort | uniq -c
}
messages() {
  quiet history show latest
  grep -oE '"message":[[:space:]]*"([^"\\]|\\.)*"' "$WORK.log/out" |
    sed -E 's/"message":[[:space:]]*//; s/[0-9]+ legs/N legs/; s/(about to fall).*/\1 .../' | sort
}
run --plugin ./axpy.so --launches 3 | rows
run --plugin ./axpy.so mine/axpy --dim n=7,8 --launches 1 | rows
check "a kernel of the harness beside it" \
  test "$(run --plugin ./axpy.so mine/axpy pointwise/gelu/simd --dim n=64 --launches 1 | grep -c OK)" -ge 2

say "A bad day"
make_plugin odd.so "$source/tests/fixtures/plugins/odd.c"
run --plugin ./odd.so --dim n=64 --launches 1 --timeout 10s >out || echo "status $?"
rows <out
messages
verify odd/double/wrong --plugin ./odd.so --seed 1

say "Refused"
for odd in 1 2 3 5 6 7 9 12; do
  make_plugin odd$odd.so "$source/tests/fixtures/plugins/odd.c" -DODD=$odd
  t list kernels --plugin ./odd$odd.so
done
make_plugin odd4.so "$source/tests/fixtures/plugins/odd.c" -DODD=4
check "a wild pointer ends nobody" grep -q 'crashes (signal 11' <("$HARNESS" list --plugin ./odd4.so 2>&1)
echo 'int x;' >plain.c
"$compiler" -shared -fPIC -o plain.so plain.c
t list --plugin ./plain.so
t list --plugin ./no.so
check "no shared object" grep -q 'a plugin is a shared object' <("$HARNESS" list --plugin plain.c 2>&1)
# A libstdc++ of years to come, which is not here when the plugin is loaded.
echo 'GLIBCXX_99 { global: newer; };' >newer.map
echo 'int newer(void) { return 1; }' >newer.c
"$compiler" -shared -fPIC -Wl,-soname,libstdc++.so.6,--version-script=newer.map -o newer-library.so newer.c
echo 'int newer(void); int needs(void) { return newer(); }' >needs.c
"$compiler" -shared -fPIC -o needs.so needs.c ./newer-library.so
check "a library that is too old for it" grep -q "libstdc++.so.6: version .GLIBCXX_99' not found .*: build it on this system; or where that one lies in lib/harness, .* delete it there" \
  <("$HARNESS" list --plugin ./needs.so 2>&1)
t list --plugin ./odd.so --plugin ./odd.so
mkdir -p other
make_plugin other/two.so "$source/tests/fixtures/plugins/odd.c"
t list --plugin ./odd.so --plugin other/two.so
t run --plugin ./odd.so --suite quick mine
t run --plugin ./odd.so --seq 4

say "Layouts that only a size brings out"
make_plugin odd8.so "$source/tests/fixtures/plugins/odd.c" -DODD=8
run --plugin ./odd8.so odd/double/right --dim n=1,2,3 --launches 1 >out || echo "status $?"
rows <out
messages

say "Doubles"
make_plugin odd10.so "$source/tests/fixtures/plugins/odd.c" -DODD=10
run --plugin ./odd10.so --launches 1 | rows

say "Compiled when ABI 1 was new"
"$compiler" -std=c99 -Wall -Werror -shared -fPIC -O2 -o abi1.so "$source/tests/fixtures/plugins/abi1.c"
run --plugin ./abi1.so --launches 1 | rows
t run --plugin ./abi1.so --param BM=64 --device fake

say "Compiled when ABI 2 was new"
"$compiler" -std=c99 -Wall -Werror -shared -fPIC -O2 -o abi2.so "$source/tests/fixtures/plugins/abi2.c"
small=(--dim n=16 --dim k=16 --batch 1 --seq 8)
products() {
  sed -nE 's/.*(gemm[^"]*warm).*(OK|WRONG|UNSUPPORTED).*/\2 \1/p' | sed -E 's/cpu-[0-9]+t/cpu/' | sort
}
run --plugin ./abi2.so odd/third --launches 1 >out || echo "status $?"
rows <out
messages
run --plugin ./abi2.so 'gemm/nn/older*' "${small[@]}" --param BREAK=0,1 --launches 1 >out || echo "status $?"
products <out

say "Variants of a kernel of the harness, with parameters"
for like in 1 2 3 4 5; do
  make_plugin like$like.so "$source/tests/fixtures/plugins/like.c" -DLIKE=$like
  t list variants --plugin ./like$like.so
done
make_plugin like.so "$source/tests/fixtures/plugins/like.c"
t list kernels variants --plugin ./like.so
run --plugin ./like.so "${small[@]}" --launches 1 >out || echo "status $?"
check "a vendor's beside them" grep -q 'gemm/nn/openblas/fp32.*OK' out
run --plugin ./like.so gemm/nn --variant loops,tf32,naive "${small[@]}" --launches 1 |
  products
run --plugin ./like.so "${small[@]}" 'gemm/nn/loops*' 'gemm/nn/tells*' --param BREAK=0,1 --param mode=fast \
  --launches 1 >out || echo "status $?"
products <out
messages | grep device
check "the settings are in the history" grep -q '"BREAK=1,mode=fast"' <("$HARNESS" history show latest)
quiet profile --plugin ./like.so --param BREAK=0,1 --variant loops:BREAK=0 "${small[@]}" --launches 1 --iterations 2 \
  --device cpu:1 --no-store gemm/nn
check "a profile is of one of them" grep -q 'gemm/nn/loops:BREAK=0' "$WORK.log/out"
t selftest --plugin ./like.so --param BM=a/b --aa 1
t run --plugin ./like.so --param BM=a/b
t run --plugin ./like.so --param BN=64 --param mode=fast
t_cut run --param BM=1 --dim n=1 null
"$HARNESS" verify --plugin ./like.so --variant loops:BREAK=1 --param BREAK=1 --batch 1 --seq 8 >out || echo "status $?"
tail -1 out

say "Rebuilt while it is measured"
cp odd.so held.so
ODD_MARK=$PWD/mark "$HARNESS" run odd/double --variant hang,right --plugin ./held.so --dim n=64 \
  --launches 2 --timeout 10s >"$WORK.log/out" 2>"$WORK.log/err" &
child=$!
wait_for test -e mark
cp odd10.so new.so
mv new.so held.so
status=0
wait $child || status=$?
echo "status $status"
sed -nE 's/^harness: //; s/[0-9a-f]{32}/DIGEST/gp' "$WORK.log/err"

say "Its content is in the history, and compare says when it changed"
fake_plugin() { quiet run --plugin ./v.so --device fake:base=2000,launch=0.01,seed=4 --launches 3 --iterations 5 "$@"; }
make_plugin v.so "$source/tests/fixtures/plugins/odd.c"
fake_plugin --label old
make_plugin v.so "$source/tests/fixtures/plugins/odd.c" -O1 -DODD=11
fake_plugin --label new
notes() { "$HARNESS" compare --baseline "$1" --head "$2" --no-record | grep -o 'Plugin v.so.*' | sed -E 's/[0-9a-f]{32}/DIGEST/g'; }
notes old new
fake_plugin --label again
notes new again
check "both digests differ" test "$("$HARNESS" history show old | grep -oE '"v.so":[[:space:]]*"[0-9a-f]{32}"')" \
  != "$("$HARNESS" history show new | grep -oE '"v.so":[[:space:]]*"[0-9a-f]{32}"')"

say "Two of them in turn"
make_plugin old.so "$source/tests/fixtures/plugins/odd.c"
status=0
"$HARNESS" compare --baseline-plugin ./old.so --plugin ./v.so --device fake:base=2000,sd=0.001 \
  --blocks 4 --label twins >"$WORK.log/out" 2>"$WORK.log/err" || status=$?
echo "status $status"
grep -o 'measuring .*' "$WORK.log/err"
check "both sides are kept" test "$("$HARNESS" history list | grep -c 'twins')" -eq 2
check "the base's plugin" grep -q '"old.so"' <("$HARNESS" history show 'twins base')
t compare --baseline-plugin ./old.so
t compare --baseline-plugin ./old.so --plugin ./v.so --build --baseline main
t compare --baseline-plugin ./no.so --plugin ./v.so

say "Profiled, and by its whole key"
"$HARNESS" profile --plugin ./axpy.so --dim n=4096 --launches 1 --iterations 3 -o folder --no-store >"$WORK.log/out" 2>&1 || cat "$WORK.log/out"
check "a trace" test -s folder/trace.json
"$HARNESS" run 'odd/double/scripted/fp32/n=99/fake/warm' --plugin ./v.so --device fake --launches 1 --format csv 2>/dev/null | rows

say "In a git work tree"
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
git -c init.defaultBranch=topic init -q .
git -c user.name=Ada -c user.email=ada@example.org commit -q --allow-empty -m First
# commit REF: what the run with this name was measured of
commit() {
  quiet history show "$1"
  hash=$(json "$WORK.log/out" runs 0 build commit 2>/dev/null || true)
  if [ "$hash" = "$(git rev-parse HEAD)" ]; then echo HEAD; else echo "${hash:-unknown}"; fi
}
fake_plugin --label tree
echo "a run: $(commit tree)"
"$HARNESS" compare --baseline-plugin ./old.so --plugin ./v.so --device fake:base=2000,sd=0.001 \
  --blocks 3 --label pair >"$WORK.log/out" 2>&1 || true
echo "compared in turn: the base $(commit 'pair base'), the head $(commit 'pair head')"
"$HARNESS" profile --plugin ./axpy.so --dim n=4096 --launches 1 --iterations 3 --label traced \
  >"$WORK.log/out" 2>&1 || cat "$WORK.log/out"
echo "profiled: $(commit traced)"
quiet run null/copy/right --device "$FAKE" --label built-in --launches 1 --iterations 5
check "what harness brings along is of its own commit" test "$(commit built-in)" != HEAD
