/* SPDX-License-Identifier: MIT */
/* What device_gemm.cu takes the products of: the tiles, random data, the same by a plain kernel,
 * and the comparison. */
#ifndef HARNESS_TESTS_CUDA_DEVICE_GEMM_H
#define HARNESS_TESTS_CUDA_DEVICE_GEMM_H

#include "kernels/gemm/gemm_cuda_wgmma_plan.h"

#include "device_probes.h"
#include "device_products.h"

struct candidate {
    const struct wgmma_shape *shape;
    wgmma_enqueue_fn *bf, *tf;
};

/* Those of wgmma_shapes. A tile on trial: a row there, a name in wgmma_tiles. */
static const std::vector<struct candidate> &all_candidates(void)
{
    static const std::vector<struct candidate> all = [] {
        std::vector<struct candidate> made;
        for (int i = 0; i < WGMMA_TILES; i++)
            made.push_back({ &wgmma_shapes[i], wgmma_tiles::enqueue<bf16>[i],
                             wgmma_tiles::enqueue<float>[i] });
        return made;
    }();

    return all;
}

static int depth_of(bool bf)
{
    return bf ? 64 : 32;
}

static bool can(const struct candidate &t, const struct size_case &c, bool bf)
{
    return t.shape->slices <= cuda_pieces(c.k, depth_of(bf));
}

/* ---- The same by a plain kernel ---- */

template <class T> static __device__ double operand(T x)
{
    return cuda_float(x);
}

static __device__ double operand(float x)
{
    return cuda_bits_float(cuda_tf32(x));
}

/* The same in float64, by a thread an output; out[m, n] dense, `before` the residual. */
template <class T, class OUT>
__global__ void plain(const struct gemm_cuda g, const OUT *before, float *out)
{
    int64_t col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    double sum = 0;

    if (row >= g.m || col >= g.n)
        return;
    for (int64_t p = 0; p < g.k; p++)
        sum += operand(static_cast<const T *>(g.x)[row * g.ldx + p]) *
               operand(static_cast<const T *>(g.w)[col * g.ldw + p]);
    if (g.bias != nullptr)
        sum += cuda_float(static_cast<const T *>(g.bias)[col]);
    if (g.activation == GEMM_GELU)
        sum = 0.5 * sum * (1 + tanh(0.7978845608028654 * (sum + 0.044715 * sum * sum * sum)));
    if (before != nullptr)
        sum += cuda_float(before[row * g.ldr + col]);
    out[row * g.n + col] = (float)sum;
}

#endif
