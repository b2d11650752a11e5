# shellcheck shell=bash
# No operation of this tree is refused by the judge: every variant for the CPU of each kernel, in every
# arithmetic, and in turn other people's programs where they are.
# shellcheck source=tests/cli/judge_each.sh
. "$CLI/judge_each.sh"

say "Kernels of this tree"
mapfile -t kernels < <(cut -d' ' -f1 variants | sort -u)
for kernel in "${kernels[@]}"; do
  dims=$(operation_dims)
  [ -z "$dims" ] || judge_all "$(of_kernel own; of_kernel vendor)" "$dims"
done

# Each starts an interpreter or more.
say "Peers of another kernel each day"
mapfile -t kernels < <(awk '$3 == "peer" && $1 !~ /^gpt/ { print $1 }' variants | sort -u)
kernel=$(another_each_day "${kernels[@]}")
of_kernel peer >peers
if [[ $kernel == gemm/* ]] && grep -qx torch_bf16 peers; then
  echo "skipped: $kernel/torch_bf16: small products PyTorch 1.13 adds up in bf16, which is refused by chance"
  sed -i /^torch_bf16$/d peers
fi
if [ -s peers ]; then
  judge "$(paste -sd, peers)" "$(operation_dims)"
  tell_refused <peers
fi
