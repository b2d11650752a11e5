/* SPDX-License-Identifier: MIT */
#include "kernels/layernorm/layernorm.h"
#include "kernels/torch/torch.h"

/* It computes x scale - mean scale, which of a single column leaves the rounding of both, times
 * 1 / sqrt(eps) = 316. */
static bool supports(const struct kernel *k, const struct shape *s, const struct device *d,
                     struct error *why)
{
    if (kernel_dim(k, s, "width", 0) == 1)
        return error_set(why, "PyTorch's layer_norm is not accurate for a width of 1") == 0;
    return torch_supports(k, s, d, why);
}

const struct variant layernorm_torch[] = {
    TORCH_VARIANT(layernorm_plain_kernel, "torch", "layer_norm, result copied", supports,
                  torch_prepare),
    { .name = NULL },
};
