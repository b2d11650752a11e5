# shellcheck shell=bash
# Around docs/reading-plots.md: a history of twelve runs, one with a gemm, records, another history.
not_run 'harness plot gcc clang*' 'needs builds by two compilers; test cli.plot_runs groups by label'
before() {
  local nr
  in_path
  command -v gnuplot >/dev/null || skip "there is no gnuplot here"
  project toy
  for nr in $(seq 11); do fake "run$nr"; done
  harness baseline save main >"$WORK/saved"
  mkdir -p other/.harness results
  cp .harness/history.db other/.harness/
  harness export 11 -o results/run.json 2>"$WORK/export"
  harness run gemm/linear/simd --batch 1 --seq 32 --launches 3 --iterations 20 >"$WORK/run" 2>&1
}
after() {
  check "pictures of the history" test -s .harness/plots/kernels/latency-kernels.png
  check "of the records, beside them" test -s results/plots/kernels/latency-kernels.png
  check "of the other history" test -s other/.harness/plots/kernels/latency-kernels.png
}
