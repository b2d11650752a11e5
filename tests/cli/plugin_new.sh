# shellcheck shell=bash
# `harness plugin new`: from an empty folder by the printed lines to a kernel that is right, by one
# line of cc and by CMake, alone and beside those of the harness; sources for a GPU compile where
# there is nvcc. U-11.
build=$(dirname "$HARNESS")
[ -e "$build/CMakeCache.txt" ] || skip "not a build tree: $build"
compiler=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
top=$PWD
# The printed lines, with this build's compiler.
printed() { sed -n "s#^  \($1.*\)#\1#p" "$top/out" | sed "s#^cc #$compiler -std=c99 -Wall -Wextra -Wpedantic -Werror #"; }
make_new() { "$HARNESS" plugin new "$@" | tee "$top/out"; }
steady() { sed -E "s#$build#BUILD#g; s/cpu-[0-9]+t/cpu/; s/ +error [0-9.e+-]+ of / error E of /"; }

say "A kernel of one's own, by one line"
make_new mine | steady
eval "$(printed cc)"
"$HARNESS" verify --plugin ./mine.so --seed 1 | steady

say "The same again is refused, and so are other mistakes"
t plugin new mine
t plugin new 'my kernel'
t plugin new other --like gemm/nm
t plugin
t plugin new
t plugin old

say "A variant of a kernel of the harness, by CMake"
make_new product --like gemm/nn -o product >/dev/null
printed cmake | sed "s#cmake -B build#cmake -B build -DCMAKE_C_COMPILER=$compiler#; s#cmake -B#'$CMAKE' -B#; s#cmake --build#'$CMAKE' --build#" >lines
(cd product && eval "$(cat ../lines)") >"$WORK.log/out" 2>&1 || cat "$WORK.log/out"
"$HARNESS" verify --plugin product/product.so --test-shapes --seed 1 | tail -1
make_new transposed --like gemm/nt -o transposed >/dev/null
(cd transposed && eval "$(printed cc)")
"$HARNESS" verify --plugin transposed/transposed.so --test-shapes --seed 1 | tail -1

say "One that is still to be written says what it is given, and is wrong"
make_new soft --like attention/causal -o soft >/dev/null
sed -n '1,/\*\//p' soft/soft.c
(cd soft && eval "$(printed cc)")
"$HARNESS" verify --plugin soft/soft.so --test-shapes --seed 1 | tail -1

say "For a GPU"
make_new gpu --cuda -o gpu | steady
make_new gpu --cuda --like gemm/nt -o like >/dev/null
grep -n 'gemm/\|b\[' like/gpu.cu
make_new gpu --cuda --like pointwise/gelu -o blank >/dev/null
check "a variant has 30 lines" test "$(grep -c . like/gpu.cu)" -eq 30
check "a kernel of its own 40" test "$(grep -c . gpu/gpu.cu)" -eq 40
has_nvcc() { command -v nvcc >/dev/null && nvcc --version >/dev/null 2>&1; }
# Where there is nvcc; elsewhere there is nothing to be seen.
for_both() {
  ! has_nvcc || nvcc -shared -Xcompiler -fPIC -O3 -gencode arch=compute_80,code=sm_80 \
    -gencode arch=compute_90a,code=sm_90a -I "$build/include" -o "$1/gpu.so" "$1/gpu.cu"
}
is_listed() { ! has_nvcc || "$HARNESS" list variants --plugin "$1/gpu.so" | grep -q "  $2 .* cuda  .* unverified on a device"; }
configured() {
  ! has_nvcc || { "$CMAKE" -S like -B like/build -DCMAKE_PREFIX_PATH="$build" &&
    flags=$(grep -rhE "compute_80|compute_90a" like/build --include=flags.make --include=build.ninja) &&
    [[ $flags == *code=*sm_80* && $flags == *code=*sm_90a* ]] &&
    grep -rqF -- "$build/include" like/build --include=flags.make --include=build.ninja; }
}
for written in gpu=mine/gpu/cuda like=gemm/nt/gpu blank=pointwise/gelu/gpu; do
  check "nvcc compiles ${written%=*}/gpu.cu for sm_80 and sm_90a" for_both "${written%=*}"
  check "and its table is read" is_listed "${written%=*}" "${written#*=}"
done
check "CMake is configured for both, with the header" configured
has_nvcc || echo "skipped: no nvcc"
