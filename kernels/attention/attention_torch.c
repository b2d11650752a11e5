/* SPDX-License-Identifier: MIT */
#include "kernels/attention/attention.h"
#include "kernels/torch/torch.h"

#define TORCH_ATTENTION                                                                            \
    "scaled_dot_product_attention, before 2.0 two products and a softmax; result copied"

const struct variant attention_torch[] = {
    TORCH_VARIANT(attention_causal_kernel, "torch", TORCH_ATTENTION, torch_supports, torch_prepare),
    TORCH_VARIANT(attention_full_kernel, "torch", TORCH_ATTENTION, torch_supports, torch_prepare),
    { .name = NULL },
};
