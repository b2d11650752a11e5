# shellcheck shell=bash
# What there is. U-03, S0-01, S0-09.

for section in kernels variants models suites metrics figures devices machines; do
  rows=$("$HARNESS" list "$section" | grep -c '^  ')
  "$HARNESS" list "$section" --json >list.json
  check "$section: as many in JSON as in text, and some" \
    test "$rows" -gt 0 -a "$rows" -eq "$(json_length list.json "$section")"
done
check "list without arguments has all sections" \
  test "$("$HARNESS" list | grep -c '^[a-z]')" -eq 8

has() { "$HARNESS" list "$1" | grep -qE "^  $2 +[^ ]"; }
for kernel in gemm/linear gemm/nn attention/causal attention/full layernorm/plain pointwise/gelu \
  pointwise/bias pointwise/residual embedding/gpt gpt/nano/prefill gpt/tile-large/decode; do
  check "kernel $kernel" has kernels $kernel
done
check "variant gemm/linear/naive" has variants gemm/linear/naive
check "variant gemm/linear/simd" has variants gemm/linear/simd
cuda=$("$HARNESS" list variants --json | grep -cE '"device":[[:space:]]*"cuda"')
check "each CUDA variant says whether a device has verified it" \
  test "$cuda" -eq "$("$HARNESS" list variants | grep -cE '  (unverified on a device|verified |not right )')"
# Its library is looked at by a child: nothing that does not compute loads it.
if "$HARNESS" list variants | grep -q '^  gemm/nn/openblas '; then
  absent() { HARNESS_OPENBLAS=/nonexistent/libopenblas.so.0 "$HARNESS" list variants "$@"; }
  check "each variant of OpenBLAS says that it is not here" test "$(absent | grep '/openblas ' |
    grep -c ' not here: HARNESS_OPENBLAS: /nonexistent/libopenblas.so.0')" \
    -eq "$(absent | grep -c '/openblas ')"
  check "in JSON, too" grep -q '"available":[[:space:]]*false' <(absent --json)
  # The loader has one descriptor to open libraries with; a child needs two more.
  few() { bash -c 'exec 3>&-; ulimit -n 4 && exec "$@"' few "$HARNESS" list variants "$@"; }
  check "it is not blamed where no child can be had" \
    not grep -qE 'its library|"available":[[:space:]]*false' <(few --json 2>/dev/null)
  check "which is told" grep -q 'is not known: .*Too many open files' <(few 2>&1 >/dev/null)
  check "and says nothing where it is" not grep -q 'not here' <("$HARNESS" list variants)
else
  for fact in "each variant of OpenBLAS says that it is not here" "in JSON, too" \
    "it is not blamed where no child can be had" "which is told" "and says nothing where it is"; do
    check "$fact" true # not built with it
  done
fi
check "what is not built says why" not grep -qE '^  [^ ]+ +not built$' <("$HARNESS" list variants)
check "variants that the tests misuse are hidden" not grep -q ' null/' <("$HARNESS" list variants)
for suite in quick ci full; do check "suite $suite" has suites $suite; done
for figure in roofline trend comparison; do check "figure $figure" has figures $figure; done
"$HARNESS" list figures --json >list.json
for member in type modes section title; do
  check "every figure has its $member" \
    test "$(grep -c "\"$member\"" list.json)" -eq "$(json_length list.json figures)"
done
check "and says them to people" test "$("$HARNESS" list figures | grep -cE '^  [^ ]+ +[a-z]+  +[a-z, ]+  +[a-z]+  +[^ ]')" \
  -eq "$(json_length list.json figures)"
for metric in p50 p99 gflops; do check "metric $metric" has metrics $metric; done
"$HARNESS" list models | grep -E '^  (nano|micro|mini|tile-small|tile-medium|tile-large|gpt2) '

say "Unknown"
t list kernel
t list xyzzy
t list models suits
