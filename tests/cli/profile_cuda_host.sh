# shellcheck shell=bash
# harness profile on a GPU, as far as the host layer can show it: scopes have their time on the stream,
# too, and operations are kept with that; and its clocks, with a stand-in for the driver's library.
# S0-28, S1-50, S4-07, S4-28.
"$HARNESS" list devices 2>/dev/null | grep -q "CUDA host layer" || skip "no build with HARNESS_CUDA=HOST"

HARNESS_NVML=/nowhere.so "$HARNESS" profile gpt/nano/decode --variant cuda_fp32 --device cuda --batch 1 --seq 4 --launches 1 \
  --iterations 2 -o out --top 30 >text 2>err || { echo "status $?"; cat err; }
grep '^By' text
sed -nE '/^By self time, on GPUs/,/^$/s/^([a-z_0-9 ]+[a-z_0-9]) +([0-9]+) +[0-9.]+ [mun]?s .*/\1: \2/p' text | sort
ls out
cut -d' ' -f1 out/stacks-gpu.folded | grep -c layer_1
"$HARNESS" history show latest >show.json
for i in $(seq 0 $(($(json_length show.json runs 0 measurements) - 1))); do
  echo "$(json show.json runs 0 measurements "$i" key | cut -d/ -f3): $(json show.json runs 0 \
    measurements "$i" clock)"
done | sed -E 's/(tsc|cntvct|monotonic)/of scopes/' | sort

say "The GPU's clocks, power and temperature meanwhile, on its process"
stub=$(dirname "$HARNESS")/tests/nvml/lib/libnvidia-ml.so.1
tracks() { grep -oE '"ph":"C","pid":0,.*' "$1" | sed -E 's/.*"name":("[^"]*"),"args":\{("[^"]*").*/\1 in \2/' | sort -u; }
if [ -e "$stub" ]; then
  HARNESS_NVML=$stub "$HARNESS" profile pointwise/gelu/cuda --device cuda --batch 1 --seq 2 \
    --dim width=48 --launches 1 --iterations 2 --no-store -o clocks >text 2>err || { echo "status $?"; cat err; }
  tracks clocks/trace.json
  check "of the moment, not the mean of a second" grep -q '"name":"power","args":{"W":250}' clocks/trace.json
else
  echo "not a build tree with tests"
fi
check "no tracks where nothing tells" test -z "$(tracks out/trace.json)"
