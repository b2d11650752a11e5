# shellcheck shell=bash
# Measurements that the machine disturbed are made again, by facts other than their own time: on the
# device with a scripted clock, whose machine is slower beside benchmarks of batch 2. U-06, U-12.

command -v python3 >/dev/null || skip "there is no python3"

# told FILE: what the measurements of a run's JSON say of it, sums over all.
told() {
  python3 - "$1" <<'PY'
import json, sys
ms = json.load(open(sys.argv[1]))["runs"][0]["measurements"]
total = lambda name: sum(m["telemetry"].get(name, 0) for m in ms)
print(len(ms), "measurements,", len({(m["key"], m["launch"]) for m in ms}), "different,",
      "%d made again, %d by the probe," % (total("repeats"), total("repeats_machine")),
      sum("disturbed_percent" in m["telemetry"] for m in ms), "still disturbed")
PY
}

say "As often again as it was measured, and no more"
t run null/copy/right --batch 1,2,3 --iterations 5 --launches 4 \
  --device fake:base=2000,disturb=1,beside=2 | grep '^disturbed\|^\[\|^\$'
"$HARNESS" run null/copy/right --batch 1,2,3 --iterations 5 --launches 4 \
  --device fake:base=2000,disturb=1,beside=2 --json >run.json 2>/dev/null
told run.json
t history list

say "One in four, at twice its time: it is gone"
# The first launch is judged by itself alone: where nearly all of it is slow, slow is usual. Not in this draw.
"$HARNESS" run null/copy/right --batch 1,2,3,4,5,6 --iterations 5 --launches 10 --seed 1 \
  --device fake:base=2000,disturb=0.25,by=2,draw=1 --json >run.json 2>/dev/null
told run.json >text
check "some were made again" grep -vq ' 0 made again' text
check "60 measurements, each once" grep -q '^60 measurements, 60 different' text
check "hardly any is left at twice the time" python3 -c '
import json
ms = json.load(open("run.json"))["runs"][0]["measurements"]
raise SystemExit(sum(m["samples_ns"][0] > 3000 * m["batch"] for m in ms) > 3)'

say "Nothing is made again where it is not wanted"
"$HARNESS" run null/copy/right --batch 1,2,3 --iterations 5 --launches 4 --no-repeat \
  --device fake:base=2000,disturb=1,beside=2 --json >run.json 2>/dev/null
told run.json

say "By one rule for both sides, and the comparison tells"
cat >base <<END
#!/bin/sh
exec "$HARNESS" "\$@"
END
chmod +x base
t compare null/copy/right --batch 1,2,3 --baseline-bin ./base --blocks 3 --label turns \
  --device fake:base=2000,disturb=1,beside=2 | grep '^Disturbed'

say "Bad input"
t compare --baseline main --no-repeat
