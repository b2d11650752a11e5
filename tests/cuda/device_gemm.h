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

/*
 * Tiles on trial, with what the model of gemm_cuda_wgmma_choice.h expects of them. To take one:
 * its row into wgmma_shapes, its name into wgmma_tiles, its times into test_cuda_choice.cc.
 *
 *     turns     the way out under the other warpgroup's products
 *     roomy     wide whose way out never waits for a buffer, for fewer stages
 *     shared    for few tiles and much depth: twice the blocks of 64 x 192
 */
using trial_turns = wgmma_tile<128, 128, 6, 16 * 1024, 1, true>;
using trial_roomy = wgmma_tile<128, 192, 4, 24 * 1024>;
using trial_shared = wgmma_tile<64, 192, 5, 9 * 1024, 2>;
using trial_tiles = wgmma_list<trial_turns, trial_roomy, trial_shared>;

static constexpr struct wgmma_shape trial_shapes[] = {
    { "turns", 128, 128, 1, true, 0.319, 2.07 },
    { "roomy", 128, 192, 1, false, 0.474, 2.4 },
    { "shared", 64, 192, 2, false, 0.27, 2.9 },
};
static_assert(trial_tiles::described_by(trial_shapes), "in the same order");

template <class LIST>
static void add_candidates(std::vector<struct candidate> *to, const struct wgmma_shape *shapes)
{
    for (int i = 0; i < LIST::nr; i++)
        to->push_back(
            { &shapes[i], LIST::template enqueue<bf16>[i], LIST::template enqueue<float>[i] });
}

/* Those of wgmma_shapes, then those on trial. */
static const std::vector<struct candidate> &all_candidates(void)
{
    static const std::vector<struct candidate> all = [] {
        std::vector<struct candidate> made;
        add_candidates<wgmma_tiles>(&made, wgmma_shapes);
        add_candidates<trial_tiles>(&made, trial_shapes);
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
