# shellcheck shell=bash
# Measured code that does all it can to who measures it: as a plugin and as a program, it forges
# results, floods, forks, hides, hangs, and does not want to end. No result is forged, the other two
# cases of each sweep are OK, limits hold. HARNESS_CASES=N takes so many rows of the table
# besides those that once were found: 1000 are all. U-11, S0-22.
build=$(dirname "$HARNESS")
[ -e "$build/CMakeCache.txt" ] || skip "not a build tree: $build"
compiler=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:[A-Z]*=//p' "$build/CMakeCache.txt")
flags=(-std=gnu11 -D_GNU_SOURCE -O1 -pthread -Wall -Wextra -Werror)
"$compiler" "${flags[@]}" -shared -fPIC -I "$build/include" -o hostile.so \
  "$source/tests/fixtures/guests/hostile.c" || exit 1
"$compiler" "${flags[@]}" -DPROGRAM -o hostile "$source/tests/fixtures/guests/hostile.c" || exit 1
echo "done" >expected.txt

# What, its kind, what becomes of the case that does it, and what its reason says.
table='
forge                   plugin   FAILED   the channel said something
stray                   plugin   FAILED   the channel said something
forge_on_three          plugin   OK
reopen                  plugin   OK
endless_line            plugin   FAILED   the channel said something
close_all               plugin   FAILED   exited with status 2
close_sockets           plugin   FAILED   cannot report
dup_over                plugin   OK
late                    plugin   OK|FAILED
late_thread             plugin   OK
deaf                    plugin   FAILED   no result within 2 s
leave_group             plugin   FAILED   no result within 2 s
leave_session           plugin   FAILED   no result within 2 s
daemons                 plugin   OK
hang_with_daemons       plugin   FAILED   no result within 2 s
fork_many               plugin   OK
fork_bomb               plugin   FAILED   no result within 2 s
run_away                plugin   OK
own_reaper              plugin   FAILED   no result within 2 s
own_namespace           plugin   FAILED   no result within 2 s
sibling                 plugin   FAILED   no result within 2 s
stop_self               plugin   FAILED   no result within 2 s
stop_parent             plugin   OK
kill_parent             plugin   FAILED   died by signal 9
kill_group              plugin   FAILED   died by signal 9
kill_guard_with_daemons plugin   FAILED   died by signal 9
trace_parent            plugin   FAILED   no result within 2 s
end_first_thread        plugin   FAILED   no result within 2 s
fill_alone              plugin   FAILED   out of memory limit
fill_in_orphans         plugin   FAILED   out of memory limit
fill_in_thread          plugin   FAILED   out of memory limit
flood_memfd             plugin   FAILED   out of memory limit
flood_deleted           plugin   FAILED   out of memory limit
flood_shared            plugin   FAILED   out of memory limit
hide_mapped             plugin   FAILED   out of memory limit
hide_page               plugin   FAILED   out of memory limit
hide_many               plugin   FAILED   out of memory limit
flood_errors            plugin   OK
leave                   plugin   FAILED   exited with status 0
lower_limits            plugin   OK
go_elsewhere            plugin   OK
forget_environment      plugin   OK
jump_to_nowhere         plugin   FAILED   died by signal
overflow                plugin   FAILED   died by signal
map_over                plugin   FAILED   died by signal
ignore_children         plugin   OK
exit_never              plugin   OK
exit_crash              plugin   OK
unload_crash            plugin   OK
unload_never            plugin   OK
unload_exit             plugin   OK
load_sleeper            refused  -        leaves a process behind
load_daemon             refused  -        leaves a process behind
load_forge              refused  -        begin
load_words              refused  -        yyyy
load_forge_late         every    FAILED   the channel said something
load_deaf_late          every    FAILED   not loaded within 2 s
load_fill_late          every    FAILED   out of memory limit
load_crash_late         every    FAILED   died by signal
load_exit_late          every    FAILED   exited with status 0
load_deaf_parent        plugin   OK
load_fork_parent        plugin   OK
forge                   program  OK
stray                   program  OK
reopen                  program  OK
endless_line            program  OK
close_all               program  OK
late                    program  OK
deaf                    program  FAILED   no result within 2 s
leave_session           program  FAILED   no result within 2 s
daemons                 program  OK
hang_with_daemons       program  FAILED   no result within 2 s
fork_many               program  OK
fork_bomb               program  FAILED   no result within 2 s
run_away                program  OK
own_reaper              program  FAILED   no result within 2 s
own_namespace           program  FAILED   no result within 2 s
stop_self               program  FAILED   no result within 2 s
stop_parent             program  FAILED   no result within 2 s
kill_parent             program  FAILED   died by signal 9
kill_group              program  FAILED   died by signal 9
kill_guard_with_daemons program  FAILED   died by signal 9
trace_parent            program  FAILED   no result within 2 s
end_first_thread        program  FAILED   no result within 2 s
fill_alone              program  FAILED   out of memory limit
fill_in_orphans         program  FAILED   out of memory limit
fill_in_thread          program  FAILED   out of memory limit
flood_memfd             program  FAILED   out of memory limit
flood_deleted           program  FAILED   out of memory limit
flood_shared            program  FAILED   out of memory limit
hide_mapped             program  FAILED   out of memory limit
hide_page               program  FAILED   out of memory limit
hide_many               program  FAILED   out of memory limit
flood_errors            program  OK
flood_output            expected WRONG    standard output differs
close_all               expected OK|WRONG
leave                   program  OK
'
rows=()
while read -r row; do [ -z "$row" ] || rows+=("$row"); done <<<"$table"

