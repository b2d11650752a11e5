# shellcheck shell=bash
# Other people's programs beside our own: measured by name only, absent ones with a reason, and the
# table of ci/peers.sh on a fixture whose ratios can be checked by hand. U-04, S0-15.
script=$CLI/../../ci/peers.sh
export HARNESS_ONEDNN=/nonexistent/libdnnl.so.3 HARNESS_PYTHON=/nonexistent/libpython3.so
export HARNESS_GGML=/nonexistent/ggml

say "By name only"
check "they say so in the list" \
  grep -q '^  gemm/nn/blis .* peer: measured only by name$' <("$HARNESS" list variants)
quiet verify gemm/nn --batch 1 --seq 5 --device cpu:1
check "gemm/nn is verified without them" not grep -q /blis/ "$WORK.log/out"

say "Absent"
t verify 'gemm/nn/onednn/*,n=144,k=48/*' --batch 1 --seq 1 --device cpu:1
t verify 'gemm/nt/ggml/*,n=768,k=256/*' --batch 1 --seq 1 --device cpu:1
t verify gpt/nano/prefill/torch --batch 1 --seq 1 --device cpu:1
t run gemm/nn --variant onednn,naive --batch 1 --seq 2 --launches 1 --iterations 3 --device cpu:1 --json \
  --output run.json >/dev/null
check "what is absent does not hold up the rest" grep -q '"outcome":[[:space:]]*"OK"' run.json
check "and says why" grep -q 'HARNESS_ONEDNN: /nonexistent/libdnnl.so.3' run.json

say "The table"
command -v python3 >/dev/null || skip "no python3"
mkdir peers
cp "$CLI"/../fixtures/peers/* peers/
"$script" --output peers table >"$WORK.log/table" && cat peers/table.md
echo "as on the page:"
cat peers/page.md
check "the script prints what it keeps" cmp -s <(sed -n '/^Machine/,/^results/p' "$WORK.log/table" | head -n -2) peers/table.md
check "table.json has a row a target" test "$(json_length peers/table.json targets)" -eq "$(grep -c 'Target("' "$CLI/../../ci/peers_targets.py")"
sed 's/"outcome": "UNSUPPORTED"/"outcome": "WRONG"/' peers/run-fixture.json >peers/run-wrong.json
status=0
"$script" --output peers --keep kept/wrong.json table >"$WORK.log/table" || status=$?
echo "with a wrong result: status $status, $(grep '^WRONG' "$WORK.log/table")"

say "Tables of pages"
page_script=$CLI/../../ci/peers_page.py
# page ARGUMENT...: the script on the kept runs, and how it ended
page() {
  local status=0
  python3 "$page_script" --records kept "$@" 2>&1 || status=$?
  echo "status $status"
}
cp "$CLI/../fixtures/peers/page.md" .
page page.md
sed -i 's/ types first / types /' page.md
page page.md
check "no run is kept, says the page" test "$(grep -c '^No run has been kept yet.$' page.md)" -eq 4
check "nothing is kept of a wrong run" test ! -e kept/wrong.json
rm peers/run-wrong.json
"$script" --output peers --keep kept/first.json table >"$WORK.log/table"
sed -i 's/cpu-1t/cpu-2t/' peers/run-fixture.json
"$script" --output peers --keep kept/second.json table >"$WORK.log/table"
page --check page.md
page page.md
cat page.md
page --check page.md
sed -i 's/"reached": false/"reached": true/' kept/first.json
page --check page.md
sed -i 's/^<!-- end -->$/<!-- over -->/' page.md
page page.md
printf '<!-- peers: target -->\n<!-- end -->\n' >page.md
page page.md
printf '<!-- peers: types first bf16 -->\n<!-- end -->\n\n| what | ratio |\n|---|---|\n' >page.md
page --check page.md

say "Variables that choose instructions"
cat >stub <<'END'
#!/bin/sh
env | grep -E '^(HARNESS_ISA|OPENBLAS_[A-Z0-9_]*|BLIS_ARCH_TYPE|ONEDNN_MAX_CPU_ISA|DNNL_MAX_CPU_ISA|MKL_ENABLE_INSTRUCTIONS|ATEN_CPU_CAPABILITY)='
echo "done"
END
chmod +x stub
unset OPENBLAS_NUM_THREADS OPENBLAS_BLOCK_FACTOR
OPENBLAS_CORETYPE=Haswell OPENBLAS_L2_SIZE=512 ATEN_CPU_CAPABILITY=avx2 BLIS_ARCH_TYPE='' HARNESS=$PWD/stub \
  "$script" --suite mine --threads 1,2 --output stubbed run 2>&1 | grep -v '^results in\|^$'
check "the program has none of them" test "$(cat stubbed/mine-cpu-*.log)" = "done
done"

say "Bad input"
status=0
"$script" install tabel 2>&1 || status=$?
echo "status $status"
status=0
python3 "$CLI/../../ci/peers_table.py" . 2>&1 || status=$?
echo "status $status"
mkdir cut
head -c 300 peers/run-fixture.json >cut/run-cut.json
status=0
"$script" --output cut table >said 2>&1 || status=$?
echo "a file that is cut: status $status, $(grep -c '^peers_table.py: .*/run-cut.json cannot be read' said) line that names it"
status=0
"$CLI/../../ci/ggml.sh" --help >usage 2>&1 || status=$?
echo "status $status, $(grep -c 'ggml.sh FOLDER' usage) line of use"
