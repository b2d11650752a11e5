# shellcheck shell=bash
# The shell in which run.sh executes a page. Its own names begin with guide_, so that the page's
# variables are the page's.
# shellcheck source=tests/guides/lib.sh
. "$GUIDES/lib.sh"
exec 3>&1 # for stand-ins that have something to tell
before() { :; }
after() { :; }
# shellcheck source=/dev/null
[ ! -e "$SETTING" ] || . "$SETTING"
before
guide_status=0 guide_last=0 guide_run=0

for guide_step in "$STEPS"/*.sh; do
  guide_step=${guide_step%.sh}
  if guide_reason=$(reason_not_to_run "$(cat "$guide_step.sh")"); then
    printf 'not run: %s: %s\n' "$guide_reason" "$(head -n 1 "$guide_step.sh")"
    guide_last=0
    continue
  fi
  guide_started=${EPOCHREALTIME/./}
  # shellcheck source=/dev/null
  { set_status "$guide_last"; . "$guide_step.sh"; } >"$guide_step.out" 2>"$guide_step.err"
  guide_last=$?
  guide_run=$((guide_run + 1))
  echo "$guide_last" >"$guide_step.status"
  printf '%5d ms  %s\n' $(((${EPOCHREALTIME/./} - guide_started) / 1000)) \
    "$(head -n 1 "$guide_step.sh")"
  case " $(cat "$guide_step.allowed") " in *" $guide_last "*) continue ;; esac
  echo "line $(cat "$guide_step.line"): exit status $guide_last, not $(cat "$guide_step.allowed")"
  cat "$guide_step.sh" "$guide_step.out" "$guide_step.err"
  guide_status=1
  break
done
[ "$guide_status" -ne 0 ] || after || guide_status=1
[ ! -e "$WORK/failed" ] || guide_status=1
unused_patterns || guide_status=1
# shellcheck disable=SC2046  # a list of numbers
[ -z "$(jobs -p)" ] || kill $(jobs -p)
echo "$guide_run commands executed, $(wc -l <"$WORK/not-run") not run"
exit "$guide_status"
