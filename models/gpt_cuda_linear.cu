/* SPDX-License-Identifier: MIT */
/* The choice of products, see gpt_cuda_linear.h. HARNESS_HAVE_WGMMA comes from CMakeLists.txt: the
 * host layer has no such kernels. */
#include "models/gpt_cuda_linear.h"

#ifdef HARNESS_HAVE_WGMMA
static bool wgmma_pays(const struct gemm_cuda *g, bool hopper, enum dtype in)
{
    const double least = 1 << 28; /* multiplications, some 3 us of mma.sync */

    return hopper && (double)g->m * (double)g->n * (double)g->k >= least &&
           gemm_cuda_wgmma_fits(g, in);
}
#endif

bool gpt_cuda_hopper(const struct device *d)
{
    const cudaDeviceProp *p = device_cuda_properties(d);

    return p->major == 9 && p->minor == 0;
}

void gpt_cuda_linear_fp32(const struct gemm_cuda *g, bool hopper, cudaStream_t stream)
{
    (void)hopper;
    gemm_linear_cuda_simt(g, stream);
}

void gpt_cuda_linear_tf32(const struct gemm_cuda *g, bool hopper, cudaStream_t stream)
{
    (void)hopper;
#ifdef HARNESS_HAVE_WGMMA
    if (wgmma_pays(g, hopper, DTYPE_FP32)) {
        gemm_linear_cuda_wgmma_tf32(g, stream);
        return;
    }
#endif
    gemm_linear_cuda_tf32(g, stream);
}

void gpt_cuda_linear_bf16(const struct gemm_cuda *g, bool hopper, cudaStream_t stream)
{
    (void)hopper;
#ifdef HARNESS_HAVE_WGMMA
    if (wgmma_pays(g, hopper, DTYPE_BF16)) {
        gemm_linear_cuda_wgmma_bf16(g, stream);
        return;
    }
#endif
    gemm_linear_cuda_bf16(g, stream);
}

void gpt_cuda_head_bf16(const struct gemm_cuda *g, bool hopper, cudaStream_t stream)
{
#ifdef HARNESS_HAVE_WGMMA
    if (hopper && gemm_head_cuda_wgmma_fits(g)) {
        gemm_head_cuda_wgmma_bf16(g, stream);
        return;
    }
#endif
    gpt_cuda_linear_bf16(g, hopper, stream);
}
