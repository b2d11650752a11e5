# shellcheck shell=bash
# Any program as a benchmark: a fresh process a sample, its end and its output checked, sizes in its
# arguments, a limit for each run, and all that is done with other benchmarks. U-11.
# shellcheck disable=SC2016,SC2034  # scripts for other shells; loops that only count

cat >work.sh <<'END'
#!/bin/sh
i=0
while [ $i -lt ${1:-100} ]; do i=$((i + 1)); done
echo "did $i"
END
chmod +x work.sh
run() { "$HARNESS" run --iterations 4 --launches 1 --format csv "$@" 2>"$WORK.log/err"; }
rows() {
  sed -nE 's/^.*"?(command\/[^"]*\/process\/warm)"?,.*(OK|WRONG|FAILED|UNSUPPORTED).*/\2 \1/p' |
    sort | uniq -c
}
message() {
  quiet history show latest
  grep -oE '"message":[[:space:]]*"([^"\\]|\\.)*"' "$WORK.log/out" |
    sed -E 's/"message":[[:space:]]*//' | sort -u
}

say "Its name, its key"
run -- ./work.sh | rows
run --name shell -- sh -c 'exit 0' | rows
run --dim n=10,200 --batch 2 -- ./work.sh '{n}{batch}' | rows
names() { for script; do "$HARNESS" run --dry-run -- awk "$script" work.sh; done | sort -u | wc -l; }
check "what else stands in braces is another command" test "$(names '{print $1}' '{print $2}')" -eq 2
check "nobody measured roofs for it" not grep -q roofs "$WORK.log/err"
t run --name 'a b' -- ./work.sh
t run --dim n=1 -- ./work.sh
t run -- ./no-such-program
t run -- no-such-program
t run --
t run gemm -- ./work.sh
t run --device cpu:1 -- ./work.sh
t run --cache cold -- ./work.sh
t run --suite ci -- ./work.sh
t run --expect missing.txt -- ./work.sh
t run --expect missing.txt gemm
t run --expect /dev/zero -- ./work.sh
t run --expect . -- ./work.sh

say "How it ends"
run -- sh -c 'echo some trouble >&2; exit 3' | rows
message
run -- sh -c 'kill -SEGV $$' | rows
message
run --ignore-status --name three -- sh -c 'exit 3' | rows
status=0
run -- false >/dev/null || status=$?
echo "status $status"

say "What it writes"
echo "did 7" >expected
run --expect expected -- ./work.sh 7 | rows
run --expect expected -- ./work.sh 8 | rows
message
run --expect /dev/null -- true | rows
run --expect /dev/null -- ./work.sh 7 | rows
message
check "and none of it comes out here" not grep -q did <("$HARNESS" run --iterations 3 --launches 1 -- ./work.sh 7 2>&1)

say "Prepared before each run"
run --prepare 'touch flag' -- rm flag | rows
run --prepare 'echo nowhere >&2; false' -- true | rows
message

say "A limit of each run: ended with all that it started"
export CLI_TEST_MARK=$$
run --timeout 1s --iterations 3 -- sh -c 'sleep 300 & sleep 300' | rows
message
check "nothing is left" wait_for not marked $$
check "three runs of 1.2 s are within a limit of three" \
  grep -q OK <(run --timeout 3s --iterations 3 -- sleep 1.2)
unset CLI_TEST_MARK

say "Nothing of the harness is handed on"
check "neither settings of OpenMP" grep -q OK <(run -- sh -c '[ -z "$GOMP_SPINCOUNT" ]')
check "nor open files" grep -q OK <(run -- sh -c 'set -- /proc/self/fd/*; [ ! -e /proc/$$/fd/3 ]')
check "nor a processor" grep -q OK <(run -- sh -c "[ \$(nproc) -eq $(nproc) ]")

say "In the history"
"$HARNESS" run --label one --iterations 4 --launches 3 --name work -- ./work.sh 200 >out 2>/dev/null
grep -o 'command/work' out | sort -u
quiet history show one
check "the command" test "$(json "$WORK.log/out" runs 0 settings command argv 1)" = 200
check "the content of the program" grep -qE '"digest":[[:space:]]*"[0-9a-f]{32}"' "$WORK.log/out"
check "processor time" grep -q command_user_ms "$WORK.log/out"
sed -i 's/^i=0/i=0 # changed/' work.sh
quiet run --label two --iterations 4 --launches 3 --name work -- ./work.sh 200
status=0
"$HARNESS" compare --baseline one --head two --all >out 2>&1 || status=$?
check "a verdict, or that there can be none" test $status -eq 0 -o $status -eq 1 -o $status -eq 77
check "of the command" grep -q 'command/work' out
grep -o 'Program work.*' out | sed -E 's/[0-9a-f]{32}/DIGEST/g'
for i in 1 2 3 4 5 6 7 8 9; do quiet run --iterations 3 --launches 1 --name work -- ./work.sh 200; done
check "a series" grep -qE '1 (series )?(quiet|step|drift)|command/work' <("$HARNESS" trend 2>&1)
quiet report --baseline one -o report.html
check "a report" grep -q 'command/work' report.html
if command -v gnuplot >/dev/null; then
  quiet plot latest -o pictures
  check "pictures" test "$(find pictures -name '*.svg' -o -name '*.png' | wc -l)" -gt 0
else
  echo "yes: pictures"
fi
"$HARNESS" history verify >out 2>&1
check "and the history is sound" test $? -eq 0
