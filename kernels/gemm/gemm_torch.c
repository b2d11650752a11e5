/* SPDX-License-Identifier: MIT */
#include "kernels/gemm/gemm.h"
#include "kernels/torch/torch.h"

const struct variant gemm_torch[] = {
    TORCH_VARIANT(gemm_linear_kernel, "torch", "addmm, as F.linear does it", torch_supports,
                  torch_prepare),
    TORCH_VARIANT_IN(BF16, gemm_linear_kernel, "torch_bf16", "addmm of bfloat16", torch_supports,
                     torch_prepare),
    TORCH_VARIANT_IN(BF16, gemm_nt_kernel, "torch_bf16", "mm of bfloat16", torch_supports,
                     torch_prepare),
    TORCH_VARIANT_IN(BF16, gemm_nn_kernel, "torch_bf16", "mm of bfloat16", torch_supports,
                     torch_prepare),
    { .name = NULL },
};
