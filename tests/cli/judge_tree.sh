# shellcheck shell=bash
# No operation of this tree is refused by the judge: every variant for the CPU of each kernel, in every
# arithmetic, and in turn other people's programs where they are.
# shellcheck source=tests/cli/judge_each.sh
. "$CLI/judge_each.sh"
# Sizes of a few ms; nothing for what is no operation.
dims_of() {
  case $1 in
    gemm/*) echo batch=1,seq=9,n=33,k=40 ;;
    attention/*) echo batch=1,seq=19,heads=2,headdim=16 ;;
    layernorm/* | pointwise/*) echo batch=2,seq=9,width=48 ;;
    embedding/*) echo batch=2,seq=9,width=48,vocab=100 ;;
    gpt/* | scope/*) ;; # judge_model.sh; the cost of scopes
    *) echo sizes=missing ;; # which is an error that shows
  esac
}

say "Kernels of this tree"
mapfile -t kernels < <(cut -d' ' -f1 variants | sort -u)
for kernel in "${kernels[@]}"; do
  dims=$(dims_of "$kernel")
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
  judge "$(paste -sd, peers)" "$(dims_of "$kernel")"
  tell_refused <peers
fi
