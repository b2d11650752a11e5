# shellcheck shell=bash
# What a program prints of itself: found, kept, judged, listed, exported; and refused where it is
# none, before anything is measured where that can be. U-05, U-06, U-11.
# shellcheck disable=SC2016  # scripts for other shells

run() { "$HARNESS" run --db n.db --launches 3 --iterations 2 "$@" 2>"$WORK.log/err"; }
numbers() { sed -nE 's/^command\/[^ ]+ exec +([a-z_]+ +[0-9.].*)$/\1/p' | tr -s ' ' | grep -E 'higher|lower|none'; }
says() { run --name "$1" --format json "${@:2}" | grep -oE '"message":[[:space:]]*"([^"\\]|\\.)*"' | head -1; }

say "In lines, in JSON, on standard error"
run --metric 'a=/a (\S+)/' --metric 'b=/b (\S+)/max' --metric 'c=/c (\S+)/' --unit a=x/s --unit c=s \
  --better higher --better c=lower --better b=none -- sh -c 'echo a 1; echo a 2; echo b 9; echo b 3; echo c 0.5 >&2' | numbers
run --name json --metric 'd=$.runs[-1].rate' --better higher -- sh -c 'echo hello; echo "{\"runs\":[{\"rate\":1},{\"rate\":2.5}]}"' | numbers

say "Listed with the history that has them, and only there"
"$HARNESS" list metrics --db n.db | grep -E '^  [abcd] '
check "another history has none" not grep -qE '^  [abcd] ' <("$HARNESS" list metrics --db none.db)

say "Judged"
cat >rate.sh <<'EOF'
#!/bin/sh
echo "rate: $1.$(($$ % 9)) MB/s"
EOF
chmod +x rate.sh
gate() { run --label "$1" --launches 5 --iterations 2 --name rate --metric 'rate=/rate: (\S+)/' --unit MB/s --better higher -- ./rate.sh "$2" >/dev/null; }
gate base 900
gate same 900
gate worse 700
gate better 1100
# What a busy machine leaves undecided is told with its change all the same.
changed() { "$HARNESS" compare --db n.db --baseline base --head "$1" --metric rate --json >out 2>/dev/null || true; grep -oE '"(worse|change)":[[:space:]]*(-?0\.[0-9]|[a-z]+)' out | tr -d '[:space:]'; echo; }
changed worse
changed better
check "the change is told with the unit's numbers" grep -qE '"metric":[[:space:]]*"rate"' out
t compare --db n.db --baseline base --head same --metric rat
t compare --db n.db --baseline base --head same --metric b
check "trends take it" grep -q "(rate)" <("$HARNESS" trend --db n.db --metric rate)
echo '{ "name": "own", "title": "rate", "type": "runs", "y": "rate", "mode": "multi" }' >own.json
check "so does a figure of one's own" "$HARNESS" plot worse --db n.db --preset own.json --print-config
"$HARNESS" export --db n.db --format csv worse 2>/dev/null | sed -n '1s/.*message,//p; 2s/.*,\([0-9]*\)\.[0-9]*\r*$/\1/p' | tr -d '\r'
check "the page has it" grep -q '"id":"rate"' <("$HARNESS" report worse --db n.db -o page.html >/dev/null 2>&1; cat page.html)

say "From 0 to more, and back"
for allocations in 0 3; do
  run --label "of-$allocations" --launches 3 --iterations 2 --name counted --metric 'allocations=/allocations: (\S+)/' \
    --better lower -- echo "allocations: $allocations" >/dev/null
done
counted() { "$HARNESS" compare --db n.db --baseline "$1" --head "$2" --metric allocations 2>&1 | grep -E 'command/' | tr -s ' '; }
counted of-3 of-0
counted of-0 of-3
quiet baseline accept --db n.db 'command/counted*' --metric allocations --reason 'it has a list now'
"$HARNESS" compare --db n.db --baseline of-0 --head of-3 --metric allocations >out || echo "status $?"
check "and it is accepted" grep -q 'it has a list now' out
check "verdicts can be replayed" "$HARNESS" compare --db n.db --replay

say "Below 0"
for score in -3 -2; do
  run --label "score$score" --launches 3 --iterations 2 --name scored --metric 'score=/score: (\S+)/' \
    --better higher -- echo "score: $score" >/dev/null
done
"$HARNESS" compare --db n.db --baseline score-3 --head score-2 --metric score 2>&1 | grep -E 'command/|fewer' | tr -s ' '

say "From file to file"
"$HARNESS" export --db n.db --format json -o run.json worse 2>/dev/null
"$HARNESS" compare --db n.db --baseline base --head run.json --metric rate --json >out 2>/dev/null || true
check "a file brings it" grep -qE '"worse":[[:space:]]*true' out
quiet history merge --db m.db n.db
check "merged" grep -qE '^  rate ' <("$HARNESS" list metrics --db m.db)
check "and sound" "$HARNESS" history verify --db m.db

say "Refused before anything is measured"
t run --metric 'x=/a/' -- true
t run --metric 'x=/a/' --better up -- true
t run --metric 'x=/a/' --better y=lower -- true
t run --metric 'x=/(/' --better lower -- true
t run --metric 'x=/.*?y/' --better lower -- true
t run --metric 'x=$.' --better lower -- true
t run --metric 'p50=/a/' --better lower -- true
t run --metric 'batch=/a/' --better lower -- true
t run --metric 'x=/a/' --metric 'x=/b/' --better lower -- true
t run --metric x --better lower -- true
t run --better lower -- true
t run --metric 'x=/a/' --better lower gemm
t run --db n.db --metric 'rate=/a/' --unit s --better lower -- true

say "FAILED where it is not there"
says none --metric 'x=/x (\S+)/' --better lower -- echo y
says text --metric 'x=/x (\S+)/' --better lower -- echo x fast
says silent --metric 'x=/x (\S+)/' --better lower -- true
says path --metric 'x=$.a.b' --better lower -- echo '{"a":{"c":1}}'
says nojson --metric 'x=$.a' --better lower -- echo hello

say "However much it prints"
run --launches 1 --iterations 1 --memory-limit 100M --name much --metric 'x=/^x (\S+)/' --better lower -- \
  sh -c 'head -c 20000000 /dev/zero | tr "\0" "\n"; echo x 3; head -c 20000000 /dev/zero | tr "\0" a >&2' | numbers
