/* SPDX-License-Identifier: MIT */
#include "kernels/gemm/gemm.h"
#include "kernels/torch/torch.h"

const struct variant gemm_torch[] = {
    TORCH_VARIANT(gemm_linear_kernel, "torch", "addmm, as F.linear does it", torch_supports,
                  torch_prepare),
    { .name = NULL },
};
