# shellcheck shell=bash
# A kind of device that no build has, in the whole program: harness_sycl is the program with the file
# of an accelerator (tests/measure/fake_sycl.c) and its row in the table of devices. Variants of a
# plugin for it are listed, checked, measured, compared, tuned and judged as all others are; what
# nobody has given it is refused in words. U-02.
[ -x "${SYCL_HARNESS:-}" ] || skip "there is no program with a second accelerator"
build=$(dirname "$HARNESS")
compiler=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:[A-Z]*=//p' "$build/CMakeCache.txt")
HARNESS=$SYCL_HARNESS
# make OUT FLAG... FILE
make() {
  local out=$1
  shift
  "$compiler" -std=c99 -Wall -Wextra -Werror -shared -fPIC -O2 -I "$build/include" \
    -I "$source/tests/measure" -DFAKE_SYCL -DDEVICE=HARNESS_SYCL -o "$out" "$@"
}
make k.so "$source/tests/fixtures/plugins/tunable.c"
rows() { sed -nE 's/^.*"?(mine\/[^"]*\/(warm|cold|rotate))"?,.*(OK|WRONG|FAILED|UNSUPPORTED).*/\3 \1/p' | sort | uniq -c; }
run() { "$HARNESS" run --plugin ./k.so --seed 1 --format csv "$@" 2>"$WORK.log/err"; }

say "Listed"
"$HARNESS" list devices | sed -nE 's/^ +(sycl|hip)  +/\1 /p'
t list variants --plugin ./k.so

say "Checked"
"$HARNESS" verify --plugin ./k.so --device sycl --seed 1 | sed -E 's/ +error .*//'
"$HARNESS" verify --plugin ./k.so --param BM=7 --variant tile:BM=7 --device sycl:1 --dim n=64 --seed 1 |
  sed -E 's/ +error .*//'

say "Measured, and found again in the history"
run --device sycl:1 --launches 5 --iterations 10 --label first | rows
quiet history show first
check "with its key" grep -q 'mine/twice/tile/fp32/n=64/sycl1/warm' "$WORK.log/out"
check "no roofs were looked for" not grep -q roofs "$WORK.log/err"
run 'mine/twice/tile/fp32/n=64/sycl1/warm' --device sycl:1 --launches 1 --iterations 3 | rows

say "Compared"
make k.so -DCHAIN=40000 "$source/tests/fixtures/plugins/tunable.c"
run --device sycl:1 --launches 5 --iterations 10 --label slower | rows
"$HARNESS" compare --baseline first --head slower --no-record --json >compared.json || echo "status $?"
json compared.json counts regressed

say "Cold, and copies in turn"
make k.so "$source/tests/fixtures/plugins/tunable.c"
run --device sycl --cache cold,rotate --launches 1 --iterations 20 | rows

say "Tuned for this driver, and no other"
"$HARNESS" tune ./k.so --device sycl --dim n=64 --param BM=16,256 --param stages=2 --tolerance 10% \
  --seed 1 --json >tuned.json 2>"$WORK.log/err" || echo "status $?"
json tuned.json races 0 key
json tuned.json races 0 setting
json tuned.json races 0 driver
run --device sycl --dim n=64 --variant tile --tuned --launches 1 --iterations 3 | rows
grep '^tuned' "$WORK.log/err" | sed -E 's/[0-9]{4}-..-../DAY/'
FAKE_SYCL_DRIVER=2.0 t run --plugin ./k.so --tuned --device sycl --dim n=64 --variant tile

# Its device works in a process beside the one that is judged, and goes on where that is stopped.
small=(--spec gemm/nt --dim 'batch=1,seq=5,n=24,k=32' --device sycl --rounds 1 --iterations 3 --other-shapes 1)
judge() { "$HARNESS" judge "$@" "${small[@]}" --timeout 30s; }
# Lines "NAME VERDICT [FAULT]".
verdicts() {
  sed -nE 's/^[a-z_/]+\/([a-z0-9_]+)\/[a-z0-9]+: (VALID|INVALID)(, ([a-z]+): .*)?$/\1 \2 \4/p' | sed 's/ $//'
}
# once_more FILE PLUGIN VERDICT: those with this verdict are judged again: a busy machine may not have
# looked in time, or not let the device's process have its turn.
once_more() {
  local name
  for name in $(verdicts <"$1" | sed -nE "s/ $3( .*)?$//p"); do
    judge "$2" --variant "$name" >again 2>/dev/null || true
    sed -i "s|^gemm/nt/$name/.*|$(grep -m 1 "^gemm/nt/$name/" again)|" "$1"
  done
}
make honest.so -std=gnu99 -Wl,-z,now "$source/tests/judge/sycl_honest.c"
make cheats.so -std=gnu99 -Wl,-z,now -pthread "$source/tests/judge/sycl_cheats.c"

say "Judged: honest ones"
echo of the device >fake_sycl.device
judge ./honest.so >honest 2>err || echo "status $?"
! grep seccomp err || skip "the kernel has no seccomp"
cat err
once_more honest ./honest.so INVALID
verdicts <honest
grep -m 1 'UNSUPPORTED' honest | sed -E 's/.*(UNSUPPORTED)/\1/'

say "Its driver's settings and its device's file are there"
by_its_driver() { FAKE_SYCL_DRIVER=2.0 judge ./honest.so --variant by_its_driver --json >judged.json; }
by_its_driver || by_its_driver || echo "status $?"
json judged.json judgements 0 valid
json judged.json judgements 0 device
json judged.json judgements 0 beyond_reach 0 name
check "its device has been written to" grep -q '^go' fake_sycl.device
check "there is a time" grep -qE '"ns":[[:space:]]*[1-9]' judged.json

say "Judged: known cheats"
judge ./cheats.so >cheats 2>err || echo "status $?"
cat err
once_more cheats ./cheats.so VALID
verdicts <cheats | sed 's/^\(work_for_the_next INVALID\) \(unwritten\|wrong\)$/\1 unwritten or wrong/' | tee found
check "none is valid" not grep -q ' VALID' found
# shellcheck disable=SC2016  # backquotes of Markdown
sed -nE 's/^\| `([a-z0-9_]+)`[^|]*\| ([a-z ]+) \| .* \|$/\1 INVALID \2/p' "$source/docs/judge-cuda.md" >documented
check "they are found as on a GPU" not grep -vxFf documented found
grep bad_launch cheats | grep -o "submit.*"

say "What nobody has given it"
t roofline --device sycl
t run --plugin ./k.so --device hip
t run --plugin ./k.so --device sycl:2
quiet plugin new product --like gemm/nn
sed -i 's/HARNESS_CPU/HARNESS_FAKE/' product.c
make product.so product.c
t judge ./product.so --spec gemm/nn --device fake
