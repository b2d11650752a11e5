# shellcheck shell=bash
# Around docs/guides/own-metrics.md: ten programs of others, as far as they are installed. U-05, U-11.
before() {
  in_path
  seq 300000 >numbers
  local tool
  for tool in openssl zstd lz4 7z fio sysbench stress-ng python3 dd sqlite3; do
    command -v "$tool" >/dev/null ||
      not_run "harness run --name*$tool *" "maybe: skipped: there is no $tool here"
  done
  # Twenty seconds and more each: in a quick look the others stand for them.
  quick=""
  case ${HARNESS_TRIALS:-1} in
    0*) quick="zstd lz4 7z" ;;
  esac
  for tool in $quick; do
    not_run "harness run --name*$tool *" "maybe: skipped: HARNESS_TRIALS is below 1, and $tool takes long"
  done
}
after() {
  check "each number that was asked for is a metric of the history" metrics_are_there
  check "and what it holds is judged like any" it_is_judged
  check "the history is sound" harness history verify
}
it_is_judged() {
  local status=0
  harness compare --baseline before --head after --metric rate >"$WORK/judged" || status=$?
  [ "$status" -eq 0 ] || [ "$status" -eq 77 ] && grep -q '(rate' "$WORK/judged"
}
metrics_are_there() {
  local metric
  harness list metrics --names >"$WORK/metrics"
  grep -qx rate "$WORK/metrics" || return 1
  for metric in openssl:sha256 zstd:zstd_out lz4:lz4_out 7z:mips fio:iops fio:lat sysbench:events \
    stress-ng:bogo python3:join dd:seconds sqlite3:sql; do
    case " $quick " in *" ${metric%%:*} "*) continue ;; esac
    command -v "${metric%%:*}" >/dev/null || continue
    grep -qx "${metric#*:}" "$WORK/metrics" || { echo "no $metric"; return 1; }
  done
}
