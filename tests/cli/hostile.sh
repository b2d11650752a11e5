# shellcheck shell=bash
# Names that nobody should give, from files and from the command line: no command runs, tables stay
# tables, XML and JSON stay valid, nobody is called. S0-04, S0-18, S0-19, S1-05, U-07.

# shellcheck disable=SC2016  # nothing here is meant to expand

fake seed=1 --launches 1 # there must be a history

# As they stand in JSON. Any command among them would make a file PWNED.
names=(
  '`touch PWNED`' '$(touch PWNED)' "'; system 'touch PWNED'; '" '\"; system(\"touch PWNED\"); \"'
  '</script></text><b>' 'a|b|c' '@octocat #1 GH-2' '![x](y)' '<!-- --> ]]>' 'two\nlines\n```\n| x |'
  '\u202e rtl' '::set-output name=x::y' '##[error]z' $'\xff\xfe bad' '*b* ~~d~~ $x$' '%d %n {/Symbol a}'
  '=cmd()' 'EOD'
)
huge=$(printf '%-10240s' '@all | `touch PWNED` ' | tr ' ' '\140')

# text OFFSET: one of the names.
text() { printf '%s' "${names[$1 % ${#names[@]}]}"; }

# measurement KEY NS LAUNCH
measurement() {
  printf '{"key":"%s","launch":%d,"outcome":"OK","batch":1,"flops":1e6,"bytes":1e5,' "$1" "$3"
  printf '"samples_ns":[%d,%d,%d,%d]},\n' "$2" $(($2 + 30)) $(($2 + 60)) $(($2 + 20))
}

# records OFFSET SLOW: a run in which every text is one of the names; each third benchmark takes
# SLOW % of the usual time, and one is WRONG.
records() {
  local launch i
  printf '{"schema_version":1,"runs":[{"uuid":"%s","started_ms":%d,"ended_ms":1790000000001,' \
    "$(text "$1" | head -c 20)" $((1790000000000 + $1))
  printf '"suite":"%s","label":"%s","machine":{"id":"m","class_name":"%s",' \
    "$(text $(($1 + 1)))" "$(text $(($1 + 2)))" "$(text 0)"
  printf '"cpu":"%s","gpu":"%s","cores":2,"threads":2},' "$(text $(($1 + 3)))" "$(text $(($1 + 4)))"
  printf '"build":{"version":"%s","commit":"%s","branch":"%s","compiler":"%s","flags":"%s"},' \
    "$(text $(($1 + 5)))" "$(text $(($1 + 6)))" "$(text $(($1 + 7)))" "$(text $(($1 + 8)))" \
    "$(text $(($1 + 9)))"
  printf '"environment":{"%s":"%s"},"measurements":[\n' "$(text $(($1 + 10)))" "$(text $(($1 + 11)))"
  for launch in 0 1 2 3 4; do
    for i in "${!names[@]}"; do
      measurement "$(text "$i") $i/$(text $((i + 1)))/fp32/batch=4,seq=64/cpu-2t/warm" \
        $((i % 3 ? 100000 : 1000 * $2)) $launch
    done
    printf '{"key":"wrong","launch":%d,"outcome":"WRONG","message":"%s"}%s\n' $launch "$huge" \
      "$([ $launch -eq 4 ] || echo ,)"
  done
  printf ']}],"ceilings":[]}\n'
}

records 0 100 >base.json
records 1 120 >head.json

no_command_ran() { [ -z "$(find . -name 'PWNED*')" ]; }

# Each table has as many bars in every row as in its title.
tables_hold() {
  awk -F'|' '/^\|/ { if (!n) n = NF; if (NF != n) exit 1; rows++; next } { n = 0 }
    END { if (rows < 3) exit 1 }' "$1"
}

# No line that a CI system would obey, no control character, valid UTF-8.
plain() {
  not grep -qE '^ *::|##\[' "$1" && not grep -q '[[:cntrl:]]' "$1" && iconv -f utf-8 -t utf-16 "$1"
}

nobody_called() { not grep -qE '@[[:alnum:]]|(^|[^&])#[0-9]' "$1"; }

say "A comparison in every form"
for form in text markdown github json junit; do
  "$HARNESS" compare --baseline ./base.json --head ./head.json --any-machine --all --format $form \
    -o "out.$form"
  echo "$form: exit status $?"
