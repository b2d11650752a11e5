# shellcheck shell=bash
# Terminals of 60 to 200 columns, made for real: no line is wider, no name is lost, no two look alike;
# progress is one line; TERM=dumb gets no escape codes. terminal.py has the table of cases. S0-26, U-03.
command -v python3 >/dev/null || skip "there is no python3 to make a terminal with"

python3 -B "$CLI/terminal.py" strangers old.json 1
python3 -B "$CLI/terminal.py" strangers new.json 1.2
quiet import old.json --label old
quiet import new.json --label new
for i in $(seq 1 12); do
  fake "seed=$i,sd=0.01" --launches 1 --batch 4,5 --seq 8
done
quiet baseline save main --note 'the runs that everything else is compared with until the next release'
quiet baseline save a/name/that/is/about/as/long/as/anybody/would/ever/choose/for/a/baseline/of/a/branch
python3 -c 'import json; json.dump([100.0 + i % 3 + (9 if i > 20 else 0) for i in range(40)], open("series.json", "w"))'
quiet history annotate latest 'the night after the new firmware, whose clock is a little higher than before'
python3 -B "$CLI/terminal.py" try "$HARNESS"

say "Into a pipe it is whole, whatever the environment says"
check "help" cmp <(COLUMNS=40 "$HARNESS" help run) <("$HARNESS" help run)
check "list" cmp <(COLUMNS=40 "$HARNESS" list variants) <("$HARNESS" list variants)
check "compare" cmp <(COLUMNS=40 "$HARNESS" compare --baseline old --head new) <("$HARNESS" compare --baseline old --head new)
