# shellcheck shell=bash
# harness.json: what goes over what, own figures, saved figures, mistakes with their lines, names
# that mean harm. S1-29, S1-38, S1-39, S1-44, S1-52, S2-08.

command -v gnuplot >/dev/null || skip "gnuplot is not installed"
fake seed=3,sd=0.02,launch=0.01 --launches 5 --label before
drawn() { "$HARNESS" plot -o out "$@" | sed -n 's/^  \([^ ]*\)  .*/\1/p' | paste -sd' '; }
value() { "$HARNESS" plot --print-config "$@" >config.json && json config.json "${keys[@]}"; }

say "Which figures: built in, then the user's file, the project's, --config, options"
mkdir -p "$HOME/.config/harness" plots
cat >"$HOME/.config/harness/harness.json" <<'END'
{ "_why": "what I look at everywhere",
  "defaults": { "single": ["latency-kernels"] }, "formats": ["svg"], "delta": "50%" }
END
drawn --only trend
check "of one run what the user chose" \
  test "$(drawn | tr ' ' '\n' | grep -cE '^(latency|throughput)-')" -eq 1
cat >harness.json <<'END'
{ "defaults": { "single": ["mine", "own"], "trend": [], "multi": [], "compare": [] },
  "delta": 0.25,
  "peaks": { "fake": { "flops.fp32": 1e12 } },
  "presets": [ "plots/mine.json",
    { "name": "own", "title": "Own", "type": "bars", "y": "p99 / p50", "y_label": "p99 / median" }
  ] }
END
cat >plots/mine.json <<'END'
{ "name": "mine", "title": "Mine", "type": "scatter", "x": "batch", "y": "p50" }
END
drawn
check "pictures as the user wants them" test -e out/kernels/mine.svg -a ! -e out/kernels/mine.png
drawn --format png --only own,latency-kernels
check "options go over files" test -e out/own.png -a ! -e out/own.svg
check "own figures are in the list" \
  test "$("$HARNESS" list figures | grep -cE '^  (mine|own) ')" -eq 2
echo '{ "defaults": { "single": ["own"] }, "delta": 0.125 }' >over.json
drawn --config over.json

say "Peaks of a device that nobody measured on"
echo '{ "peaks": { "cpu": { "flops.fp32": 1e12 } } }' >over.json
mkdir -p away && mv harness.json away/
drawn --config over.json --only latency-kernels 2>&1
mv away/harness.json .
echo '{ "defaults": { "single": ["own"] }, "delta": 0.125 }' >over.json

say "The merged configuration, and where its values are from"
keys=(delta) && value
keys=(_from delta) && value | sed "s#$WORK#WORK#"
keys=(delta) && value --config over.json
keys=(delta) && value --config over.json --delta 75%
keys=(_from delta) && value --delta 75%
keys=(_from formats) && value | sed 's#.*/\.config#HOME/.config#'
keys=(peaks fake flops.fp32) && value
"$HARNESS" plot --print-config >first.json
"$HARNESS" plot --print-config --config first.json -o second.json
check "it reads back as the same figures" \
  test "$(json_length first.json presets)" -eq "$("$HARNESS" list figures | grep -c '^  ')"
check "and the same values" test "$(json first.json delta)" = "$(json second.json delta)"

say "One saved figure is drawn alone, the same each time"
cat >view.json <<'END'
{ "_why": "saved from a report", "_command": "harness plot 1 --config view.json",
  "name": "view", "title": "View", "type": "scatter", "x": "gflops", "y": "p50",
  "x_scale": "log", "y_scale": "log", "filter": ["null"] }
END
drawn --config view.json --format png
cp out/view.png first.png
drawn --config view.json --format png
check "byte for byte" cmp first.png out/view.png

say "Mistakes"
mistake() {
  printf '%b' "$1" >harness.json
  t plot -o out
}
mistake '{\n  "default": { } }'
mistake '{ "defaults": {\n    "single": [ "latency-kernels",\n "rooflin" ] } }'
mistake '{ "presets": [\n  { "name": "a", "title": "A", "type": "bars",\n    "colr": "p50" } ] }'
mistake '{ "presets": [ "plots/none.json" ] }'
mistake '{ "presets": [ '
mistake '{ "peaks": { "cpu-2t": { "flops.fp32": "fast" } } }'
mistake '{ "delta": -1 }'
rm harness.json
printf '{ "name": "a", "title": "A", "type": "bars",\n  "y": "p59" }' >plots/bad.json
t plot --preset plots/bad.json
t plot --config none.json
t plot --html --only trend
t plot --html --host 127.0.0.1
t plot --host 127.0.0.1 before -o out

say "Names that mean harm"
cat >evil.json <<'END'
{ "name": "evil", "title": "`touch ran1` $(touch ran2) ' \" </script> | @all\n\u202e",
  "description": "'; system('touch ran3') #", "how": "<b>\n`touch ran4`",
  "type": "scatter", "x": "batch", "y": "p50", "x_label": "`touch ran5`'\n", "y_label": "\\\\\"%s%n" }
END
drawn --config evil.json
check "is drawn" grep -q '<svg' out/evil.svg
check "and nothing ran" not ls ran1 ran2 ran3 ran4 ran5
for name in '../up' 'a/b' '' '.hidden' 'con figure' '-'; do
  printf '{ "name": "%s", "title": "A", "type": "trend" }' "$name" >evil.json
  t plot --config evil.json -o out
done
