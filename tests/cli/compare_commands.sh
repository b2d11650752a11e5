# shellcheck shell=bash
# Any commands in turn: what is said of them, what is kept, what is around a run, and what is refused.
# shellcheck disable=SC2016  # scripts for other shells
#
# Times are real, so no line with a time is shown: what holds on any machine is asked of the JSON.

# measured ARG...: its JSON in out.json, its exit status in $status.
measured() {
  status=0
  "$HARNESS" compare --json "$@" >out.json 2>err || status=$?
}

# of INDEX KEY...: of one result.
of() { json out.json results "$@"; }

say "What is refused before anything is run"
t compare -- true
t compare --
t compare -- true --versus
t compare -- true --versus no-such-program
t compare -- ./missing --versus true
t compare -- 'sleep 0.1' --versus 'sleep 0.2'
t compare 'sleep 0.1' 'sleep 0.2'
t compare --baseline main -- true --versus true
for option in --run --tuned --changed '--changed-map x'; do
  # shellcheck disable=SC2086  # words of their own
  t compare $option -- true --versus true
done
t compare --images pics -- true --versus true
t compare --image-base https://example.org -- true --versus true
t compare gemm -- true --versus true
t compare --suite ci -- true --versus true
t compare --warmup 2 --baseline main
t compare --prepare true --baseline main
t compare --format junit -- true --versus true
t compare --runs 3 -- true --versus true
t compare --runs 4 --blocks 2 -- true --versus true
t compare --name a --name b --name c -- true --versus true
t compare --prepare a --prepare b --prepare c -- true --versus true
t compare --input missing -- true --versus true
t compare --param n=1,2 -- true --versus true
t compare --param n -- true --versus 'true {n}'
t compare --param n=1:100 -- sh -c 'exit {n}'
t compare --setup 'echo no compiler >&2; exit 4' -- true --versus true
t run 'sleep 0.05'
check "nothing is kept of all that" test ! -e .harness/history.db -o "$("$HARNESS" history list --json | tr -d ' \n')" = '[]'

say "Commands that fail are told by their first run"
t compare -- true --versus sh -c 'echo no such input >&2; exit 3'
t compare -- sh -c 'kill -SEGV $$' --versus true
t compare --timeout 3s -- true --versus sleep 300
echo "did 7" >expected
t compare --expect expected -- echo did 7 --versus echo did 8
measured -- true --versus false
check "in JSON, too" test "$(of 0 outcome)" = FAILED -a "$(json out.json end)" = failed -a $status = 1
t history list

say "Statuses that are fine"
measured --runs 2 --ignore-status -- false --versus true
check "any" test "$(of 0 outcome)" = OK
measured --runs 2 --ignore-codes 3,5 -- sh -c 'exit 5' --versus sh -c 'exit 3'
check "some" test "$(of 1 outcome)" = OK
measured --runs 2 --ignore-codes 3 -- sh -c 'exit 3' --versus sh -c 'exit 4'
check "and no others" test $status = 1

say "One that is slower, whatever else the machine does"
measured --blocks 12 -- sleep 0.01 --versus sleep 1
check "is found" test "$(of 1 comparison verdict)" = regressed
check "by the exit status, too" test $status = 1
check "with how it was found" test "$(of 1 comparison design)" = blocks
check "and in words" grep -qE 'sleep 1 is [0-9.]+x slower than sleep 0.01 \(' out.json
measured --blocks 12 -- sleep 1 --versus sleep 0.01
check "as the first it makes the other faster" test "$(of 1 comparison verdict)" = improved -a $status = 0
measured --runs 8 --delta 50% --fdr 0.0001 -- sleep 0.05 --versus sleep 0.05
check "two equal ones do not alarm" test $status = 0 -o $status = 77
check "so many runs, no more" test "$(of 0 runs)" = 8 -a "$(of 1 runs)" = 8
check "processor time" test "$(of 0 user_ms)" != null

say "By a number that they print"
printf 'echo "rate: $1.$(($$ %% 9)) MB/s"\necho "{\\"lat\\": 1.5, \\"as\\": [\\"%%s\\", \\"7\\"]}"\n' >rate.sh
rate=(--metric 'rate=/rate: (\S+)/' --unit rate=MB/s --better higher)
measured --blocks 12 "${rate[@]}" --metric 'lat=$.lat' --better lat=lower --metric 'kept=$.as[1]' --better kept=none \
  --db rates.db -- sh rate.sh 900 --versus sh rate.sh 600
