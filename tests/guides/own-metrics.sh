# shellcheck shell=bash
# Around docs/guides/own-metrics.md: ten programs of others, as far as they are installed. U-05, U-11.
tools="openssl zstd lz4 fio sysbench stress-ng python3 perl dd sqlite3"
before() {
  in_path
  seq 20000 >numbers
  local tool
  for tool in $tools; do
    command -v "$tool" >/dev/null ||
      not_run "harness compare --budget 5m --name*$tool *" "maybe: skipped: there is no $tool here"
  done
  # A second a run: in a quick look the others stand for it.
  quick=""
  case ${HARNESS_TRIALS:-1} in
    0*) quick="openssl" ;;
  esac
  for tool in $quick; do
    not_run "harness compare --budget 5m --name*$tool *" "maybe: skipped: HARNESS_TRIALS is below 1, and $tool takes long"
  done
}
after() {
  check "each number that was asked for is a metric of the history" metrics_are_there
  check "and what it holds is judged like any" it_is_judged
  check "what is slower is red" they_are_red
  check "so is the change" test "$(cat project/left/status)" = 1
  check "and the comment says by what" grep -q -- "--metric 'rate=/rate: " project/left/comment.md
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
  for metric in openssl:sha256 zstd:zstd_in lz4:lz4_in fio:lat sysbench:events stress-ng:bogo \
    python3:join perl:perl dd:seconds sqlite3:sql; do
    case " $quick " in *" ${metric%%:*} "*) continue ;; esac
    command -v "${metric%%:*}" >/dev/null || continue
    grep -qx "${metric#*:}" "$WORK/metrics" || { echo "no $metric"; return 1; }
  done
}
# All of them: each planted difference is one of several times, and what is told is no time of this
# machine but whether these programs differ.
they_are_red() {
  local tool red there=0
  for tool in $tools; do
    case " $quick " in *" $tool "*) continue ;; esac
    ! command -v "$tool" >/dev/null || there=$((there + 1))
  done
  harness history verdicts --json >"$WORK/verdicts.json"
  red=$(grep -cE '"exit_status":[[:space:]]*1(,|$)' "$WORK/verdicts.json")
  echo "$red of $there are red"
  [ "$red" -ge "$there" ]
}
