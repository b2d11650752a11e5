/* SPDX-License-Identifier: MIT */
/*
 * The head of a GPT for Hopper, bf16 in and out: which tiling of gemm_cuda_wgmma_head.h takes which
 * depth, with what it takes of an SM.
 *
 *     k to      64     128     192     256
 *     x         16      32      48      64 KiB, 128 rows
 *     w       3 x 26  3 x 26  4 x 26  4 x 26 KiB, a ring of stages
 *     y       2 x 58  2 x 58    58      58 KiB, on its way out
 *
 * Limit: the writing of y, which stands still while the tensor cores work.
 */
#include "kernels/gemm/gemm_cuda_launch.h"
#include "kernels/gemm/gemm_cuda_wgmma_head.h"

static constexpr size_t most_shared = sizeof(struct head_shared<head_tile_4>);

static_assert(most_shared >= sizeof(struct head_shared<head_tile_2>), "it is the most");
static_assert(most_shared <= 227 * 1024, "what a block may have");

static bool matrix_fits(const void *data, int64_t ld)
{
    return (uintptr_t)data % 16 == 0 && ld % 8 == 0;
}

bool gemm_head_cuda_wgmma_fits(const struct gemm_cuda *g)
{
    return g->shared >= most_shared && g->k <= HEAD_MOST_DEPTH && g->k % 8 == 0 &&
           g->bias == nullptr && g->residual == nullptr && g->activation == GEMM_IDENTITY &&
           g->out == DTYPE_BF16 && matrix_fits(g->x, g->ldx) && matrix_fits(g->w, g->ldw);
}

void gemm_head_cuda_wgmma_bf16(const struct gemm_cuda *g, cudaStream_t stream)
{
    const struct head_operands o = { static_cast<const bf16 *>(g->x),
                                     static_cast<const bf16 *>(g->w),
                                     static_cast<bf16 *>(g->y),
                                     g->m,
                                     g->n,
                                     g->k,
                                     g->ldx,
                                     g->ldw,
                                     g->ldy,
                                     g->sms };

    head_enqueue(o, stream);
}

static bool supports(const struct kernel *k, const struct shape *s, const struct device *d,
                     struct error *why)
{
    const cudaDeviceProp *p = device_cuda_properties(d);
    int64_t depth = kernel_dim(k, s, "k", 1);

    if (p->major != 9 || p->minor != 0)
        return error_set(why, "needs compute capability 9.0 (wgmma), this is %d.%d", p->major,
                         p->minor) == 0;
    if (depth > HEAD_MOST_DEPTH)
        return error_set(why, "k = %lld: a block keeps all of k of its rows, 256 at most",
                         (long long)depth) == 0;
    if (depth % 8 != 0)
        return error_set(why,
                         "rows of k = %lld are no multiple of 16 bytes, as tensor maps must be",
                         (long long)depth) == 0;
    return gemm_cuda_supports(k, s, d, most_shared, why);
}

static void launch(const struct call *call)
{
    struct gemm_cuda g = gemm_cuda_of(call);

    gemm_head_cuda_wgmma_bf16(&g, device_cuda_stream(call->device));
}

extern "C" const struct variant gemm_cuda_wgmma_head_bf16[];
const struct variant gemm_cuda_wgmma_head_bf16[] = {
    GEMM_CUDA_VARIANT(gemm_nt_kernel, "cuda_wgmma_head_bf16",
                      "for a GPT's head: k to 256 stays, rows of any parity out by whole sectors; "
                      "limit: writing y",
                      DTYPE_BF16, MATH_BF16, 0, supports, nullptr, launch, nullptr),
    {},
};