# Memory takes its time to be filled on a busy machine.
limits() { # REASON
  printf '%s ' --memory-limit 1G --launches 1 --iterations 3 --seed 1 --timeout
  case $1 in *' within 2 s') echo 2s ;; *) echo 2m ;; esac
}
measure() { # KIND REASON
  local limits
  read -ra limits <<<"$(limits "$2")"
  case $1 in
    program) "$HARNESS" run "${limits[@]}" --name evil --dim n=1,2,3 -- ./hostile '{n}' ;;
    expected)
      "$HARNESS" run "${limits[@]}" --name evil --dim n=1,2,3 --expect expected.txt \
        -- ./hostile '{n}'
      ;;
    *) "$HARNESS" run "${limits[@]}" --plugin ./hostile.so ;;
  esac
}

# The outcome of the case n=$1.
outcome() {
  grep -oaE "\"key\":\"[^\"]*/n=$1/[^\"]*\",\"outcome\":\"[A-Z]*\"" flat.json |
    sed -E 's/.*"([A-Z]*)"$/\1/'
}
# "it held 1.012 GiB of 1.000 GiB allowed": at most a twentieth more.
within_limit() {
  not grep -q 'of memory limit' run.json ||
    sed -nE 's/.*it held ([0-9.]+) GiB of 1.000 GiB allowed.*/\1/p' run.json |
    awk '{ seen = 1; if ($1 > 1.05) exit 1 } END { exit !seen }'
}
# Its launch, by the harness's own clock: no longer than the limit and what a busy machine adds.
within_time() { # REASON
  local longest sql='SELECT MAX(ended_ms - started_ms) FROM launch WHERE run = (SELECT MAX(id) FROM run)'
  case $1 in *' within 2 s') ;; *) return 0 ;; esac
  if command -v sqlite3 >/dev/null; then
    longest=$(sqlite3 .harness/history.db "$sql")
  else
    longest=$(python3 -c 'import sqlite3, sys
print(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchone()[0])' .harness/history.db "$sql") || return 0
  fi
  [ "$longest" -ge 2000 ] && [ "$longest" -le 15000 ]
}

fail() {
  echo "NO: $*"
  sed 's/^/  /' said.txt
  return 1
}

