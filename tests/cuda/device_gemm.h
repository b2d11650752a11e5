/* SPDX-License-Identifier: MIT */
/* What device_gemm.cu takes the products of: the tiles, and the same by a plain kernel. */
#ifndef HARNESS_TESTS_CUDA_DEVICE_GEMM_H
#define HARNESS_TESTS_CUDA_DEVICE_GEMM_H

#include "kernels/gemm/gemm_cuda_wgmma_plan.h"

#include "device_probes.h"
#include "device_products.h"

typedef void enqueue_fn(const struct gemm_cuda *g, const struct wgmma_plan *p, cudaStream_t stream);

struct candidate {
    const char *name;
    enqueue_fn *bf, *tf;
};

template <class TILE> static struct candidate candidate_of(const char *name)
{
    return { name, wgmma_enqueue_tile<bf16, TILE>, wgmma_enqueue_tile<float, TILE> };
}

/* As in wgmma_shapes. */
static const struct candidate candidates[WGMMA_TILES] = {
    candidate_of<wgmma_huge>("huge"),           candidate_of<wgmma_wide>("wide"),
    candidate_of<wgmma_large>("large"),         candidate_of<wgmma_medium>("medium"),
    candidate_of<wgmma_small>("small"),         candidate_of<wgmma_halved>("halved"),
    candidate_of<wgmma_quartered>("quartered"),
};

static const struct wgmma_shape *shape_of(const struct candidate *t)
{
    return &wgmma_shapes[t - candidates];
}

static bool can(const struct candidate *t, const struct size_case &c, bool bf)
{
    return shape_of(t)->slices <= cuda_pieces(c.k, bf ? 64 : 32);
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
