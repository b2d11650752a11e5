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

say "Kernels of this tree"
mapfile -t kernels < <(cut -d' ' -f1 variants | sort -u)
for kernel in "${kernels[@]}"; do
  dims=$(operation_dims)
  [ -z "$dims" ] || judge_all "$(of_kernel own)" "$dims"
done