done
for form in text markdown github; do check "$form is plain" plain out.$form; done
for form in markdown github; do
  check "$form keeps its tables" tables_hold out.$form
  check "$form mentions nobody" nobody_called out.$form
done
check "the comment fits" test "$(wc -c <out.github)" -le 60000
check "its marker is one line" grep -qxE '<!-- harness:[A-Za-z0-9._-]+ -->' out.github
check "its blocks of code are closed" test $(($(grep -c '^```' out.github) % 2)) -eq 0
check "JSON is valid" json_length out.json rows
check "JSON is UTF-8" iconv -f utf-8 -t utf-16 out.json
if command -v xmllint >/dev/null; then xmllint --noout out.junit || echo "NO: xmllint takes it"; fi

say "Pictures"
if command -v gnuplot >/dev/null; then
  quiet plot ./base.json ./head.json --format svg -o plots
  fact "some are drawn" test -n "$(ls plots/*/*.svg)"
  fact "gnuplot liked every script" not grep -q gnuplot plots/summary.txt
  if command -v xmllint >/dev/null; then
    for svg in plots/*/*.svg; do xmllint --noout "$svg" || echo "NO: xmllint takes $svg"; done
  fi
else
  echo "skipped: gnuplot is not installed"
fi

say "Labels, notes and reasons in the history"
label='`touch PWNED` | @all ::x $(touch PWNED) <b>'
fake seed=1 --launches 3 --batch 1,2 --label "$label"
fake seed=2,slow=1.2,only=2 --launches 3 --batch 1,2 --label "::set-output name=x::y"
quiet baseline save evil --ref "label:$label" --note "$label"
"$HARNESS" compare --baseline "label:$label" --head "label:::set-output name=x::y" \
  --format github -o label.md
"$HARNESS" baseline accept null/copy/right/fp32/batch=2,seq=16/fake/warm \
  --reason "@all | \`x\` <!--" >accept.txt 2>&1
"$HARNESS" compare --baseline "label:$label" --head "label:::set-output name=x::y" \
  --format github -o accepted.md
for file in label.md accepted.md; do
  check "$file keeps its tables" tables_hold $file
  check "$file mentions nobody" nobody_called <(sed '/^```sh/,/^```$/d' $file)
done
for command in "history list" "baseline list" "baseline accepted" "history verdicts"; do
  # shellcheck disable=SC2086
  "$HARNESS" $command >list.txt
  check "$command is plain" plain list.txt
done

say "Texts that somebody types to be kept are plain ones"
state() { "$HARNESS" history show latest && "$HARNESS" history list && "$HARNESS" baseline list &&
  "$HARNESS" baseline accepted; }
state >before.txt
echo '{"context": {"date": "2026-01-02T03:04:05+00:00"}, "benchmarks": [{"name": "BM", "run_name": "BM",
  "run_type": "iteration", "iterations": 9, "real_time": 1.0, "cpu_time": 1.0, "time_unit": "ns"}]}' >gb.json
# refuses OPTION COMMAND...: with texts that are none, and takes one that is.
refuses() {
  local option=$1 text status
  shift
  for text in $'a\e[31mb' $'a\xe2\x80\xaeb' $'a\nb' $'a\xe2\x80\x8bb' $'a\xff'; do
    status=0
    "$HARNESS" "$@" "$option" "$text" >out.txt 2>err.txt || status=$?
    [ $status -eq 2 ] && grep -q 'holds a control character' err.txt || return 1
  done
}
case=null/copy/right/fp32/batch=2,seq=16/fake/warm
run=(run null/copy/right --device "$FAKE" --batch 1 --launches 1 --iterations 5)
check "run --label" refuses --label "${run[@]}"
check "run --sweep" refuses --sweep "${run[@]}" --shard 1/2
check "profile --label" refuses --label profile pointwise/gelu/naive --batch 1 --seq 8 --launches 1
check "baseline save --note" refuses --note baseline save third
check "baseline accept --reason" refuses --reason baseline accept $case
check "baseline accept --by" refuses --by baseline accept $case --reason x
for option in label commit branch project in-turn; do
  check "import --$option" refuses --$option import gb.json
done
check "history annotate" refuses latest history annotate
state >after.txt
check "nothing of it is kept" cmp before.txt after.txt

say "Nothing ran"
check "no command ran" no_command_ran
knock_checks "names that are commands, markup, control characters" "no command runs, all outputs stay valid"