check "the worse one is found" test "$(of 1 comparison verdict)" = regressed -a $status = 1
check "by the number" test "$(of 1 comparison metric) $(json out.json metric)" = "rate rate"
check "which has its unit" test "$(of 0 numbers rate unit) $(of 0 numbers rate better)" = "MB/s higher"
check "and its value" test "$(of 0 numbers rate value | cut -c 1-3)" = 900
check "in words" grep -qE 'sh rate.sh 600 has 0.6[67]x the rate of sh rate.sh 900 \(0.6[0-9] to 0.6[0-9]\): worse' out.json
check "the other metric beside it" test "$(of 1 further 0 comparison metric) $(of 1 further 0 comparison verdict)" = "lat same"
check "none is kept and not judged" test "$(of 1 numbers kept value) $(json_length out.json metrics)" = "7 2"
measured --blocks 12 "${rate[@]}" --metric p50 --delta p50=900% -- sh rate.sh 600 --versus sh rate.sh 900
check "more is better" test "$(of 1 comparison verdict)" = improved
check "the time only where it is asked for" test "$(of 1 further 0 comparison metric)" = p50
"$HARNESS" compare --blocks 12 "${rate[@]}" -- sh rate.sh 900 --versus sh rate.sh 600 >said 2>/dev/null || true
check "a column" grep -qE 'command .* rate \(MB/s\) ' said
check "and a sentence" grep -qE '^sh rate.sh 600 has 0.6[67]x the rate of ' said
measured --blocks 12 --param n=900,600 "${rate[@]}" -- sh rate.sh '{n}'
check "of values of a parameter, too" test "$(of 1 comparison metric) $(of 1 comparison verdict)" = "rate regressed"
check "the history knows it" grep -qx rate <("$HARNESS" list metrics --names --db rates.db)
t compare --metric 'rate=/rat: (\S+)/' --better higher -- sh rate.sh 1 --versus sh rate.sh 2
t compare --metric 'rate=/rate: (\S+)/' -- sh rate.sh 1 --versus sh rate.sh 2
t compare --metric rate -- true --versus true 2>&1 | cut -c 1-40
t compare --metric p50,, -- true --versus true
t compare --metric 'p50=/a/' --better lower -- true --versus true
t compare --metric 'a=/a/' --metric 'a=/b/' --better lower -- true --versus true
t compare --metric 'rate=/a/' --better lower --baseline main
t compare --better lower --baseline main
t compare --db rates.db --metric 'rate=/a/' --unit s --better lower -- true --versus true

say "In the history"
measured --runs 2 --db kept.db --label mine -- sh -c 'true one' --versus sh -c 'true two' \
  --versus sh -c 'true three'
"$HARNESS" history show 1 --db kept.db >base.json
"$HARNESS" history show 3 --db kept.db >third.json
check "a run each" test "$(of 2 run)" = 3
check "trials" test "$(json third.json runs 0 kind)" = trial
check "of one session" test "$(json base.json runs 0 ab id)" = "$(json third.json runs 0 ab id)"
check "with their sides" test "$(json base.json runs 0 ab side) $(json third.json runs 0 ab side)" = "base head2"
check "their words" test "$(json third.json runs 0 settings command argv 2)" = "true three"
check "their labels" test "$(json third.json runs 0 label)" = "mine head2"
"$HARNESS" history verdicts --db kept.db >decided
check "their verdicts" test "$(grep -cE "'true one' .* → .*'true (two|three)' " decided)" -eq 2
check "which can be decided again" "$HARNESS" compare --replay --db kept.db
"$HARNESS" history verify --db kept.db >/dev/null 2>&1
check "and it is sound" test $? -eq 0
check "the same again from the history" \
  grep -q 'command/sh' <("$HARNESS" compare --baseline "mine base" --head "mine head" --db kept.db --all 2>&1)

