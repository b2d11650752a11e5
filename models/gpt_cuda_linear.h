/* SPDX-License-Identifier: MIT */
/*
 * Which product of kernels/gemm a forward takes on its device: for .cu files only.
 *
 * On compute capability 9.0 (`hopper`), in a build that has them: wgmma for large products, and for
 * a head of up to 256 columns the kernel that is made for it. Else, and for small products, whose
 * blocks gain more from starting under the kernel in front of them: mma.sync.
 */
#ifndef HARNESS_MODELS_GPT_CUDA_LINEAR_H
#define HARNESS_MODELS_GPT_CUDA_LINEAR_H

#include "kernels/gemm/gemm_cuda.h"

typedef void gpt_cuda_linear_fn(const struct gemm_cuda *g, bool hopper, cudaStream_t stream);

gpt_cuda_linear_fn gpt_cuda_linear_fp32, gpt_cuda_linear_tf32, gpt_cuda_linear_bf16;
gpt_cuda_linear_fn gpt_cuda_head_bf16;

/* Whether a device may be given to them as `hopper`. */
bool gpt_cuda_hopper(const struct device *d);

#endif