# try NAME KIND OUTCOME REASON: one row; says what does not hold.
try() {
  local name=$1 kind=$2 wanted=$3 reason=${4:-} status=0 start=$SECONDS n other=OK
  local what="$name as $kind"
  rm -f run.json flat.json
  CLI_TEST_MARK="$$.$name" GUEST=$name measure "$kind" "$reason" >said.txt 2>&1 || status=$?
  [ $((SECONDS - start)) -le 240 ] || fail "$what: took $((SECONDS - start)) s" || return
  not marked "$$.$name" || fail "$what: something is left" || return
  if [ "$kind" = refused ]; then
    [ $status -eq 2 ] && grep -q "$reason" said.txt || fail "$what: status $status" || return
    return 0
  fi
  "$HARNESS" history show latest >run.json 2>>said.txt || fail "$what: status $status" || return
  tr -d '[:space:]' <run.json >flat.json
  not grep -qaF '"samples_ns":[7,7' flat.json || fail "$what: forged" || return
  [ "$kind" != every ] || other=FAILED
  for n in 1 3; do
    [ "$(outcome $n)" = $other ] || fail "$what: n=$n is $(outcome $n)" || return
  done
  [[ "$(outcome 2)" =~ ^($wanted)$ ]] || fail "$what: it is $(outcome 2)" || return
  grep -qF "$reason" run.json || fail "$what: reason" || return
  within_limit || fail "$what: memory" || return 2
  within_time "$reason" || fail "$what: more than a second behind its limit" || return 2
  case $wanted in
    OK) [ $status -eq 0 ] ;;
    WRONG | FAILED) [ $status -eq 1 ] ;;
  esac || fail "$what: status $status"
}

# What was once found to work, always; and of the rest a sample.
known=(
  "forge plugin" "forge program" "endless_line plugin" "leave_group plugin" "load_sleeper refused"
  "fill_in_orphans program" "flood_errors program" "flood_output expected" "unload_crash plugin"
  "late_thread plugin" "load_deaf_late every" "load_deaf_parent plugin" "hide_mapped program"
  "hide_many plugin"
)
sample=${HARNESS_CASES:-3}
[ "$sample" != all ] || sample=${#rows[@]}
[ "$sample" -le ${#rows[@]} ] || sample=${#rows[@]}
seed=$(random_seed)
RANDOM=$seed
# Each row once, in an order of chance.
for ((i = ${#rows[@]} - 1; i > 0; i--)); do
  j=$((RANDOM % (i + 1)))
  row=${rows[i]} rows[i]=${rows[j]} rows[j]=$row
done
tried=0 held=0
try_row() {
  local name kind wanted reason status chance
  read -r name kind wanted reason <<<"$1"
  tried=$((tried + 1))
  # A harness that gets no processor cannot look: memory and time are given three chances.
  # shellcheck disable=SC2034 # it only counts
  for chance in 1 2 3; do
    status=0
    try "$name" "$kind" "$wanted" "$reason" >row.txt || status=$?
    [ $status -eq 2 ] || break
  done
  if [ $status -eq 0 ]; then held=$((held + 1)); else cat row.txt; fi
}
for ((i = 0; i < ${#rows[@]}; i++)); do
  row=${rows[i]}
  read -r name kind _ <<<"$row"
  if [ "$i" -lt "$sample" ] || [[ " ${known[*]/%/,}" == *" $name $kind,"* ]]; then try_row "$row"; fi
done
check "each holds" test $held -eq "$tried"
knock "measured code that forges, floods, forks, hides and hangs" $held $tried \
  "nothing forged, other cases OK, limits held, nothing left (of ${#rows[@]} kinds; seed $seed)"

say "Ended from outside, by whatever signal"
held=0 tried=0
for kind in program plugin; do
  guest=(--plugin ./hostile.so)
  [ $kind = plugin ] || guest=(-- ./hostile '{n}')
  for signal in INT TERM KILL; do
    export CLI_TEST_MARK="$$.$kind.$signal"
    GUEST=hang_with_daemons "$HARNESS" run --launches 1 --iterations 3 --dim n=2 "${guest[@]}" \
      >said.txt 2>&1 &
    pid=$!
    disown $pid
    mark=$CLI_TEST_MARK
    unset CLI_TEST_MARK
    tried=$((tried + 1))
    enough() { [ "$(marked "$mark" | wc -l)" -gt 20 ]; }
    wait_for enough || fail "$kind $signal: it does not begin"
    kill -$signal $pid
    if wait_for not marked "$mark"; then
      held=$((held + 1))
    else
      fail "$kind $signal: something is left"
    fi
  done
done
check "nothing is left" test $held -eq $tried
knock "signals while measured code hides" $held $tried "INT, TERM, KILL: nothing is left"
