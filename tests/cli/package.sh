# shellcheck shell=bash
# The package runs where it is unpacked, without the libraries of the machine that made it. S4-28.
build=$(dirname "$HARNESS")
if ldd "$HARNESS" | grep -qE 'lib[at]san|libubsan'; then skip "sanitizers are not packed"; fi
[ -e "$build/CPackConfig.cmake" ] || skip "not a build tree: $build"

"$(dirname "$CMAKE")/cpack" --config "$build/CPackConfig.cmake" -B packed >"$WORK.log/cpack" 2>&1 ||
  cat "$WORK.log/cpack"
mkdir "un packed"
tar -xzf packed/*.tar.gz -C "un packed" --strip-components=1
rm -rf packed
root="$PWD/un packed"

# Nothing of this environment but a path to the shell's tools.
bare() { env -i PATH=/usr/bin:/bin HOME="$WORK" "$@"; }

say "It runs"
check "version" bare "$root/bin/harness" version
check "the same build" cmp <("$HARNESS" version) <(bare "$root/bin/harness" version)
check "list" bare "$root/bin/harness" list
bare "$root/bin/harness" verify 'gemm/*/simd' --test-shapes --seed 1 >out
check "verify: all right" grep -qE '^[1-9][0-9]* OK, 0 wrong, 0 failed, 0 unsupported$' out
check "a run, with the engine and the history's library" \
  bare "$root/bin/harness" run gemm/linear/simd --batch 1 --seq 32 --launches 1 --iterations 3 --db h.db

say "Nothing from outside but the C library"
libraries() { bare ldd "$root/bin/harness" | sed -nE 's#.* => ([^(]*) \(.*#\1#; s#/bin/\.\./#/#; /^\//p'; }
libraries | grep -v "^$root/lib/harness/" | sed 's#.*/##' | grep -vE '^lib(c|m|dl|rt|pthread)\.so\.' || echo "none"
check "libbenchmark, cJSON and SQLite are inside" \
  test "$(libraries | grep "^$root/lib/" | grep -cE 'libbenchmark|libcjson|libsqlite3')" -eq 3
check "no CUDA library is linked" not grep -qE 'cuda|cublas|nvidia' <(bare ldd "$root/bin/harness")

say "What else is in it"
count() { find "$root/$1" -type f | wc -l; }
check "a licence text for each package of a library" test "$(count share/harness/licences)" -ge 3
for file in README.md LICENSE ci/gpu.sh ci/gpu_torch.py ci/gpu_table.py docs/formats.md plots/presets; do
  check "$file" test -e "$root/share/harness/$file"
done
CUDA_VISIBLE_DEVICES='' CUDA_HOST=devices=0 "$root/share/harness/ci/gpu.sh" --output gpu >out || echo "gpu.sh: status $?"
check "gpu.sh finds the program beside it" grep -q '^gpu.sh: no GPU to run on' out
