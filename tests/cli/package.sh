# shellcheck shell=bash
# The package runs where it is unpacked, without the libraries of the machine that made it. S4-28.
build=$(dirname "$HARNESS")
if ldd "$HARNESS" | grep -qE 'lib[at]san|libubsan'; then skip "sanitizers are not packed"; fi
[ -e "$build/CPackConfig.cmake" ] || skip "not a build tree: $build"

# pack FOLDER
pack() {
  "$(dirname "$CMAKE")/cpack" --config "$build/CPackConfig.cmake" -D CPACK_HARNESS_LEVEL=1 -B "$1" >"$WORK.log/cpack" 2>&1 ||
    cat "$WORK.log/cpack"
}
export SOURCE_DATE_EPOCH=1700000000
pack first
mkdir "un packed"
tar -xzf first/*.tar.gz -C "un packed" --strip-components=1
root="$PWD/un packed"

say "Packed twice: the same bytes, whoever packs it"
(umask 077 && TZ=Asia/Tokyo pack second)
check "the same" cmp first/*.tar.gz second/*.tar.gz
check "its files are nobody's and of that time" not grep -vqE '^[^ ]+ 0/0 +[0-9]+ 2023-11-14 22:13 ' \
  <(tar -tvzf first/*.tar.gz --numeric-owner)
paths() { tar -tzf first/*.tar.gz | sed 's#/$##; s#/#\x01#g'; } # a folder comes before what is in it
check "and in order" diff <(paths) <(paths | LC_ALL=C sort)
rm -rf first second

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
if [ -e "$root/lib/harness/libopenblas.so.0" ]; then
  opened=$(bare LD_DEBUG=files "$root/bin/harness" verify gemm/nt/openblas --batch 1 --seq 8 2>&1 || true)
  check "OpenBLAS is opened from inside" grep -qF "$root/bin/../lib/harness/libopenblas.so.0" <(echo "$opened")
  check "and computes" grep -q ' 0 wrong, 0 failed, 0 unsupported$' <(echo "$opened")
  check "with what it needs" not grep -E '=> /(usr/)?lib.*(gfortran|quadmath)' \
    <(LD_LIBRARY_PATH=$root/lib/harness ldd "$root/lib/harness/libopenblas.so.0")
fi
check "no CUDA library is linked" not grep -qE 'cuda|cublas|nvidia' <(bare ldd "$root/bin/harness")

say "What else is in it"
if command -v python3 >/dev/null; then
  check "links of its pages lead somewhere" python3 "$CLI/../guides/links.py" "$root/share/harness"
else
  echo "skipped: no python3"
fi
count() { find "$root/$1" -type f | wc -l; }
check "a licence text for each package of a library" test "$(count share/harness/licences)" -ge 3
for file in README.md CHANGELOG.md LICENSE ctest/perf.sh ci/docker/Dockerfile ci/kubernetes/history.yaml examples/perf_test/CMakeLists.txt ci/gpu.sh ci/gpu_torch.py ci/gpu_table.py ci/gpu_races.py docs/formats.md plots/presets; do
  check "$file" test -e "$root/share/harness/$file"
done
CUDA_VISIBLE_DEVICES='' CUDA_HOST=devices=0 "$root/share/harness/ci/gpu.sh" --output gpu >out || echo "gpu.sh: status $?"
check "gpu.sh finds the program beside it" grep -q '^gpu.sh: no GPU to run on' out
for file in man/man1/harness.1 man/man1/harness-run.1 bash-completion/completions/harness \
  zsh/site-functions/_harness fish/vendor_completions.d/harness.fish; do
  check "$file" test -s "$root/share/$file"
done
check "a page for each command" test "$(count share/man/man1)" -eq \
  "$(($(bare "$root/bin/harness" help | sed -n '/^commands:/,/^$/p' | grep -c '^  [a-z]') + 1))"
check "the CMake package" test -s "$(find "$root/lib" -name harness-config.cmake)"
