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
}
after() {
  check "each number that was asked for is a metric of the history" metrics_are_there
  check "and what it holds is judged like any" harness compare --baseline before --head before --metric rate
  check "the history is sound" harness history verify
}
metrics_are_there() {
  local metric
  harness list metrics --names >"$WORK/metrics"
  grep -qx rate "$WORK/metrics" || return 1
  for metric in openssl:sha256 zstd:zstd_out lz4:lz4_out 7z:mips fio:iops fio:lat sysbench:events \
    stress-ng:bogo python3:join dd:seconds sqlite3:sql; do
    command -v "${metric%%:*}" >/dev/null || continue
    grep -qx "${metric#*:}" "$WORK/metrics" || { echo "no $metric"; return 1; }
  done
}
