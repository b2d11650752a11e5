# shellcheck shell=bash
# No CUDA kernel of this tree is refused by the judge, in any arithmetic, on the host layer: all that
# run there. What is for sm_90a alone does not, and a model's pass takes minutes there.
"$HARNESS" list devices | grep -q 'CUDA host layer' || {
  echo "not a build with HARNESS_CUDA=HOST"
  exit 77
}
judged=cuda
# shellcheck source=tests/cli/judge_each.sh
. "$CLI/judge_each.sh"

# A minute each.
say "A third of the kernels each day"
mapfile -t kernels < <(cut -d' ' -f1 variants | sort -u)
today=$(another_each_day 0 1 2)
for i in "${!kernels[@]}"; do
  kernel=${kernels[i]}
  dims=$(operation_dims)
  if [ $((i % 3)) != "$today" ] || [ -z "$dims" ]; then continue; fi
  own=$(of_kernel own)
  judge "$(paste -sd, <<<"$own")" "$dims"
  tell_refused <<<"$own"
done