say "Parameters: one kernel, with dims and variants"
measured --runs 2 --param n=1,2 --param how=a,b -- sh -c 'true {n} {how}' --versus sh -c 'true {how}'
grep -oE '"key":[[:space:]]*"[^"]*"' out.json | sed -E 's/.*"(command[^"]*)"/\1/; s/-[0-9a-f]{8}/-HASH/' | sort -u
grep -oE '"setting":[[:space:]]*"[^"]*"' out.json | sed -E 's/.*: *//' | sort -u
measured --runs 2 --param x=0.1:0.3:0.1 -- sh -c 'true {x}'
check "values of one command are commands" test "$(json_length out.json commands)" = 3
check "which have their words" test "$(json out.json commands 2 argv 2)" = "true 0.3"
run_keys() { "$HARNESS" run --dry-run "$@" 2>&1 | sed -E 's/-[0-9a-f]{8}/-HASH/'; }
run_keys --param n=1,2 --param how=a,b -- sh -c 'true {n} {how}'

say "Around a run"
: >log
measured --runs 2 --warmup 1 --prepare 'echo p >>log' --conclude 'echo c >>log' \
  --setup 'echo s >>log' --cleanup 'echo e >>log' -- sh -c 'echo r >>log' --versus sh -c 'echo r >>log'
check "in order, each time" test "$(tr -d '\n' <log)" = "sprcprcprcprcprcprce"
: >log
measured --runs 2 --prepare 'echo 1 >>log' --prepare 'echo 2 >>log' -- true --versus true
check "one for each" test "$(sort log | uniq -c | tr -s ' \n' ' ')" = " 3 1 3 2 "
: >log
measured --runs 2 --param n=1,2 --setup 'echo s{n} >>log' --cleanup 'echo e{n} >>log' \
  -- sh -c 'true {n}' --versus sh -c 'true {n}'
check "one setting behind the other" test "$(tr '\n' ' ' <log)" = "s1 e1 s2 e2 "
check "each with its runs" test "$(of 3 run)" = "$(($(of 0 run) + 3))"
echo given >input
measured --runs 2 --input input -- grep -q given --versus grep given
check "standard input" test "$(of 0 outcome)$(of 1 outcome)" = OKOK
measured --runs 2 --shell sh -- 'echo a | grep -q a' --versus 'true && true'
check "a shell" test "$(of 0 outcome)$(of 1 outcome)" = OKOK
measured --runs 2 -- sh -c 'head -c 20000000 /dev/zero; head -c 2000000 /dev/zero >&2' --versus true
check "one that says a lot" test "$(of 0 outcome)" = OK -a "$(wc -c <out.json)" -lt 20000
measured --runs 2 --name first --name second -- true --versus true
check "names" test "$(json out.json commands 1 name)" = second

say "The budget"
measured --budget 1ms -- sleep 0.05 --versus sleep 0.05
check "one block, and nothing can be told" test "$(json out.json end)" = budget -a "$(of 0 runs)" -ge 2 -a $status = 77

say "An interrupt keeps what there is"
"$HARNESS" compare --db broken.db --cleanup 'sleep 0.3; echo clean >>cleaned; exit 3' -- sleep 0.3 --versus sleep 0.3 >out 2>said &
pid=$!
check "it is measuring" wait_for grep -q 'block 1' said
kill -INT $pid
status=0
wait $pid || status=$?
echo "[$status]"
check "and says so" grep -q 'interrupted: what was finished is kept' said
check "what is behind the runs is done all the same, once" test "$(cat cleaned)" = clean
check "and where that fails, it is told" grep -qx 'harness: --cleanup exited with status 3' said

say "Other arguments are another benchmark"
for argument in 1 2; do
  quiet run --iterations 3 --launches 3 --label "words $argument" -- sh -c "true $argument"
done
run_keys -- sh -c 'true 1'
"$HARNESS" compare --baseline "words 1" --head "words 2" --all --json >other.json 2>/dev/null || true
check "which is not compared with the first" \
  test "$(json other.json counts new)$(json other.json counts missing)" = 11
for argument in 1 2; do
  quiet run --iterations 3 --launches 3 --label "with $argument" --name same -- sh -c "true $argument"
done
"$HARNESS" compare --baseline "with 1" --head "with 2" 2>&1 | grep -o 'Program same has.*'
