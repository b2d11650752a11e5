# shellcheck shell=bash
# harness profile on a GPU, as far as the host layer can show it: scopes have their time on the stream,
# too, and operations are kept with that. S0-28, S4-07, S4-28.
"$HARNESS" list devices 2>/dev/null | grep -q "CUDA host layer" || skip "no build with HARNESS_CUDA=HOST"

"$HARNESS" profile gpt/nano/decode --variant cuda_fp32 --device cuda --batch 1 --seq 4 --launches 1 \
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
